import type { World } from '@landpass/client/grid'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../../../../clock.ts'
import type { BaseOf } from '../../../../http/public-base.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema } from '../../../../http/schemas.ts'
import { invalidParameter } from '../../../../http/validation.ts'
import { approvalSchema } from '../../../events/approval-json.ts'
import { parseCoordinates } from '../../../events/coordinates.ts'
import { warningsField, warningsIn } from '../../../events/early-opening.ts'
import { eventInfoJson, eventInfoSchema } from '../../../events/event-json.ts'
import { assertStartsBefore, assertTokens } from '../../../events/event-options.ts'
import type { LimitHook } from '../../../limits.ts'
import { parseRequestTime } from '../../../request-time.ts'
import { beginOfFirstDayMs, endOfLastDayMs, parseIssuerDate } from '../../poap/issuer-dates.ts'
import { isAnimation } from '../pictures/picture-header.ts'
import {
  MAX_PICTURE_BYTES,
  MAX_PIXELS,
  MAX_SCANS,
  MAX_SIDE_PX,
  MIN_SIDE_PX,
  PictureError,
} from '../pictures/picture-reader.ts'
import type { AnsweredEvents } from './answered-events.ts'
import type { EventDescription, EventMaker } from './event-maker.ts'
import { assertDescription, isPlainLine, MAX_DESCRIPTION, MAX_NAME, readName } from './event-texts.ts'

/** Base64 in lines of 64 characters is a thirtieth longer. */
const MAX_IMAGE_TEXT = Math.ceil((MAX_PICTURE_BYTES / 3) * 4 * 1.04) + 'data:image/jpeg;base64,'.length
/** Room for the other fields. */
export const BODY_LIMIT_BYTES = MAX_IMAGE_TEXT + 64 * 1024
export const BODY_LIMIT_MEANS = { bodyLimitMeans: `A picture has at most ${MAX_PICTURE_BYTES / 1024} KiB` }
const DATA_ADDRESS = /^data:image\/(?:png|jpe?g|webp|gif);base64,/i
const PICTURE_ALLOWED = `a PNG, JPEG, WebP or GIF of at most ${MAX_PICTURE_BYTES} bytes as base64, each side from ${MIN_SIDE_PX} to ${MAX_SIDE_PX} pixels, ${MAX_PIXELS} pixels in all (half as many with 16 bits a colour, or as WebP), a JPEG in RGB colours of at most ${MAX_SCANS} scans`
/** Explorers keep times in 32 bits. */
const LAST_YEAR = 2037
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** What can be said of an event, when it is made or later. */
export const eventFields = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'It is signed with every token.' }),
  description: Type.Optional(Type.String({ maxLength: MAX_DESCRIPTION })),
  coordinates: Type.String({ description: '`x,y;x,y`; the first one is signed with every token.' }),
  start_date: Type.String({ description: 'First day, YYYY-MM-DD.' }),
  end_date: Type.Optional(
    Type.String({ description: 'Last day; the first one where it is left out. Tokens end then.' }),
  ),
  distribution_start_date: Type.Optional(
    Type.String({
      description: 'Tokens from then on: RFC 3339. Left out: the whole first day.',
    }),
  ),
  distribution_end_date: Type.Optional(Type.String()),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'IANA name of the zone of its times, such as Europe/Paris.',
    }),
  ),
  tokens: Type.Integer({ minimum: 1, description: 'How many there can be. It can be raised.' }),
  event_url: Type.Optional(Type.String({ maxLength: 300, description: 'An https address.' })),
  image: Type.Optional(
    Type.String({
      title: 'EventImage',
      maxLength: MAX_IMAGE_TEXT,
      'x-allowed': PICTURE_ALLOWED,
      'x-withheld': true,
      description:
        'A PNG, JPEG, WebP or GIF as base64, or as a data address. Its middle square is shown; of an animation the first frame. Empty: drawn from the map.',
    }),
  ),
  hide_holders: Type.Optional(
    Type.Boolean({
      description: 'Whether the list of holders is not public. Single answers to a gate are.',
    }),
  ),
}

const bodySchema = Type.Object(
  {
    ...eventFields,
    requires_captcha: Type.Optional(Type.Boolean()),
    requires_presence: Type.Optional(Type.Boolean()),
  },
  { title: 'EventToMake', additionalProperties: false },
)

export interface MadeEventRouteOptions {
  readonly clock: Clock
  readonly world: World
  readonly maker: EventMaker
  readonly baseOf: BaseOf
  readonly answered: Pick<AnsweredEvents, 'sent'>
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
  /** For requests, right or wrong. */
  readonly makerRequestLimit: LimitHook
  /** For events whose texts are right. */
  readonly makerLimit: LimitHook
  readonly makerDayLimit: LimitHook
  readonly waitingDayLimit: LimitHook
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

/** Makes events of our own issuer. */
export const madeEventRoutes: Routes<MadeEventRouteOptions> = (app, options) => {
  const {
    clock,
    world,
    maker,
    baseOf,
    answered,
    isOperator,
    makerRequestLimit,
    makerLimit,
    makerDayLimit,
    waitingDayLimit,
    assertConfigured,
  } = options
  app.post(
    '/events',
    {
      onRequest: makerRequestLimit,
      bodyLimit: BODY_LIMIT_BYTES,
      config: BODY_LIMIT_MEANS,
      schema: {
        tags: ['events'],
        operationId: 'makeEvent',
        summary: 'Make an event whose tokens this server signs',
        body: bodySchema,
        responses: okSchema(
          Type.Object(
            {
              event: eventInfoSchema,
              edit_code: Type.String({ description: 'The editCode of all other calls. Shown this once.' }),
              approval: approvalSchema,
              ...warningsField,
            },
            { title: 'MadeEvent' },
          ),
          [
            'invalid_parameter',
            'invalid_body',
            'body_too_large',
            'invalid_coordinates',
            'event_making_disabled',
            'operator_only',
            'too_many_requests',
            'too_many_pictures',
            'attendance_not_configured',
            'database_unavailable',
          ],
        ),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const texts = describedIn(request.body, { world, nowMs: clock.nowMs() })
      await makerLimit(request, reply) // a mistake in the texts does not count as an event; a picture is work and does
      const description = { ...texts, picture: pictureIn(request.body.image) }
      const fromOperator = isOperator(request)
      const made = maker.make(description, {
        isOperator: fromOperator,
        assertMayMake: async (approval) => {
          if (fromOperator) return
          if (approval === 'waiting') await waitingDayLimit(request, reply)
          await makerDayLimit(request, reply)
        },
      })
      const { event, editCode, approval } = await made.catch(refusePicture)
      reply.header('cache-control', 'no-store')
      reply.raw.once('finish', () => answered.sent(event.event_id))
      const info = eventInfoJson(event, baseOf(request))
      const { warnings = [] } = warningsIn(event)
      if (description.picture) warnings.push(...pictureWarnings(description.picture))
      const said = warnings.length > 0 && { warnings }
      const data = { event: info, edit_code: editCode, approval, ...said }
      return { ok: true as const, data }
    },
  )
}

/** @throws {AppError} `invalid_parameter`, `invalid_coordinates` */
function describedIn(
  body: Static<typeof bodySchema>,
  { world, nowMs }: { readonly world: World; readonly nowMs: number },
): Omit<EventDescription, 'picture'> {
  const name = readName(body.name)
  const { description = '', event_url: eventUrl = '', start_date: startDate, tokens } = body
  assertDescription(description)
  assertEventUrl(eventUrl)
  if (body.time_zone !== undefined) assertTimeZone(body.time_zone)
  assertTokens(tokens)
  const endDate = body.end_date ?? startDate
  assertDays(startDate, endDate, nowMs)
  return {
    name,
    description,
    eventUrl,
    places: parseCoordinates(body.coordinates, world),
    startDate,
    endDate,
    ...timesIn(body, nowMs),
    timeZone: body.time_zone || undefined,
    tokens,
    requiresCaptcha: body.requires_captcha ?? false,
    requiresPresence: body.requires_presence ?? true,
    hidesHolders: body.hide_holders ?? false,
  }
}

/** What becomes of the picture in a file, if that may surprise. */
export function pictureWarnings(file: Buffer): readonly string[] {
  return isAnimation(file) ? ['The picture is an animation: its first frame is shown.'] : []
}

/** @throws {AppError} `invalid_parameter` */
export function pictureIn(text: string | undefined): Buffer | undefined {
  if (text === undefined || text === '') return undefined
  const digits = text
    .replace(DATA_ADDRESS, '')
    .replaceAll(/\s+/g, '')
    .replace(/={1,2}$/, '')
  const bytes = Buffer.from(digits, 'base64')
  // The decoder passes over what is no base64: a pattern for a megabyte of it takes ten times as long
  if (bytes.length === 0 || bytes.length !== Math.floor((digits.length * 3) / 4))
    throw invalidParameter('image', shortened(text), PICTURE_ALLOWED)
  return bytes
}

export function refusePicture(error: unknown): never {
  throw error instanceof PictureError ? invalidParameter('image', error.message, PICTURE_ALLOWED) : error
}

function shortened(text: string): string {
  return text.slice(0, 20)
}

/**
 * From when and until when tokens can be claimed.
 *
 * @throws {AppError} `invalid_parameter` for times in which none could be claimed
 */
function timesIn(body: Static<typeof bodySchema>, nowMs: number) {
  const timeIn = (name: 'distribution_start_date' | 'distribution_end_date') =>
    body[name] === undefined ? undefined : parseRequestTime(name, body[name])
  const startAtMs = timeIn('distribution_start_date') ?? beginOfFirstDayMs(body.start_date)!
  const endAtMs = timeIn('distribution_end_date')
  const lastMs = endOfLastDayMs(body.end_date ?? body.start_date)!
  assertStartsBefore(lastMs, startAtMs, body.distribution_start_date)
  if (endAtMs !== undefined && endAtMs <= Math.max(startAtMs, nowMs))
    throw invalidParameter(
      'distribution_end_date',
      body.distribution_end_date,
      `after ${new Date(startAtMs).toISOString()}, when tokens can be claimed, and not over`,
    )
  return { startAtMs, endAtMs }
}

/** @throws {AppError} `invalid_parameter` for days that are over, or do not exist */
export function assertDays(startDate: string, endDate: string, nowMs: number): void {
  for (const [name, day] of [
    ['start_date', startDate],
    ['end_date', endDate],
  ] as const) {
    if (!DAY.test(day) || parseIssuerDate(day) === undefined || Number(day.slice(0, 4)) > LAST_YEAR)
      throw invalidParameter(name, day, `a day as YYYY-MM-DD, until ${LAST_YEAR}`)
  }
  if (endDate < startDate) throw invalidParameter('end_date', endDate, `not before start_date, ${startDate}`)
  if (endOfLastDayMs(endDate)! <= nowMs) throw invalidParameter('end_date', endDate, 'a day that is not over')
}

/** @throws {AppError} `invalid_parameter` */
export function assertEventUrl(eventUrl: string): void {
  if (eventUrl !== '' && !isHttps(eventUrl))
    throw invalidParameter('event_url', eventUrl, 'an address that begins with https://')
}

/** Names begin with a letter: an offset such as `+01:00` is no zone. */
const ZONE_NAME = /^[A-Za-z][\w+/-]*$/
/** `PST` and the like, which Node knows and some browsers do not: of three letters the IANA has these names alone. */
const ABBREVIATION = /^(?!CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)[A-Z]{3}$/i
const ZONES: ReadonlySet<string> = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])
/** Zones of ships, which not every list has. */
const SHIP_ZONE = /^Etc\/GMT[+-]\d{1,2}$/

/** @throws {AppError} `invalid_parameter` for a zone that a browser may not know; an empty text is none */
export function assertTimeZone(name: string): void {
  if (name === '') return
  try {
    if (!ZONE_NAME.test(name) || ABBREVIATION.test(name)) throw new RangeError()
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    if (!ZONES.has(timeZone) && !SHIP_ZONE.test(timeZone)) throw new RangeError()
  } catch {
    throw invalidParameter('time_zone', name, 'the IANA name of a time zone, such as Europe/Paris')
  }
}

/** An address as it is written everywhere: readers of URLs also take `https:host` and `https:\\host`. */
function isHttps(text: string): boolean {
  const isWritten = /^https:\/\/[^\s\\/?#]/i.test(text) && !/[\s\\]/.test(text)
  return isWritten && URL.canParse(text) && isPlainLine(text)
}

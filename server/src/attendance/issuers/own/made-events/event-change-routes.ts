import type { World } from '@landpass/client/grid'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../../../../clock.ts'
import type { BaseOf } from '../../../../http/public-base.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema } from '../../../../http/schemas.ts'
import { invalidParameter } from '../../../../http/validation.ts'
import { approvalOfEvent, readApproval } from '../../../events/approval-json.ts'
import { coordinatesText, parseCoordinates } from '../../../events/coordinates.ts'
import { openingWarning, warningsField, warningsIn } from '../../../events/early-opening.ts'
import type { EventCache } from '../../../events/event-cache.ts'
import { eventInfoJson, eventInfoSchema } from '../../../events/event-json.ts'
import { assertStartsBefore, assertTokens, type EventMove } from '../../../events/event-options.ts'
import {
  credentialFields,
  credentialsOf,
  editCodeBody,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  parseEventName,
} from '../../../events/event-params.ts'
import { type Event, getEvent } from '../../../events/event-queries.ts'
import type { LimitHook } from '../../../limits.ts'
import { parseRequestTime } from '../../../request-time.ts'
import { beginOfFirstDayMs, endOfLastDayMs } from '../../poap/issuer-dates.ts'
import { assertOwnEvent } from '../own-event-ids.ts'
import type { EditCodes } from './edit-codes.ts'
import type { EventMaker } from './event-maker.ts'
import { readName } from './event-texts.ts'
import {
  assertDays,
  assertEventUrl,
  assertTimeZone,
  BODY_LIMIT_BYTES,
  BODY_LIMIT_MEANS,
  eventFields,
  pictureIn,
  pictureWarnings,
  refusePicture,
} from './made-event-routes.ts'

const bodySchema = Type.Object(
  {
    ...credentialFields,
    ...Type.Partial(Type.Object(eventFields)).properties,
    cancelled: Type.Optional(
      Type.Boolean({
        description: 'True: the event gives out no tokens any more.',
      }),
    ),
  },
  {
    title: 'MadeEventChange',
    additionalProperties: false,
    description: 'What is left out stays as it is. An empty text removes the value.',
  },
)
type Body = Static<typeof bodySchema>

const changedSchema = Type.Object(
  { event: eventInfoSchema, approval: approvalOfEvent, ...warningsField },
  { title: 'ChangedMadeEvent' },
)

export interface EventChangeRouteOptions extends OrganiserCallOptions {
  readonly clock: Clock
  readonly world: World
  readonly baseOf: BaseOf
  readonly maker: Pick<EventMaker, 'change' | 'delete'>
  readonly editCodes: Pick<EditCodes, 'assertFirst'>
  readonly events: Pick<EventCache, 'forget'>
  /** The picture of the event may be another one. */
  readonly forgetPicture: (event: Event) => void
  /** The report of the event is made anew. */
  readonly forgetReport: (eventId: number) => void
  /** For pictures. */
  readonly makerLimit: LimitHook
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
}

/** Corrects, moves, cancels and deletes events that were made here. */
export const eventChangeRoutes: Routes<EventChangeRouteOptions> = (
  app,
  { db, clock, world, maker, editCodes, events, organisers, baseOf, ...others },
) => {
  const { organiserLimit, makerLimit, assertConfigured, forgetReport, forgetPicture, isOperator } = others
  const forget = (event: Event) => {
    events.forget(event)
    forgetPicture(event)
    forgetReport(event.event_id)
  }

  app.patch(
    '/events/:event',
    {
      onRequest: organiserLimit,
      bodyLimit: BODY_LIMIT_BYTES,
      config: BODY_LIMIT_MEANS,
      schema: {
        tags: ['events'],
        operationId: 'changeMadeEvent',
        summary: 'Correct, move or cancel an event that was made here',
        params: eventParams,
        body: bodySchema,
        responses: okSchema(changedSchema, [
          ...ORGANISER_ERRORS,
          'invalid_coordinates',
          'event_not_found',
          'too_many_pictures',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const { body } = request
      const known = await getEvent(db, parseEventName(request.params.event))
      assertOwnEvent(known.event_id)
      const { name, description, coordinates, tokens, event_url: eventUrl = undefined, image } = body
      if (eventUrl !== undefined) assertEventUrl(eventUrl)
      if (body.time_zone !== undefined) assertTimeZone(body.time_zone)
      assertTokens(tokens)
      const change = {
        name: name === undefined ? undefined : readName(name),
        coordinates:
          coordinates === undefined ? undefined : coordinatesText(parseCoordinates(coordinates, world)),
        move: movesEvent(body) ? (before: Event) => moveIn(body, before, clock.nowMs()) : undefined,
        ...{
          description,
          tokens,
          eventUrl,
          timeZone: body.time_zone,
          hidesHolders: body.hide_holders,
          isCancelled: body.cancelled,
        },
      }
      await organisers.assertEditCode(known.event_id, credentialsOf(request))
      const picture = image === undefined ? undefined : (pictureIn(image) ?? ('drawn' as const))
      const mayDecode = () => makerLimit(request, reply)
      const by = { isOperator: isOperator(request), mayDecode }
      await maker.change(known, { ...change, picture }, by).catch(refusePicture)
      forget(known)
      const event = await getEvent(db, { eventId: known.event_id })
      const approval = await readApproval(db, known.event_id)
      const warnings = [
        ...(change.move ? movedWarnings(body, known, event) : []),
        ...(picture instanceof Buffer ? pictureWarnings(picture) : []),
      ]
      reply.header('cache-control', 'no-store')
      return {
        ok: true as const,
        data: {
          event: eventInfoJson(event, baseOf(request)),
          approval,
          ...(warnings.length > 0 && { warnings }),
        },
      }
    },
  )

  app.post(
    '/events/:event/deletion',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'deleteEvent',
        summary: 'Delete an event that was made here and has no tokens',
        params: eventParams,
        body: editCodeBody,
        responses: okSchema(
          Type.Object(
            { deleted: Type.String({ description: 'The UUID of the event.' }) },
            { title: 'DeletedEvent' },
          ),
          [...ORGANISER_ERRORS, 'event_not_found', 'event_has_tokens', 'first_code_only'],
        ),
      },
    },
    async (request) => {
      assertConfigured()
      const event = await getEvent(db, parseEventName(request.params.event))
      assertOwnEvent(event.event_id)
      await organisers.assertEditCode(event.event_id, credentialsOf(request))
      await editCodes.assertFirst(event.event_id, credentialsOf(request).editCode)
      await maker.delete(event)
      forget(event)
      return { ok: true as const, data: { deleted: event.uuid } }
    },
  )
}

function movesEvent({ start_date, end_date, distribution_start_date, distribution_end_date }: Body): boolean {
  const times = [start_date, end_date, distribution_start_date, distribution_end_date]
  return times.some((value) => value !== undefined)
}

/**
 * When the event is after a change of that. The last day of an event of one day, and an opening at the begin of the first day,
 * follow the first day.
 *
 * @throws {AppError} `invalid_parameter` for times in which no token could be claimed
 */
function moveIn(body: Body, event: Event, nowMs: number): EventMove {
  const { start_date, end_date, distribution_start_date: opens, distribution_end_date: closes } = body
  const [first, last] = [String(event.issuer_record.start_date), String(event.issuer_record.end_date)]
  const startDate = start_date ?? first
  const endDate = end_date ?? (first === last ? startDate : last)
  if (start_date !== undefined || end_date !== undefined) assertDays(startDate, endDate, nowMs)
  const isWholeDay = opens === undefined ? opensWithFirstDay(event) : opens === ''
  const startAtMs = isWholeDay
    ? beginOfFirstDayMs(startDate)!
    : opens === undefined
      ? event.distribution_start_at_ms
      : parseRequestTime('distribution_start_date', opens)
  const endAtMs =
    closes === undefined
      ? event.distribution_end_at_ms
      : closes === ''
        ? null
        : parseRequestTime('distribution_end_date', closes)
  if (startAtMs !== null) assertStartsBefore(endOfLastDayMs(endDate)!, startAtMs, opens ?? isoText(startAtMs))
  if (startAtMs !== null && endAtMs !== null && endAtMs <= startAtMs)
    throw invalidParameter(
      'distribution_end_date',
      closes ?? isoText(endAtMs),
      `after ${isoText(startAtMs)}, when tokens can be claimed`,
    )
  return { startDate, endDate, startAtMs, endAtMs }
}

function opensWithFirstDay({ distribution_start_at_ms: startAtMs, issuer_record: record }: Event): boolean {
  return startAtMs === beginOfFirstDayMs(record.start_date)
}

/** What was stored, but is probably a mistake. */
function movedWarnings(body: Body, before: Event, after: Event): readonly string[] {
  const isOnlyOfDays =
    body.start_date !== undefined &&
    body.start_date !== before.issuer_record.start_date &&
    body.distribution_start_date === undefined &&
    !opensWithFirstDay(before)
  const { warnings = [] } = warningsIn(after)
  const startAtMs = after.distribution_start_at_ms
  if (isOnlyOfDays && startAtMs !== null && openingWarning(after) === undefined)
    warnings.push(
      `The days moved, but tokens can still be claimed from ${isoText(startAtMs)} on. Send distribution_start_date to move that time too.`,
    )
  return warnings
}

function isoText(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

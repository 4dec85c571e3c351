import type { World } from '@landpass/client/grid'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Clock, HOUR_MS } from '../../clock.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { BaseOf } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import { endOfLastDayMs } from '../issuers/poap/issuer-dates.ts'
import type { Organisers } from '../organisers/organisers.ts'
import type { Rehearsals } from '../rehearsal/rehearsals.ts'
import { approvalOfEvent, readApproval } from './approval-json.ts'
import { type AvailabilityParts, availabilitySchema, readAvailability } from './availability.ts'
import { coordinatesText, MAX_COORDINATES, parseCoordinates } from './coordinates.ts'
import { warningsField, warningsIn } from './early-opening.ts'
import type { EventCache } from './event-cache.ts'
import {
  eventInfoJson,
  eventInfoProperties,
  eventInfoSchema,
  eventReferenceJson,
  eventReferenceProperties,
} from './event-json.ts'
import {
  ALLOWED_OPTIONS,
  assertNoOwnOptions,
  assertStartsBefore,
  assertTokens,
  type MadeEventChange,
  parseOptions,
  sentOption,
} from './event-options.ts'
import {
  credentialFields,
  credentialsOf,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  parseEventName,
  parsePublicEventName,
  passField,
  passIn,
} from './event-params.ts'
import { changeEvent, type Event, getEvent, getEventId, saveEvent } from './event-queries.ts'

const tags = ['events']
const LONGEST_REHEARSAL_MS = 24 * HOUR_MS
const coordinatesField = Type.String({
  'x-allowed': 'x,y pairs separated by semicolons',
  'x-withheld': true,
  description: `Where the token can be claimed: \`x,y\` pairs separated by \`;\`, 1 to ${MAX_COORDINATES} of them.`,
})

const registeredEventSchema = Type.Object(
  { ...eventReferenceProperties, ...passField },
  { title: 'RegisteredEvent', additionalProperties: true },
)
const changedEventSchema = Type.Object(
  { ...eventInfoProperties, approval: approvalOfEvent, ...warningsField, ...passField },
  { title: 'ChangedEvent', additionalProperties: true },
)

export interface EventRouteOptions extends OrganiserCallOptions, AvailabilityParts {
  readonly clock: Clock
  readonly world: World
  readonly baseOf: BaseOf
  readonly organisers: Organisers
  /** For availability, which booths request often. A changed event is dropped from it. */
  readonly events: Pick<EventCache, 'get' | 'forget'>
  /** Changes an event of our own. @throws {AppError} `event_not_found` for another event, `invalid_parameter` */
  readonly changeMade: (
    event: Event,
    change: MadeEventChange,
    by: { readonly isOperator: boolean },
  ) => Promise<void>
  /** Changes of the operator do not wait for the operator. */
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
  readonly rehearsals: Pick<Rehearsals, 'begin'>
  /** The report of the event counts its rehearsal anew. */
  readonly forgetReport: (eventId: number) => void
}

/** Registers, changes and reads events. */
export const eventRoutes: Routes<EventRouteOptions> = (
  app,
  { db, clock, world, organisers, events, rehearsals, forgetReport, baseOf, ...others },
) => {
  const { organiserLimit, assertConfigured, changeMade, isOperator } = others
  app.post(
    '/event/:event',
    {
      onRequest: organiserLimit,
      schema: {
        tags,
        operationId: 'registerEvent',
        summary: 'Register an event, or bring it up to date',
        params: eventParams,
        body: Type.Object(
          { ...credentialFields, coordinates: coordinatesField },
          { title: 'RegistrationRequest' },
        ),
        responses: okSchema(registeredEventSchema, [
          ...ORGANISER_ERRORS,
          'invalid_coordinates',
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const coordinates = coordinatesText(parseCoordinates(request.body.coordinates, world))
      const eventId = await getEventId(db, parseEventName(request.params.event))
      const { found, newPass } = await organisers.getIssuerEvent(eventId, credentialsOf(request))
      if (isOwnEvent(eventId)) {
        const made = await getEvent(db, { eventId })
        await changeMade(made, { coordinates }, { isOperator: isOperator(request) })
      }
      const event = isOwnEvent(eventId)
        ? await getEvent(db, { eventId })
        : await saveEvent(db, {
            eventId,
            record: found.record,
            coordinates,
            expiresAtMs: endOfLastDayMs(found.record.expiry_date),
            nowMs: clock.nowMs(),
          })
      events.forget(event)
      return {
        ok: true as const,
        data: { ...eventReferenceJson(event, baseOf(request)), ...passIn(reply, newPass) },
      }
    },
  )

  app.patch(
    '/event/:event',
    {
      onRequest: organiserLimit,
      schema: {
        tags,
        operationId: 'changeEvent',
        summary: 'Change what an organiser may decide of an event',
        params: eventParams,
        body: Type.Object(
          {
            ...credentialFields,
            options: Type.Unknown({
              'x-allowed': ALLOWED_OPTIONS,
              description:
                'Pairs of name and value: coordinates, enabled, distribution_start_date, distribution_end_date (RFC 3339 or null), requires_captcha, requires_presence, requires_grant, allows_guests, rehearsal_until (at most 24 hours ahead, or null), revoke_passes; of events made here tokens (never fewer), hide_holders, description. Example: `[["enabled", false]]`.',
            }),
          },
          { title: 'EventChangeRequest' },
        ),
        responses: okSchema(changedEventSchema, [
          ...ORGANISER_ERRORS,
          'invalid_coordinates',
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const { revokesPasses, tokens, hidesHolders, description, coordinates, ...options } = parseOptions(
        request.body.options,
        world,
      )
      const known = await getEvent(db, parseEventName(request.params.event))
      const isOwn = isOwnEvent(known.event_id)
      if (!isOwn) assertNoOwnOptions(request.body.options)
      const sent = (name: string) => sentOption(request.body.options, name)
      assertWindow({ ...known, ...options }, sent)
      if (options.distribution_start_at_ms !== undefined) assertOpensInTime({ ...known, ...options }, sent)
      assertRehearsalEnd(options.rehearsal_until_ms, { sent, nowMs: clock.nowMs() })
      assertTokens(tokens)
      const id = known.event_id
      const given = await organisers.assertEditCode(id, credentialsOf(request))
      const made = { tokens, hidesHolders, description, ...(isOwn && { coordinates }) }
      await changeMade(known, made, { isOperator: isOperator(request) })
      const newPass = revokesPasses ? await organisers.revokePasses(id) : given
      const change = async () => {
        if (typeof options.rehearsal_until_ms === 'number') await rehearsals.begin(id)
        const changed = isOwn || coordinates === undefined ? options : { ...options, coordinates }
        return changeEvent(db, id, changed, clock.nowMs())
      }
      // A rehearsal that has begun is counted anew, also where the change fails then
      const event = await change().finally(() => forgetReport(id))
      events.forget(event)
      const approval = await readApproval(db, id)
      const { distribution_start_at_ms: opens, distribution_end_at_ms: closes } = options
      const warnings = opens === undefined && closes === undefined ? {} : warningsIn(event)
      const info = eventInfoJson(event, baseOf(request))
      return { ok: true as const, data: { ...info, approval, ...warnings, ...passIn(reply, newPass) } }
    },
  )

  app.get(
    '/event/:event',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags,
        operationId: 'event',
        summary: 'An event that is registered here',
        params: eventParams,
        responses: okSchema(eventInfoSchema, [
          'invalid_parameter',
          'event_not_found',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const event = await getEvent(db, parsePublicEventName(request.params.event))
      reply.header('cache-control', 'no-store')
      return { ok: true as const, data: eventInfoJson(event, baseOf(request)) }
    },
  )

  app.get(
    '/event/:event/availability',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags,
        operationId: 'availability',
        summary: 'Whether tokens of an event can be had, and how many',
        params: eventParams,
        responses: okSchema(availabilitySchema, [
          'invalid_parameter',
          'event_not_found',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const name = parsePublicEventName(request.params.event)
      const cached = await events.get(name)
      // Loading codes for the first time changes what is answered, and forgets no event
      const event = cached.codes_asked_at_ms === null ? await getEvent(db, name) : cached
      reply.header('cache-control', 'no-store')
      const { availability } = await readAvailability(others, event, clock.nowMs())
      return { ok: true as const, data: availability }
    },
  )
}

/** The value of an option as it was sent; undefined where it was not. */
type SentOption = (name: string) => unknown

/** @throws {AppError} `invalid_parameter` for an event made here that could open only after its last day */
function assertOpensInTime(
  { event_id, distribution_start_at_ms: start, expires_at_ms: last }: Event,
  sent: SentOption,
): void {
  if (!isOwnEvent(event_id) || start === null || last === null) return
  assertStartsBefore(last, start, sent('distribution_start_date'))
}

/** @throws {AppError} `invalid_parameter` naming the time that was sent */
function assertWindow(
  { distribution_start_at_ms: start, distribution_end_at_ms: end }: Event,
  sent: SentOption,
): void {
  if (start === null || end === null || start < end) return
  const [sentStart, sentEnd] = [sent('distribution_start_date'), sent('distribution_end_date')]
  if (sentEnd !== undefined) {
    const allowed = `after distribution_start_date, ${sentStart ?? new Date(start).toISOString()}`
    throw invalidParameter('distribution_end_date', sentEnd, allowed)
  }
  if (sentStart !== undefined) {
    const allowed = `before distribution_end_date, ${new Date(end).toISOString()}`
    throw invalidParameter('distribution_start_date', sentStart, allowed)
  }
}

function assertRehearsalEnd(
  untilMs: number | null | undefined,
  { sent, nowMs }: { readonly sent: SentOption; readonly nowMs: number },
): void {
  if (untilMs === null || untilMs === undefined) return
  if (nowMs < untilMs && untilMs <= nowMs + LONGEST_REHEARSAL_MS) return
  throw invalidParameter(
    'rehearsal_until',
    sent('rehearsal_until'),
    'a time within the next 24 hours, or null',
  )
}

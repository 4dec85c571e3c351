import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { okSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import type { AttendanceContext } from '../attendance-context.ts'
import { lastMomentMs } from '../issuer/issuer-dates.ts'
import type { Limits } from '../limits.ts'
import { coordinatesText, parseCoordinates } from './coordinates.ts'
import { eventInfoJson, eventInfoSchema, eventReferenceJson, eventReferenceSchema } from './event-json.ts'
import { parseEventName } from './event-name.ts'
import { parseOptions } from './event-options.ts'
import { changeEvent, type Event, getEvent, saveEvent } from './event-queries.ts'
import { closedReason, codesReason, isoText, windowOf } from './openness.ts'
import { editCodeField, eventIdOf, judgeEditCode, judgeOrganiser, ORGANISER_ERRORS } from './organiser.ts'

const tags = ['events']
export const eventParams = Type.Object({
  event: Type.String({ description: "The issuer's event number, or the event's UUID here." }),
})
const coordinatesField = Type.String({
  maxLength: 16_000,
  'x-allowed': 'x,y pairs separated by semicolons',
  'x-withheld': true,
  description: 'Where the token can be claimed: `x,y` pairs separated by `;`, 1 to 500 of them.',
})
const reasonSchema = Type.Union([Type.String(), Type.Null()], {
  description:
    'Why no token can be had: event_disabled, event_not_open, event_closed, event_expired, waiting_for_issuer, no_codes_loaded or no_codes_left; null when open.',
})
const timeSchema = Type.Union([Type.String(), Type.Null()], {
  description: 'ISO 8601, UTC; null for no limit.',
})

export const availabilitySchema = Type.Object({
  open: Type.Boolean(),
  reason: reasonSchema,
  total: Type.Integer({
    description: 'Codes that were loaded, without those that the issuer no longer takes.',
  }),
  available: Type.Integer(),
  claimed: Type.Integer({ description: 'Those that a player has, or that were used elsewhere.' }),
  opens_at: timeSchema,
  closes_at: timeSchema,
})

/** Registering an event, changing it, and reading it back (interfaces.md, 4.1). */
export const eventRoutes: FastifyPluginCallbackTypebox<{
  attendance: AttendanceContext
  limits: Limits
}> = (app, { attendance, limits }, done) => {
  const { db, clock, world } = attendance

  app.post(
    '/event/:event',
    {
      onRequest: limits.organiserLimit,
      schema: {
        tags,
        summary: 'Register an event, or bring it up to date',
        params: eventParams,
        body: Type.Object({ editCode: editCodeField, coordinates: coordinatesField }),
        response: okSchema(eventReferenceSchema, [
          ...ORGANISER_ERRORS,
          'invalid_coordinates',
          'event_not_found',
        ]),
      },
    },
    async (request) => {
      attendance.assertConfigured()
      const coordinates = coordinatesText(parseCoordinates(request.body.coordinates, world))
      const eventId = await eventIdOf(attendance, parseEventName(request.params.event))
      const found = await judgeOrganiser(attendance, eventId, request.body.editCode)
      const event = await saveEvent(db, {
        eventId,
        record: found.record,
        coordinates,
        expiresAtMs: lastMomentMs(found.record.expiry_date),
        nowMs: clock.nowMs(),
      })
      attendance.events.forget(event)
      return { ok: true as const, data: eventReferenceJson(event) }
    },
  )

  app.patch(
    '/event/:event',
    {
      onRequest: limits.organiserLimit,
      schema: {
        tags,
        summary: 'Change what an organiser may decide of an event',
        params: eventParams,
        body: Type.Object({
          editCode: editCodeField,
          options: Type.Unknown({
            description:
              'Pairs of name and value: coordinates, enabled, distribution_start_date, distribution_end_date (ISO 8601 or null), requires_captcha, requires_presence. Example: `[["coordinates", "52,-10;53,-10"]]`.',
          }),
        }),
        response: okSchema(eventInfoSchema, [...ORGANISER_ERRORS, 'invalid_coordinates', 'event_not_found']),
      },
    },
    async (request) => {
      attendance.assertConfigured()
      const options = parseOptions(request.body.options, world)
      const known = await getEvent(db, parseEventName(request.params.event))
      assertWindow({ ...known, ...options })
      await judgeEditCode(attendance, known.event_id, request.body.editCode)
      const event = await changeEvent(db, known.event_id, options, clock.nowMs())
      attendance.events.forget(event)
      return { ok: true as const, data: eventInfoJson(event) }
    },
  )

  app.get(
    '/event/:event',
    {
      schema: {
        tags,
        summary: 'An event that is registered here',
        params: eventParams,
        response: okSchema(eventInfoSchema, ['invalid_parameter', 'event_not_found', 'database_unavailable']),
      },
    },
    async (request, reply) => {
      const event = await getEvent(db, parseEventName(request.params.event))
      reply.header('cache-control', 'no-store')
      return { ok: true as const, data: eventInfoJson(event) }
    },
  )

  app.get(
    '/event/:event/availability',
    {
      schema: {
        tags,
        summary: 'Whether tokens of an event can be had, and how many',
        params: eventParams,
        response: okSchema(availabilitySchema, [
          'invalid_parameter',
          'event_not_found',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const event = await getEvent(db, parseEventName(request.params.event))
      reply.header('cache-control', 'no-store')
      return { ok: true as const, data: await availabilityOf(attendance, event) }
    },
  )
  done()
}

/** What a booth or an organiser shows of an event. */
export async function availabilityOf({ codeCounts, clock }: AttendanceContext, event: Event) {
  const counts = await codeCounts.get(event.event_id)
  const { opensAtMs, closesAtMs } = windowOf(event)
  const reason = closedReason(event, clock.nowMs()) ?? codesReason(event, counts)
  const claimed = counts.held + counts.used + counts.used_elsewhere
  return {
    open: reason === undefined,
    reason: reason ?? null,
    total: counts.free + claimed,
    available: counts.free,
    claimed,
    opens_at: isoText(opensAtMs),
    closes_at: isoText(closesAtMs),
  }
}

function assertWindow({ distribution_start_at_ms: start, distribution_end_at_ms: end }: Event): void {
  if (start === null || end === null || start < end) return
  throw invalidParameter(
    'distribution_end_date',
    new Date(end).toISOString(),
    `after distribution_start_date, ${new Date(start).toISOString()}`,
  )
}

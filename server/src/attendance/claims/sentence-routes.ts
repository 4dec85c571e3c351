import Type from 'typebox'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { orNull } from '../../schema-parts.ts'
import { type AvailabilityParts, readAvailability } from '../events/availability.ts'
import { eventParams, parsePublicEventName } from '../events/event-params.ts'
import { getEvent } from '../events/event-queries.ts'
import { sentencesOf } from './sentences.ts'

const sentence = (description: string) => Type.String({ description })

const sentencesSchema = Type.Object(
  {
    now: sentence('To a player who claims now, and does everything right.'),
    elsewhere: orNull(sentence('To one who stands elsewhere; null where that does not matter.')),
    guest: orNull(sentence('To a guest; null where guests may claim.')),
    again: sentence('To one who has a token of the event.'),
    preview: sentence('In a preview of the scene, without a rehearsal.'),
  },
  { title: 'Sentences' },
)

export interface SentenceRouteOptions extends AvailabilityParts {
  readonly db: Db
  readonly clock: Pick<Clock, 'nowMs'>
}

/** What players read at a booth, for the page of an event. */
export const sentenceRoutes: Routes<SentenceRouteOptions> = (app, { db, clock, ...parts }) => {
  app.get(
    '/event/:event/sentences',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags: ['events'],
        operationId: 'sentences',
        summary: 'What players read at a booth of an event',
        params: eventParams,
        responses: okSchema(sentencesSchema, [
          'invalid_parameter',
          'event_not_found',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const event = await getEvent(db, parsePublicEventName(request.params.event))
      const nowMs = clock.nowMs()
      const { availability } = await readAvailability(parts, event, nowMs)
      reply.header('cache-control', 'no-store')
      const { reason } = availability
      return { ok: true as const, data: await sentencesOf(event, { reason, nowMs }) }
    },
  )
}

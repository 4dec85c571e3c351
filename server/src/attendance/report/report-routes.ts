import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import { okSchema } from '../../http/schemas.ts'
import { editCodeField, eventParams, ORGANISER_ERRORS, parseEventName } from '../events/event-params.ts'
import { getEvent } from '../events/event-queries.ts'
import type { Organisers } from '../events/organisers.ts'
import type { LimitHook } from '../limits.ts'
import { type Reports, reportSchema } from './report.ts'

export interface ReportRouteOptions {
  readonly db: Db
  readonly organisers: Pick<Organisers, 'assertEditCode'>
  readonly reports: Pick<Reports, 'make'>
  readonly organiserLimit: LimitHook
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

/** What happened at an event, for its organiser. */
export const reportRoutes: FastifyPluginCallbackTypebox<ReportRouteOptions> = (
  app,
  { db, organisers, reports, organiserLimit, assertConfigured },
  done,
) => {
  app.post(
    '/event/:event/report',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        summary: 'What happened at an event, for its organiser',
        params: eventParams,
        body: Type.Object({ editCode: editCodeField }),
        response: okSchema(reportSchema, [...ORGANISER_ERRORS, 'event_not_found']),
      },
    },
    async (request) => {
      assertConfigured()
      const event = await getEvent(db, parseEventName(request.params.event))
      await organisers.assertEditCode(event.event_id, request.body.editCode)
      return { ok: true as const, data: await reports.make(event) }
    },
  )
  done()
}

import Type from 'typebox'
import type { BaseOf } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { eventInfoJson } from '../events/event-json.ts'
import {
  editCodeBody,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from '../events/event-params.ts'
import { type Reports, reportSchema } from './report.ts'

export interface ReportRouteOptions extends OrganiserCallOptions {
  readonly reports: Pick<Reports, 'make'>
  readonly baseOf: BaseOf
}

/** The report of an event, for its organiser. */
export const reportRoutes: Routes<ReportRouteOptions> = (
  app,
  { db, organisers, reports, baseOf, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/report',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'report',
        summary: 'What happened at an event, for its organiser',
        params: eventParams,
        body: editCodeBody,
        responses: okSchema(Type.Object({ ...reportSchema.properties, ...passField }, { title: 'Report' }), [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const info = eventInfoJson(event, baseOf(request))
      const report = await reports.make(event)
      return { ok: true as const, data: { event: info, ...report, ...passIn(reply, newPass) } }
    },
  )
}

import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { okSchema } from '../../http/schemas.ts'
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
}

/** The report of an event, for its organiser. */
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
        operationId: 'report',
        summary: 'What happened at an event, for its organiser',
        params: eventParams,
        body: editCodeBody,
        response: okSchema(Type.Object({ ...reportSchema.properties, ...passField }, { title: 'Report' }), [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      return { ok: true as const, data: { ...(await reports.make(event)), ...passIn(reply, newPass) } }
    },
  )
  done()
}

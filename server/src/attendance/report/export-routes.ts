import type { Clock } from '../../clock.ts'
import type { BaseOf } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { streamSchema } from '../../http/schemas.ts'
import {
  editCodeBody,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passIn,
} from '../events/event-params.ts'
import { allClaims } from './claim-list-queries.ts'
import type { Downloads } from './downloads.ts'
import { exportHead, exportPieces, exportSchema } from './event-export.ts'
import type { Reports } from './report.ts'

export interface ExportRouteOptions extends OrganiserCallOptions {
  readonly clock: Clock
  readonly reports: Pick<Reports, 'make'>
  readonly downloads: Downloads
  readonly baseOf: BaseOf
}

/** Everything about an event as one file, for its organiser. */
export const exportRoutes: Routes<ExportRouteOptions> = (
  app,
  { db, clock, organisers, reports, downloads, baseOf, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/export',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'exportEvent',
        summary: 'Everything about an event as a JSON file, for its organiser',
        description: 'Streamed, without the envelope. It contains no edit code and no claim code.',
        params: eventParams,
        body: editCodeBody,
        responses: streamSchema('application/json', { description: 'Done.', body: exportSchema }, [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const id = event.event_id
      passIn(reply, newPass)
      const facts = { nowMs: clock.nowMs(), base: baseOf(request) }
      const head = await exportHead(db, event, reports, facts)
      const headers = {
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="event-${id}.json"`,
      }
      const json = downloads.start(id, 'export', exportPieces(head, allClaims(db, id)))
      return reply.headers(headers).type('application/json; charset=utf-8').send(json)
    },
  )
}

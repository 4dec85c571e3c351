import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { okSchema, type Responses } from '../../http/schemas.ts'
import {
  credentialFields,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from '../events/event-params.ts'
import {
  claimsCsv,
  listedClaimJson,
  listedClaimSchema,
  PLACE_PATTERN,
  placeText,
  readPlace,
} from './claim-list.ts'
import { allClaims, LIST_START, listClaims } from './claim-list-queries.ts'
import type { Downloads } from './downloads.ts'

const MAX_LIMIT = 1_000
const DEFAULT_LIMIT = 100

const requestSchema = Type.Object(
  {
    ...credentialFields,
    after: Type.Optional(
      Type.String({
        pattern: PLACE_PATTERN,
        'x-allowed': 'the next of an earlier page, as text',
        description: 'The `next` of the page before. Left out: the first page.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} if left out.` }),
    ),
    format: Type.Optional(
      Type.Unsafe<'json' | 'csv'>({
        type: 'string',
        enum: ['json', 'csv'],
        description: 'csv: all claims as a file; `after` and `limit` are ignored.',
      }),
    ),
  },
  { title: 'ClaimListRequest' },
)
const pageSchema = Type.Object(
  {
    claims: Type.Array(listedClaimSchema, { description: 'In the order in which they were made.' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `after` for the next page; null on the last one.',
    }),
    ...passField,
  },
  { title: 'ClaimList' },
)

const listResponses: Responses = () => {
  const { 200: page, ...failures } = okSchema(pageSchema, [...ORGANISER_ERRORS, 'event_not_found'])()
  const content = { 'application/json': { schema: page }, 'text/csv': { schema: Type.String() } }
  return { 200: { description: 'Done.', content }, ...failures }
}

export interface ClaimListRouteOptions extends OrganiserCallOptions {
  readonly downloads: Downloads
}

/** The claims of an event, for its organiser. */
export const claimListRoutes: Routes<ClaimListRouteOptions> = (
  app,
  { db, organisers, downloads, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/claims',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'listClaims',
        summary: 'Who claimed tokens of an event, page by page or as CSV, for its organiser',
        params: eventParams,
        body: requestSchema,
        responses: listResponses,
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const id = event.event_id
      const pass = passIn(reply, newPass)
      reply.header('cache-control', 'no-store')
      if (request.body.format === 'csv') {
        const file = downloads.start(id, 'claims', claimsCsv(allClaims(db, id)))
        return reply
          .header('content-disposition', `attachment; filename="claims-${id}.csv"`)
          .type('text/csv; charset=utf-8')
          .send(file)
      }
      const { after, limit = DEFAULT_LIMIT } = request.body
      const claims = await listClaims(db, id, {
        after: after === undefined ? LIST_START : readPlace(after),
        limit,
      })
      const last = claims.length === limit ? claims.at(-1) : undefined
      const next = last ? placeText(last) : null
      return reply.send({ ok: true as const, data: { claims: claims.map(listedClaimJson), next, ...pass } })
    },
  )
}

import Type from 'typebox'
import type { Db } from '../../../../db/engine.ts'
import { QUERY_UNITS } from '../../../../http/cost-account.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema } from '../../../../http/schemas.ts'
import { dayText } from './token-log.ts'
import { readLog, rootsBetween } from './token-log-queries.ts'

const MAX_ENTRIES = 1_000
/** Entries that are read, written and compressed for one unit. */
const ENTRIES_PER_UNIT = 10

export interface TokenLogRouteOptions {
  readonly db: Db
}

/** The public log of all tokens. */
export const tokenLogRoutes: Routes<TokenLogRouteOptions> = (app, { db }) => {
  app.get(
    '/tokens/log',
    {
      schema: {
        tags: ['claims'],
        operationId: 'tokenLog',
        summary: 'All tokens in the order of the log, which never changes',
        querystring: Type.Object({
          from: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
          limit: Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: MAX_ENTRIES }),
        }),
        responses: okSchema(
          Type.Object(
            {
              entries: Type.Array(
                Type.Object({
                  position: Type.Integer(),
                  uid: Type.String(),
                  signer: Type.String(),
                  noted_at: Type.String(),
                }),
              ),
              roots: Type.Array(
                Type.Object({ day: Type.String(), leaves: Type.Integer(), root: Type.String() }),
                { description: 'The days that end within these entries.' },
              ),
              next: Type.Integer({ description: 'The next `from`.' }),
            },
            { title: 'TokenLog' },
          ),
          ['invalid_parameter', 'database_unavailable'],
        ),
      },
    },
    async (request, reply) => {
      const { from, limit } = request.query
      request.costAccount?.charge(reply, QUERY_UNITS + limit / ENTRIES_PER_UNIT)
      const entries = await readLog(db, request.query)
      const next = from + entries.length
      const roots = await rootsBetween(db, from, next)
      reply.header('cache-control', 'max-age=60')
      return {
        ok: true as const,
        data: {
          entries: entries.map(({ position, uid, signer, noted_at_ms }) => ({
            position,
            uid: hexText(uid),
            signer,
            noted_at: new Date(noted_at_ms).toISOString(),
          })),
          roots: roots.map(({ day, leaves, root }) => ({ day: dayText(day), leaves, root: hexText(root) })),
          next,
        },
      }
    },
  )
}

function hexText(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`
}

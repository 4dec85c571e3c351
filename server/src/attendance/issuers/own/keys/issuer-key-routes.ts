import { EVENT_ATTENDANCE_UID, MAINNET_DOMAIN } from '@landpass/client/tokens'
import Type from 'typebox'
import type { Clock } from '../../../../clock.ts'
import { checksumAddress } from '../../../../ethereum/checksum-address.ts'
import { QUERY_UNITS } from '../../../../http/cost-account.ts'
import type { Routes } from '../../../../http/routes.ts'
import { streamSchema } from '../../../../http/schemas.ts'
import { oneOf } from '../../../../schema-parts.ts'
import type { TokenKeys } from './token-keys.ts'

const timeOrNull = Type.Union([Type.String(), Type.Null()])
const STATUS_PATH = '/.well-known/attendance-revocations.json'
const issuersSchema = Type.Object(
  {
    updated: Type.String(),
    domain: Type.Object({
      name: Type.String(),
      version: Type.String(),
      chainId: Type.Integer(),
      verifyingContract: Type.String(),
    }),
    schemas: Type.Array(Type.String()),
    issuers: Type.Array(
      Type.Object({
        address: Type.String(),
        from: Type.String(),
        until: timeOrNull,
        state: oneOf(['active', 'retired', 'compromised']),
        withdrawn: Type.Optional(
          Type.String({
            description: 'Since when the key counts as stolen: tokens count that the log had before.',
          }),
        ),
      }),
    ),
    status: Type.String({ description: 'Path of the list of revoked tokens.' }),
  },
  { title: 'TokenIssuers' },
)

export interface IssuerKeyRouteOptions {
  readonly clock: Clock
  readonly keys: Pick<TokenKeys, 'list'>
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

/** The public list of our keys, for checking tokens. */
export const issuerKeyRoutes: Routes<IssuerKeyRouteOptions> = (app, { clock, keys, assertConfigured }) => {
  app.get(
    '/.well-known/attendance-issuers.json',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags: ['claims'],
        operationId: 'tokenIssuers',
        summary: 'The addresses that sign tokens, with their times',
        responses: streamSchema('application/json', { description: 'Done.', body: issuersSchema }, [
          'attendance_not_configured',
          'database_unavailable',
        ]),
      },
    },
    async (_request, reply) => {
      assertConfigured()
      const published = await keys.list()
      reply.header('cache-control', 'max-age=60').type('application/json')
      return JSON.stringify({
        updated: isoOf(Math.floor(clock.nowMs() / 1000)),
        domain: { ...MAINNET_DOMAIN, chainId: Number(MAINNET_DOMAIN.chainId) },
        schemas: [EVENT_ATTENDANCE_UID],
        issuers: published.map(({ address, from, until, state, withdrawnAt }) => ({
          address: checksumAddress(address),
          from: isoOf(from),
          until: until === null ? null : isoOf(until),
          state,
          ...(withdrawnAt !== null && { withdrawn: isoOf(withdrawnAt) }),
        })),
        status: STATUS_PATH,
      })
    },
  )
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

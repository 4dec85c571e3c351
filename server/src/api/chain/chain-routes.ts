import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { CHAIN_STATES, type ChainStatusSource } from '../../chain/follow/chain-status.ts'
import { okSchema } from '../../http/schemas.ts'
import { hashText, isoTimeText, oneOf, orNull, wholeNumber } from '../../schema-parts.ts'
import { QUERY_UNITS } from '../common/land-answers.ts'

const block = { number: wholeNumber(), hash: hashText() }
const chainStatus = Type.Object({
  network: orNull(Type.String()),
  chainId: orNull(wholeNumber()),
  block: orNull(Type.Object({ ...block, time: isoTimeText() })),
  finalized: orNull(Type.Object(block)),
  node: orNull(
    Type.Object({
      head: wholeNumber(),
      lagBlocks: wholeNumber(),
      lagSeconds: wholeNumber('Between both blocks.'),
    }),
  ),
  state: oneOf(CHAIN_STATES),
  reason: orNull(Type.String()),
})

/** `GET /chain`. */
export const chainRoutes: FastifyPluginCallbackTypebox<{ chain: ChainStatusSource }> = (
  app,
  { chain },
  done,
) => {
  app.get(
    '/chain',
    {
      schema: {
        tags: ['operation'],
        operationId: 'chain',
        summary: 'The block that the land is at',
        response: okSchema(chainStatus, ['too_many_requests', 'database_unavailable']),
      },
    },
    async (request, reply) => {
      request.costAccount?.charge(reply, QUERY_UNITS)
      return reply.header('cache-control', 'no-store').send({ ok: true, data: await chain.read() })
    },
  )
  done()
}

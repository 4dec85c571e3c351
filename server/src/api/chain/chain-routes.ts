import Type from 'typebox'
import { COMPLETENESS_STATES, MOST_NAMED } from '../../chain/check/completeness.ts'
import { CHAIN_STATES, type ChainStatus, type ChainStatusSource } from '../../chain/follow/chain-status.ts'
import { type Clock, secondsSince } from '../../clock.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import {
  LISTINGS_STATES,
  type ListingsStatus,
  type ReadingName,
} from '../../land/changes/listings-reading.ts'
import { hashText, isoTimeText, oneOf, orNull, wholeNumber } from '../../schema-parts.ts'
import { explorerOf } from './explorer.ts'

const signedOffersStatus = Type.Object(
  {
    state: oneOf(LISTINGS_STATES),
    read_at: orNull(isoTimeText()),
    offers: wholeNumber('Offers that are stored.'),
    open: wholeNumber('Those that can be accepted now.'),
    shown: Type.Boolean({ description: 'Whether lists, images and tiles have them.' }),
    reason: orNull(Type.String()),
  },
  {
    title: 'SignedOffersStatus',
    description: 'Offers that are signed off the chain, and read from a server.',
  },
)

const block = { number: wholeNumber(), hash: hashText() }
const chainStatus = Type.Object(
  {
    network: orNull(Type.String()),
    chainId: orNull(wholeNumber()),
    block: orNull(
      Type.Object({ ...block, time: isoTimeText(), ageSeconds: wholeNumber("By the server's clock.") }),
    ),
    finalized: orNull(Type.Object(block)),
    node: orNull(
      Type.Object({
        head: wholeNumber(),
        lagBlocks: wholeNumber(),
        lagSeconds: wholeNumber('Between both blocks.'),
      }),
    ),
    completeness: orNull(
      Type.Object(
        {
          state: oneOf(COMPLETENESS_STATES),
          block: orNull(wholeNumber('Every parcel and estate was compared at this block or a later one.')),
          done: orNull(wholeNumber('Parcels and estates that the comparison which goes on has compared.')),
          total: orNull(wholeNumber('Parcels and estates of that comparison.')),
          differing: wholeNumber('Assets that are not what the contracts say.'),
          assets: Type.Array(Type.String(), { description: `The first ${MOST_NAMED} of them.` }),
        },
        { description: 'How far the land was compared with the contracts.' },
      ),
    ),
    state: oneOf(CHAIN_STATES),
    reason: orNull(Type.String()),
    ...({ listings: signedOffersStatus, rentals: signedOffersStatus } satisfies Record<ReadingName, unknown>),
    explorer: orNull(Type.String({ description: 'Address of a transaction; {tx} is its hash.' })),
  },
  { title: 'ChainStatus' },
)

/** How far the readings of a server of offers are. */
export interface OffersStatus {
  readonly name: ReadingName
  readonly read: () => Promise<ListingsStatus>
}

export interface ChainRoutesOptions {
  readonly chain: ChainStatusSource
  readonly offers: readonly OffersStatus[]
  readonly clock: Clock
  /** The operator's own: see {@link explorerOf}. */
  readonly explorerUrl: string | undefined
}

/** `GET /chain`. */
export const chainRoutes: Routes<ChainRoutesOptions> = (app, { chain, offers, clock, explorerUrl }) => {
  app.get(
    '/chain',
    {
      schema: {
        tags: ['operation'],
        operationId: 'chain',
        summary: 'The block that the land is at',
        responses: okSchema(chainStatus, ['too_many_requests', 'database_unavailable']),
      },
    },
    async (request, reply) => {
      request.costAccount?.charge(reply, QUERY_UNITS)
      const status = await chain.read()
      const explorer = explorerOf(status.chainId, explorerUrl)
      const block = withAge(status.block, clock)
      const ofOffers = await Promise.all(
        offers.map(async ({ name, read }) => [name, shownListings(await read())] as const),
      )
      const readings = Object.fromEntries(ofOffers) as Record<ReadingName, ReturnType<typeof shownListings>>
      const data = { ...status, block, ...readings, explorer }
      return reply.header('cache-control', 'no-store').send({ ok: true, data })
    },
  )
}

function shownListings({ readAtMs, isShown, ...shown }: ListingsStatus) {
  return { ...shown, read_at: readAtMs === null ? null : new Date(readAtMs).toISOString(), shown: isShown }
}

function withAge(block: ChainStatus['block'], clock: Clock) {
  if (!block) return null
  return { ...block, ageSeconds: secondsSince(Date.parse(block.time), clock) }
}

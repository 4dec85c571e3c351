import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { coordText, decodeTokenId } from '@landpass/client/grid'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { BARE_JSON } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import { bareSchema, freshSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import {
  chainIdOf,
  findTrade,
  openOrders,
  openRentals,
  type SourcePage,
  type SourcePlace,
  type SourceQuery,
} from '../../land/queries/source-queries.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { Registries } from '../../land/records/contracts.ts'
import { GIVEN_ADDRESS, oneOf } from '../../schema-parts.ts'
import { sendJudged } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery } from '../common/land-filters.ts'
import { idParams, lowerCase } from '../common/parameters.ts'
import { orderJson, rentalJson, tradeJson } from './source-json.ts'
import { ordersSchema, rentalListingsSchema, tradeSchema } from './source-shapes.ts'

/** Of land that follows no chain: it is that of mainnet. */
const MAINNET_CHAIN_ID = 1
const MOST_ORDERS = 1_000
const MOST_RENTALS = 100
const MOST_SKIPPED = 1_000_000
/** Rows of a page that cost a unit. */
const ROWS_PER_UNIT = 25

const CURSOR_ALLOWED = 'the cursor of an answer of this address'

const address = Type.Optional(Type.String(GIVEN_ADDRESS))
const registry = Type.Optional(
  Type.String({ ...GIVEN_ADDRESS, description: 'That of parcels or of estates.' }),
)
const whole = (minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value })
const filters = {
  tokenId: Type.Optional(
    Type.String({
      title: 'SourceTokenId',
      pattern: '^\\d{1,78}$',
      'x-allowed': 'a token id: 1 to 78 decimal digits',
      description: 'Without a contract, of a parcel.',
    }),
  ),
  status: oneOf(['open'], {
    title: 'SourceStatus',
    default: 'open',
  }),
  network: oneOf(['ETHEREUM'], {
    title: 'SourceNetwork',
    default: 'ETHEREUM',
  }),
  cursor: Type.Optional(
    Type.String({
      title: 'SourceCursor',
      pattern: '^[\\w-]{1,400}$',
      'x-allowed': CURSOR_ALLOWED,
      description: 'Of the page before.',
    }),
  ),
}
const ordersQuery = strictQuery({
  ...filters,
  contractAddress: registry,
  owner: address,
  sortBy: oneOf(['recently_listed', 'oldest'], {
    default: 'recently_listed',
  }),
  first: whole(0, MOST_ORDERS, MOST_ORDERS),
  skip: whole(0, MOST_SKIPPED, 0),
})
const rentalsQuery = strictQuery({
  ...filters,
  contractAddresses: registry,
  lessor: address,
  limit: whole(1, MOST_RENTALS, MOST_RENTALS),
  offset: whole(0, MOST_SKIPPED, 0),
  page: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MOST_SKIPPED / MOST_RENTALS,
      description: 'From 0, instead of offset.',
    }),
  ),
})

/**
 * Open offers in the shapes of public marketplace and rentals servers, so that programs that read those can read this server, and one
 * Landpass another. Unlike theirs the totals are right, and each page has a cursor.
 */
export const sourceRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  const { db, registries, clock } = land
  const networkOf = async (worldId: number) => ({
    registries,
    chainId: (await chainIdOf(db, worldId)) ?? MAINNET_CHAIN_ID,
  })

  const tags = ['publications']
  const errors = ['invalid_parameter', 'database_unavailable'] as const
  const ordersRoute = {
    tags,
    operationId: 'orders',
    summary: 'Open offers to sell, in the shape of public marketplace servers',
    querystring: ordersQuery,
    response: bareSchema(ordersSchema, errors),
  }
  app.get('/orders', { schema: ordersRoute }, async (request, reply) => {
    const { contractAddress, sortBy, first, skip, ...query } = request.query
    request.costAccount?.charge(reply, QUERY_UNITS + first / ROWS_PER_UNIT)
    const { worldId } = land.state()
    const nowMs = clock.nowMs()
    const read = wantedBy(registries, { ...query, registry: contractAddress })
    const page = read
      ? await openOrders(db, worldId, nowMs, {
          ...{ ...read, isNewestFirst: sortBy === 'recently_listed', limit: first, offset: skip },
        })
      : NOTHING
    const network = await networkOf(worldId)
    const json = JSON.stringify({
      data: page.rows.map((row) => orderJson(row, network)),
      total: page.total,
      cursor: cursorOf(page, first),
    })
    return sendJudged(request, reply, { json, judgedAtMs: nowMs, format: BARE_JSON })
  })

  app.get(
    '/trades/:id',
    {
      schema: {
        tags,
        operationId: 'trade',
        summary: 'A signed offer to sell, in the shape of public marketplace servers',
        params: idParams('id', 'As an order has it: tradeId.'),
        querystring: strictQuery({}),
        response: freshSchema(tradeSchema, [...errors, 'publication_not_found']),
      },
    },
    async (request, reply) => {
      request.costAccount?.charge(reply, QUERY_UNITS)
      const id = String(request.params.id)
      const { worldId } = land.state()
      const trade = await findTrade(db, worldId, id)
      if (!trade)
        throw new AppError('publication_not_found', 'There is no signed trade with this id.', { id })
      const json = JSON.stringify(tradeJson(trade.text, await networkOf(worldId)))
      return sendJudged(request, reply, { json, judgedAtMs: clock.nowMs() })
    },
  )

  app.get(
    '/rentals-listings',
    {
      schema: {
        tags,
        operationId: 'rentalListings',
        summary: 'Open offers to rent, in the shape of public rentals servers',
        querystring: rentalsQuery,
        response: freshSchema(rentalListingsSchema, errors),
      },
    },
    async (request, reply) => {
      const { contractAddresses, lessor, limit, page: asked, ...query } = request.query
      request.costAccount?.charge(reply, QUERY_UNITS + limit / ROWS_PER_UNIT)
      const offset = asked === undefined ? query.offset : asked * limit
      const { worldId } = land.state()
      const nowMs = clock.nowMs()
      const read = wantedBy(registries, { ...query, owner: lessor, registry: contractAddresses })
      const listed = read
        ? await openRentals(db, worldId, nowMs, { ...read, isNewestFirst: true, limit, offset })
        : NOTHING
      const network = await networkOf(worldId)
      const { rows, total } = listed
      const json = JSON.stringify({
        results: rows.map(({ text }) => rentalJson(text, network)),
        ...{ total, page: Math.floor(offset / limit), pages: Math.ceil(total / limit), limit },
        cursor: cursorOf(listed, limit),
      })
      return sendJudged(request, reply, { json, judgedAtMs: nowMs })
    },
  )
  done()
}

const NOTHING: SourcePage<never> = { rows: [], total: 0 }

interface Wanted {
  readonly registry: string | undefined
  readonly tokenId?: string | undefined
  readonly owner?: string | undefined
  readonly cursor?: string | undefined
}

/** Undefined for a contract that is no registry of land, and a token that is no parcel. */
function wantedBy(
  { land, estate }: Registries,
  { registry, tokenId, owner, cursor }: Wanted,
): Pick<SourceQuery, 'assetType' | 'asset' | 'owner' | 'behind'> | undefined {
  const address = registry && lowerCase(registry)
  if (address !== undefined && address !== land && address !== estate) return undefined
  const assetType = address === undefined ? undefined : address === estate ? 'estate' : 'parcel'
  const asset = tokenId === undefined ? undefined : assetOf(tokenId, assetType)
  if (tokenId !== undefined && !asset) return undefined
  const behind = cursor === undefined ? undefined : placeOf(cursor)
  return { assetType, asset, owner: owner && lowerCase(owner), behind }
}

function assetOf(tokenId: string, type: AssetName['type'] | undefined): AssetName | undefined {
  if (type === 'estate') return { type, id: String(BigInt(tokenId)) }
  const at = decodeTokenId(BigInt(tokenId))
  return at && { type: 'parcel', id: coordText(at) }
}

function cursorOf({ rows }: SourcePage<SourcePlace>, limit: number): string | null {
  const last = rows.length < limit ? undefined : rows.at(-1)
  return last ? Buffer.from(JSON.stringify([last.createdAtMs, last.id])).toString('base64url') : null
}

function placeOf(cursor: string): SourcePlace {
  try {
    const [createdAtMs, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, unknown]
    // PostgreSQL refuses a text with NUL.
    if (Number.isSafeInteger(createdAtMs) && typeof id === 'string' && !id.includes('\0'))
      return { createdAtMs: Number(createdAtMs), id }
  } catch {
    // The same as for a cursor of another list.
  }
  throw invalidParameter('cursor', cursor, CURSOR_ALLOWED)
}

import { coordText, decodeTokenId } from '@landpass/client/grid'
import Type, { type Static } from 'typebox'
import { AppError } from '../../errors.ts'
import { BARE_JSON } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { bareSchema, freshSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import {
  chainIdOf,
  findTrade,
  openOrders,
  openRentals,
  type SourceFilter,
  type SourceOrder,
  type SourcePage,
  type SourcePlace,
} from '../../land/queries/source-queries.ts'
import { ASSET_TYPES, type AssetType } from '../../land/records/assets.ts'
import type { Registries } from '../../land/records/contracts.ts'
import { GIVEN_ADDRESS, oneOf } from '../../schema-parts.ts'
import type { State } from '../../state/state.ts'
import { sendJudged } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery, wordsOf, wordsQuery } from '../common/land-filters.ts'
import { cursorParts } from '../common/list-cursor.ts'
import { idParams, lowerCase } from '../common/parameters.ts'
import { nameOfNumber } from '../land/asset-numbers.ts'
import { findAssets, findCost } from '../land/land-find.ts'
import { type FilterQuery, readLandQuery } from '../land/land-query.ts'
import { type LandView, landViewOf } from '../land/land-view.ts'
import { orderJson, rentalJson, tradeJson } from './source-json.ts'
import { ordersSchema, rentalListingsSchema, tradeSchema } from './source-shapes.ts'

/** Land that follows no chain is that of mainnet. */
const MAINNET_CHAIN_ID = 1
const MOST_ORDERS = 1_000
const MOST_RENTALS = 100
const MOST_SKIPPED = 1_000_000
/** Rows of a page that cost a unit. */
const ROWS_PER_UNIT = 25

const CURSOR_ALLOWED = 'the cursor of an answer of this address in the same order'

const address = Type.Optional(Type.String(GIVEN_ADDRESS))
const whole = (minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value })
const limit = (name: string) =>
  Type.Optional(Type.Integer({ title: name, minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const wei = Type.Optional(Type.String({ pattern: '^\\d{1,78}$', 'x-allowed': 'wei: 1 to 78 decimal digits' }))
/** What the public server does not read either, or what no land has. */
const anyText = (options: { readonly deprecated: true; readonly description: string }) =>
  Type.Optional(Type.String({ maxLength: 100, 'x-repeatable': true, ...options }))
/** Each value is compared with each offer. */
const MOST_VALUES = 100
/** One value or several: separated by commas, or the parameter repeated. */
const several = (one: string, allowed: string) =>
  Type.Optional(
    Type.String({
      'x-list': true,
      pattern: `^${one}(?:,${one}){0,${MOST_VALUES - 1}}$`,
      'x-allowed': `1 to ${MOST_VALUES} of ${allowed}, separated by commas`,
    }),
  )
const NFT_ID = '(?:parcel|estate)-0[xX][0-9a-fA-F]{40}-\\d{1,78}'
/** Only programs that were made for the public servers send it: the client has no such parameter. */
const ignored = { deprecated: true, description: 'Ignored.' } as const
const noneListed = { deprecated: true, description: 'None such is listed.' } as const

const common = {
  tokenId: Type.Optional(
    Type.String({
      title: 'SourceTokenId',
      pattern: '^\\d{1,78}$',
      'x-allowed': 'a token id: 1 to 78 decimal digits',
      description: 'Without a contract or category, of a parcel.',
    }),
  ),
  network: oneOf(['ETHEREUM', 'MATIC'], {
    title: 'SourceNetwork',
    default: 'ETHEREUM',
    description: 'MATIC: none such is listed.',
  }),
  cursor: Type.Optional(
    Type.String({
      title: 'SourceCursor',
      pattern: '^[\\w-]{1,400}$',
      'x-allowed': CURSOR_ALLOWED,
      description: 'The cursor of the page before, with the same parameters.',
    }),
  ),
}

const NEWEST: SourceOrder = { by: 'createdAtMs', isAscending: false }
/** Offers here do not change after they were made, and land has no issued ids. */
const ORDERS_SORTS = {
  recently_listed: NEWEST,
  recently_updated: NEWEST,
  oldest: { by: 'createdAtMs', isAscending: true },
  cheapest: { by: 'lowestPrice', isAscending: true },
  issued_id_asc: NEWEST,
  issued_id_desc: NEWEST,
} as const satisfies Readonly<Record<string, SourceOrder>>
const ordersQuery = strictQuery({
  ...common,
  contractAddress: Type.Optional(
    Type.String({ ...GIVEN_ADDRESS, description: 'That of parcels or of estates.' }),
  ),
  marketplaceAddress: address,
  owner: address,
  buyer: Type.Optional(Type.String({ ...GIVEN_ADDRESS, ...noneListed })),
  itemId: anyText(noneListed),
  nftName: anyText(ignored),
  status: oneOf(['open', 'sold', 'cancelled'], {
    title: 'SourceStatus',
    default: 'open',
    description: 'sold, cancelled: none such is listed.',
  }),
  sortBy: oneOf(Object.keys(ORDERS_SORTS) as (keyof typeof ORDERS_SORTS)[], {
    default: 'recently_listed',
    description: 'cheapest: those in dollars last.',
  }),
  first: whole(0, MOST_ORDERS, MOST_ORDERS),
  skip: whole(0, MOST_SKIPPED, 0),
})

/** Those by name, and by times that open offers do not have, are by the time of the offer. */
const RENTALS_SORTS = {
  rental_listing_date: 'createdAtMs',
  land_creation_date: 'createdAtMs',
  rented_date: 'createdAtMs',
  name: 'createdAtMs',
  min_rental_price: 'lowestPrice',
  max_rental_price: 'highestPrice',
} as const satisfies Readonly<Record<string, SourceOrder['by']>>
const rentalsQuery = strictQuery({
  ...common,
  status: wordsQuery(['open', 'cancelled', 'executed', 'claimed'], {
    title: 'RentalListingStatus',
    description: 'open if left out. Other values list nothing.',
  }),
  rentalStatus: anyText(ignored),
  category: Type.Optional(oneOf(ASSET_TYPES)),
  contractAddresses: several('0[xX][0-9a-fA-F]{40}', 'the addresses of contracts'),
  nftIds: several(NFT_ID, 'parcel-<contract>-<token id>, estate-<contract>-<token id>'),
  lessor: address,
  tenant: Type.Optional(Type.String({ ...GIVEN_ADDRESS, ...noneListed })),
  target: Type.Optional(
    Type.String({
      ...GIVEN_ADDRESS,
      ...noneListed,
      description: 'An address other than the zero address lists nothing.',
    }),
  ),
  updatedAfter: limit('UpdatedAfter'),
  minPricePerDay: wei,
  maxPricePerDay: wei,
  rentalDays: several('\\d{1,9}', 'numbers of days'),
  minDistanceToPlaza: limit('MinDistanceToPlaza'),
  maxDistanceToPlaza: limit('MaxDistanceToPlaza'),
  adjacentToRoad: Type.Optional(Type.Boolean()),
  minEstateSize: limit('MinEstateSize'),
  maxEstateSize: limit('MaxEstateSize'),
  text: Type.Optional(
    Type.String({
      pattern: '\\S',
      maxLength: 100,
      'x-allowed': 'text of 1 to 100 characters',
      description: 'As q of /v2/land.',
    }),
  ),
  history: Type.Optional(Type.Boolean({ ...ignored, description: 'Ignored: each open offer is listed.' })),
  sortBy: oneOf(Object.keys(RENTALS_SORTS) as (keyof typeof RENTALS_SORTS)[], {
    default: 'rental_listing_date',
  }),
  sortDirection: oneOf(['asc', 'desc'], { default: 'asc' }),
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
type RentalsQuery = Static<typeof rentalsQuery>

/**
 * Open offers in the shapes of public marketplace and rentals servers, so that programs that read those can read this server, and one
 * Landpass another. Unlike theirs the totals are right, and each page has a cursor.
 * docs/older-services.md has what each of their parameters does.
 */
export const sourceRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
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
    responses: bareSchema(ordersSchema, errors),
  }
  app.get('/orders', { schema: ordersRoute }, async (request, reply) => {
    const { status, network, buyer, itemId, sortBy, first, skip, ...query } = request.query
    request.costAccount?.charge(reply, QUERY_UNITS + first / ROWS_PER_UNIT)
    const order = ORDERS_SORTS[sortBy]
    const behind = readCursor(query.cursor, order, { skip })
    const { worldId } = land.state()
    const nowMs = clock.nowMs()
    const isNoneListed =
      status !== 'open' || network === 'MATIC' || buyer !== undefined || itemId !== undefined
    const types = typesOf(registries, query.contractAddress)
    const page = isNoneListed
      ? NOTHING
      : await openOrders(db, worldId, nowMs, {
          filter: {
            assetTypes: types,
            assets: tokenNames(query.tokenId, query.contractAddress === undefined ? ['parcel'] : types),
            owner: query.owner?.toLowerCase(),
            marketplace: query.marketplaceAddress?.toLowerCase(),
          },
          ...{ ...order, limit: first, offset: skip, behind },
        })
    const shown = await networkOf(worldId)
    const json = JSON.stringify({
      data: page.rows.map((row) => orderJson(row, shown)),
      total: page.total,
      cursor: cursorOf(page, order),
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
        responses: freshSchema(tradeSchema, [...errors, 'publication_not_found']),
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
        responses: freshSchema(rentalListingsSchema, errors),
      },
    },
    async (request, reply) => {
      const { query } = request
      const { limit } = query
      const offset = query.page === undefined ? query.offset : query.page * limit
      const state = land.state()
      const nowMs = clock.nowMs()
      const isNoneListed = isNoRental(query)
      const view = asksForLand(query) && !isNoneListed ? landViewOf(state, registries, nowMs) : undefined
      const searched = view ? findCost(view) : 0
      request.costAccount?.charge(reply, QUERY_UNITS + limit / ROWS_PER_UNIT + searched)
      const order = { by: RENTALS_SORTS[query.sortBy], isAscending: query.sortDirection === 'asc' }
      const behind = readCursor(query.cursor, order, { offset: query.offset, page: query.page })
      const filter = rentalsFilter(query, registries)
      const onMap = view && (await landNames(state, view, query))
      const listed = isNoneListed
        ? NOTHING
        : await openRentals(db, state.worldId, nowMs, {
            filter: { ...filter, assets: commonOf(filter.assets, onMap) },
            ...{ ...order, limit, offset, behind },
          })
      const network = await networkOf(state.worldId)
      const { rows, total } = listed
      const json = JSON.stringify({
        results: rows.map(({ text }) => rentalJson(text, network)),
        ...{ total, page: Math.floor(offset / limit), pages: Math.ceil(total / limit), limit },
        cursor: cursorOf(listed, order),
      })
      return sendJudged(request, reply, { json, judgedAtMs: nowMs })
    },
  )
}

const NOTHING: SourcePage<never> = { rows: [], total: 0, hasMore: false }

/** The kinds of land that a contract has: none for a contract that is no registry of land, all without a contract. */
function typesOf({ land, estate }: Registries, contract: string | undefined): readonly AssetType[] {
  if (contract === undefined) return ASSET_TYPES
  const address = lowerCase(contract)
  return address === land ? ['parcel'] : address === estate ? ['estate'] : []
}

/** What a token id stands for. Where a query names no kind of land, it is that of a parcel. */
function tokenNames(tokenId: string | undefined, types: readonly AssetType[]): readonly string[] | undefined {
  return tokenId === undefined ? undefined : types.flatMap((type) => nameOfToken(type, tokenId))
}

/** `x,y` or `estate:<id>`; nothing for a token that is no parcel of the contract. */
function nameOfToken(type: AssetType, tokenId: string): readonly string[] {
  if (type === 'estate') return [`estate:${BigInt(tokenId)}`]
  const at = decodeTokenId(BigInt(tokenId))
  return at ? [coordText(at)] : []
}

/** Whether a query asks for offers that are never listed here. */
function isNoRental({ status, network, tenant, target }: RentalsQuery): boolean {
  const isOpenMeant = wordsOf(status)?.includes('open') ?? true
  const isPrivate = target !== undefined && BigInt(target) !== 0n
  return !isOpenMeant || network === 'MATIC' || tenant !== undefined || isPrivate
}

/** @throws {AppError} `invalid_parameter` for a lower limit above the upper one */
function rentalsFilter(query: RentalsQuery, registries: Registries): SourceFilter {
  const { category, tokenId, contractAddresses, nftIds, minPricePerDay, maxPricePerDay } = query
  for (const of of ['PricePerDay', 'DistanceToPlaza', 'EstateSize'] as const) {
    const [lowest, highest] = [query[`min${of}`], query[`max${of}`]]
    if (lowest !== undefined && highest !== undefined && BigInt(lowest) > BigInt(highest))
      throw invalidParameter(`min${of}`, lowest, `at most max${of} (${highest})`)
  }
  const contracts = wordsOf(contractAddresses)?.flatMap((contract) => typesOf(registries, contract))
  const assetTypes = ASSET_TYPES.filter(
    (type) => (contracts?.includes(type) ?? true) && (category === undefined || type === category),
  )
  // The number of a token of an estate is that of a parcel too
  const meant: readonly AssetType[] =
    contracts === undefined && category === undefined ? ['parcel'] : assetTypes
  const ofNfts = wordsOf(nftIds)?.flatMap((nft) => {
    const [type, contract, id] = nft.split('-') as [AssetType, string, string]
    return typesOf(registries, contract).includes(type) ? nameOfToken(type, id) : []
  })
  const days = wordsOf(query.rentalDays)?.map(Number)
  const hasPeriod = minPricePerDay !== undefined || maxPricePerDay !== undefined || days !== undefined
  return {
    assetTypes,
    assets: commonOf(tokenNames(tokenId, meant), ofNfts),
    owner: query.lessor?.toLowerCase(),
    createdAfterMs: query.updatedAfter,
    period: hasPeriod ? { minPrice: minPricePerDay, maxPrice: maxPricePerDay, days } : undefined,
  }
}

/** Those of both lists; of the one that is given. */
function commonOf(one: readonly string[] | undefined, other: readonly string[] | undefined) {
  return one && other ? one.filter((name) => other.includes(name)) : (one ?? other)
}

/** Whether a query asks for what only the land on the map has. */
function asksForLand({ adjacentToRoad, text, ...query }: RentalsQuery): boolean {
  const limits = [
    query.minDistanceToPlaza,
    query.maxDistanceToPlaza,
    query.minEstateSize,
    query.maxEstateSize,
  ]
  return [adjacentToRoad, text, ...limits].some((value) => value !== undefined)
}

/** The land with an offer to rent that has the asked size, distances and words. */
async function landNames(state: State, view: LandView, query: RentalsQuery): Promise<readonly string[]> {
  const { minEstateSize, maxEstateSize, adjacentToRoad, text } = query
  const isOfEstates = minEstateSize !== undefined || maxEstateSize !== undefined
  const wanted = {
    status: 'for_rent',
    ...(isOfEstates && { asset_type: 'estate', min_size: minEstateSize, max_size: maxEstateSize }),
    ...{ min_plaza: query.minDistanceToPlaza, max_plaza: query.maxDistanceToPlaza, q: text },
  } as FilterQuery
  const found = await findAssets(state, view, readLandQuery(wanted))
  if (adjacentToRoad !== undefined) {
    const near = await findAssets(state, view, readLandQuery({ max_road: 0 }), found)
    if (adjacentToRoad) found.keep(near)
    else found.deleteAll(near)
  }
  return Array.from(found.list(), (asset) => nameOfNumber(view, asset))
}

function cursorOf({ rows, hasMore }: SourcePage<SourcePlace>, { by, isAscending }: SourceOrder) {
  const last = rows.at(-1)
  if (!hasMore || !last) return null
  return Buffer.from(JSON.stringify([by, isAscending, last.value, last.id])).toString('base64url')
}

const ORDERED_VALUE = /^(?:\d{1,78}(?:\.\d{1,18})?|Infinity)$/

/**
 * @param numbers what says where a page begins instead of a cursor
 * @throws {AppError} `invalid_parameter` also for the cursor of another order, and for one of the numbers beside a cursor
 */
function readCursor(
  cursor: string | undefined,
  order: SourceOrder,
  numbers: Readonly<Record<string, number | undefined>>,
): SourcePlace | undefined {
  if (cursor === undefined) return undefined
  for (const [name, value] of Object.entries(numbers))
    if (value) throw invalidParameter(name, value, '0 or left out beside cursor')
  const [by, isAscending, value, id] = cursorParts(cursor)
  const isOfOrder = by === order.by && isAscending === order.isAscending
  // PostgreSQL refuses a text with NUL.
  if (isOfOrder && ORDERED_VALUE.test(String(value)) && typeof id === 'string' && !id.includes('\0'))
    return { value: String(value), id }
  throw invalidParameter('cursor', cursor, CURSOR_ALLOWED)
}

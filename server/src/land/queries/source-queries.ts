import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetType } from '../records/assets.ts'

/** What a list keeps. Undefined: whatever it is. */
export interface SourceFilter {
  readonly assetTypes: readonly AssetType[]
  /** `x,y` of parcels, `estate:<id>` of estates. */
  readonly assets?: readonly string[] | undefined
  readonly owner?: string | undefined
  readonly marketplace?: string | undefined
  readonly createdAfterMs?: number | undefined
  /** One period of an offer to rent fits. */
  readonly period?: PeriodFilter | undefined
}

export interface PeriodFilter {
  /** For a day, in wei. */
  readonly minPrice: string | undefined
  readonly maxPrice: string | undefined
  /** One of these numbers of days is allowed. */
  readonly days: readonly number[] | undefined
}

/** A column, and its direction; of equal values the id decides. */
export interface SourceOrder {
  readonly by: 'createdAtMs' | 'lowestPrice' | 'highestPrice'
  readonly isAscending: boolean
}

/** Which rows of a list an answer has. */
export interface SourceQuery extends SourceOrder {
  readonly filter: SourceFilter
  readonly limit: number
  readonly offset: number
  /** The place of the row before the first one. */
  readonly behind: SourcePlace | undefined
}

export interface SourcePlace {
  /** The value of the column that orders the list: a number as text. */
  readonly value: string
  readonly id: string
}

/** An open offer to sell, of an order or of a signed trade. */
export interface OpenOrder extends SourcePlace {
  /** '' for an order on the chain. */
  readonly tradeId: string
  readonly marketplace: string
  readonly assetType: AssetType
  readonly assetId: string
  readonly owner: string
  /** Decimal text: MANA, or dollars. */
  readonly price: string
  readonly expiresAtMs: number
  readonly createdAtMs: number
}

/** A signed offer as it was stored: JSON of its checked fields. */
export interface StoredText {
  readonly id: string
  readonly text: string
  readonly state: string
}

/** A part of a list, and how many rows all of it has. */
export interface SourcePage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly hasMore: boolean
}

/**
 * Orders on the chain and signed trades, in MANA and in dollars, that can be accepted at a time. By price those in dollars come last, as
 * what they are in MANA is not known.
 */
export function openOrders(
  db: Db,
  worldId: number,
  nowMs: number,
  query: SourceQuery,
): Promise<SourcePage<OpenOrder>> {
  const open = sql`
    select coalesce(trade_id, contract_id) as id, coalesce(trade_id, '') as "tradeId",
      marketplace_address as marketplace, asset_type as "assetType", asset_id as "assetId", owner,
      price::text as price, expires_at_ms as "expiresAtMs", block_time_created_at_ms as "createdAtMs",
      price as "lowestPrice"
    from publication where world_id = ${worldId} and status = 'open' and expires_at_ms > ${nowMs}
    union all
    select id, id, marketplace, asset_type, asset_id, signer, price::text, expires_at_ms, created_at_ms, 'Infinity'
    from ${shownOffers(worldId, nowMs)} and reading = 'listings' and currency = 'usd'`
  return pageOf(db, open, query)
}

/** Offers to rent that everybody can accept at a time. */
export function openRentals(
  db: Db,
  worldId: number,
  nowMs: number,
  query: SourceQuery,
): Promise<SourcePage<StoredText & SourcePlace>> {
  const open = sql`
    select id, trade as text, signed_trade.state as state, asset_type as "assetType", asset_id as "assetId",
      signer as owner, marketplace, created_at_ms as "createdAtMs", periods, price as "lowestPrice",
      (select max("pricePerDay") from ${PERIODS}) as "highestPrice"
    from ${shownOffers(worldId, nowMs)} and reading = 'rentals'`
  return pageOf(db, open, query)
}

/** A stored trade whose signature is right, in whatever state. */
export async function findTrade(db: Db, worldId: number, id: string): Promise<StoredText | undefined> {
  const { rows } = await sql<StoredText>`
    select id, trade as text, signed_trade.state as state
    from signed_trade join listings_reading on name = reading
    where world_id = ${worldId} and is_shown and reading = 'listings' and is_signed and id = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** The number of the chain that a world follows; undefined where it follows none. */
export async function chainIdOf(db: Db, worldId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('chain_position')
    .select('chain_id')
    .where('world_id', '=', worldId)
    .executeTakeFirst()
  return row?.chain_id
}

function shownOffers(worldId: number, nowMs: number): RawBuilder<unknown> {
  return sql`signed_trade join listings_reading on name = reading
    where world_id = ${worldId} and is_shown and signed_trade.state = 'open' and expires_at_ms > ${nowMs}`
}

/** The periods of an offer to rent, as rows. */
const PERIODS = sql`json_to_recordset(periods::json) as period ("minDays" numeric, "maxDays" numeric, "pricePerDay" numeric)`

async function pageOf<Row>(
  db: Db,
  open: RawBuilder<unknown>,
  { filter, by, isAscending, limit, offset, behind }: SourceQuery,
): Promise<SourcePage<Row & SourcePlace>> {
  const value = sql`${sql.ref(by)}::numeric`
  const order = isAscending ? sql`asc` : sql`desc`
  const place = behind && sql`(${behind.value}::numeric, ${behind.id})`
  const isBehind = place ? sql`(${value}, id) ${isAscending ? sql`>` : sql`<`} ${place}` : sql`true`
  const { rows } = await sql<{ rows: (Row & SourcePlace)[]; total: number }>`
    with kept as (select * from (${open}) as open where ${sql.join(conditionsOf(filter), sql` and `)}), page as (
      select *, ${value}::text as value from kept
      where ${isBehind} order by ${value} ${order}, id ${order} limit ${limit + 1} offset ${offset}
    )
    select (select count(*) from kept)::integer as total,
      (select coalesce(json_agg(page order by value::numeric ${order}, id ${order}), '[]') from page) as rows`.execute(
    db,
  )
  const page = rows[0]!
  return { rows: page.rows.slice(0, limit), total: page.total, hasMore: page.rows.length > limit }
}

function conditionsOf(filter: SourceFilter): readonly RawBuilder<unknown>[] {
  const { assetTypes, assets, owner, marketplace, createdAfterMs, period } = filter
  const name = sql`case "assetType" when 'estate' then 'estate:' || "assetId" else "assetId" end`
  return [
    sql`"assetType" = any(${assetTypes}::text[])`,
    ...(assets ? [sql`${name} = any(${assets}::text[])`] : []),
    ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
    ...(marketplace === undefined ? [] : [sql`marketplace = ${marketplace}`]),
    ...(createdAfterMs === undefined ? [] : [sql`"createdAtMs" > ${createdAfterMs}`]),
    ...(period ? [hasPeriod(period)] : []),
  ]
}

function hasPeriod({ minPrice, maxPrice, days }: PeriodFilter): RawBuilder<unknown> {
  const fits = [
    ...(minPrice === undefined ? [] : [sql`"pricePerDay" >= ${minPrice}::numeric`]),
    ...(maxPrice === undefined ? [] : [sql`"pricePerDay" <= ${maxPrice}::numeric`]),
    ...(days
      ? [
          sql`exists (select from unnest(${days}::numeric[]) as days where days between "minDays" and "maxDays")`,
        ]
      : []),
  ]
  return sql`exists (select from ${PERIODS} where ${sql.join(fits, sql` and `)})`
}

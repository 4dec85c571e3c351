import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName, AssetType } from '../records/assets.ts'

/** What a list keeps, and which of it an answer has. Undefined: whatever it is. */
export interface SourceQuery {
  readonly assetType: AssetType | undefined
  readonly asset: AssetName | undefined
  readonly owner: string | undefined
  /** The newest first; else the oldest. */
  readonly isNewestFirst: boolean
  readonly limit: number
  readonly offset: number
  /** The place of the row before the first one. */
  readonly behind: SourcePlace | undefined
}

export interface SourcePlace {
  readonly createdAtMs: number
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
}

/** A signed offer as it was stored: JSON of its checked fields. */
export interface StoredText extends SourcePlace {
  readonly text: string
  readonly state: string
}

/** A part of a list, and how many rows all of it has. */
export interface SourcePage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** Orders on the chain and signed trades, in MANA and in dollars, that can be accepted at a time. */
export function openOrders(
  db: Db,
  worldId: number,
  nowMs: number,
  query: SourceQuery,
): Promise<SourcePage<OpenOrder>> {
  const open = sql`
    select coalesce(trade_id, contract_id) as id, coalesce(trade_id, '') as "tradeId",
      marketplace_address as marketplace, asset_type as "assetType", asset_id as "assetId", owner,
      price::text as price, expires_at_ms as "expiresAtMs", block_time_created_at_ms as "createdAtMs"
    from publication where world_id = ${worldId} and status = 'open' and expires_at_ms > ${nowMs}
    union all
    select id, id, marketplace, asset_type, asset_id, signer, price::text, expires_at_ms, created_at_ms
    from ${shownOffers(worldId, nowMs)} and reading = 'listings' and currency = 'usd'`
  return pageOf(db, open, query)
}

/** Offers to rent that everybody can accept at a time. */
export function openRentals(
  db: Db,
  worldId: number,
  nowMs: number,
  query: SourceQuery,
): Promise<SourcePage<StoredText & { readonly owner: string }>> {
  const open = sql`
    select id, trade as text, signed_trade.state as state, asset_type as "assetType", asset_id as "assetId",
      signer as owner, created_at_ms as "createdAtMs"
    from ${shownOffers(worldId, nowMs)} and reading = 'rentals'`
  return pageOf(db, open, query)
}

/** A stored trade whose signature is right, in whatever state. */
export async function findTrade(db: Db, worldId: number, id: string): Promise<StoredText | undefined> {
  const { rows } = await sql<StoredText>`
    select id, trade as text, signed_trade.state as state, created_at_ms as "createdAtMs"
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

async function pageOf<Row>(
  db: Db,
  open: RawBuilder<unknown>,
  { assetType, asset, owner, isNewestFirst, limit, offset, behind }: SourceQuery,
): Promise<SourcePage<Row>> {
  const wanted = [
    ...(assetType ? [sql`"assetType" = ${assetType}`] : []),
    ...(asset ? [sql`"assetType" = ${asset.type} and "assetId" = ${asset.id}`] : []),
    ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
    sql`true`,
  ]
  const order = isNewestFirst ? sql`desc` : sql`asc`
  const place = behind && sql`(${behind.createdAtMs}::bigint, ${behind.id})`
  const isBehind = place ? sql`("createdAtMs", id) ${isNewestFirst ? sql`<` : sql`>`} ${place}` : sql`true`
  const { rows } = await sql<SourcePage<Row>>`
    with kept as (select * from (${open}) as open where ${sql.join(wanted, sql` and `)}), page as (
      select * from kept where ${isBehind} order by "createdAtMs" ${order}, id ${order} limit ${limit} offset ${offset}
    )
    select (select count(*) from kept)::integer as total,
      (select coalesce(json_agg(page order by "createdAtMs" ${order}, id ${order}), '[]') from page) as rows`.execute(
    db,
  )
  return rows[0]!
}

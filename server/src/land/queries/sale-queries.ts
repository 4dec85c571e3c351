import type { Coord } from '@landpass/client/grid'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

/** Sales, given by the rows that say so. */
export interface SaleRows {
  /** Keys of publications that were sold, and of bids that were accepted. */
  readonly publications: readonly number[]
  readonly bids: readonly number[]
  /** Places of parcels that were auctioned. */
  readonly parcels: readonly Coord[]
}

/** What a row of the database adds to a sale: where the chain has it, and its price in dollars. Null where that is not known. */
export interface SaleDetails {
  /** What the signed offer that was bought asked, as decimal digits; null where it was in MANA, too. */
  readonly price_usd: string | null
  readonly block_number: number | null
  readonly tx_hash: string | null
  readonly log_index: number | null
}

type Found = SaleDetails & { readonly table: 'publication' | 'bid' | 'parcel' } & {
  /** Null for parcels. */
  readonly key: number | null
  /** Null for all others. */
  readonly x: number | null
  readonly y: number | null
}

/** The details of some sales (at most a page of them), in no particular order: one query for all. */
export async function saleDetails(
  db: Db,
  worldId: number,
  { publications, bids, parcels }: SaleRows,
): Promise<readonly Found[]> {
  const list = (numbers: readonly number[]) => `{${numbers.join(',')}}`
  const keyed = (
    table: 'publication' | 'bid',
    block: string,
    keys: readonly number[],
    dollars: RawBuilder<unknown> = sql`null::text`,
  ) => sql`
    select ${table}::text as "table", key, null::int as x, null::int as y, ${dollars} as price_usd,
      ${sql.ref(block)} as block_number, closed_tx_hash as tx_hash, sold_log_index as log_index
    from ${sql.table(table)} where world_id = ${worldId} and key = any(${list(keys)}::bigint[])`
  const auctioned = sql`
    select 'parcel' as "table", null::bigint as key, x, y, null::text as price_usd,
      auction_block_number as block_number, auction_tx_hash as tx_hash, auction_log_index as log_index
    from parcel where world_id = ${worldId} and (x, y) in (
      select * from unnest(${list(parcels.map(({ x }) => x))}::int[], ${list(parcels.map(({ y }) => y))}::int[]))`
  const selects = [
    ...(publications.length > 0
      ? [keyed('publication', 'sold_block_number', publications, DOLLARS_ASKED)]
      : []),
    ...(bids.length > 0 ? [keyed('bid', 'block_number', bids)] : []),
    ...(parcels.length > 0 ? [auctioned] : []),
  ]
  if (selects.length === 0) return []
  const { rows } = await sql<Found>`${sql.join(selects, sql` union all `)}`.execute(db)
  return rows
}

/** The log of such a sale has the MANA that was paid. Its contract id is the hash of the signature. */
const DOLLARS_ASKED = sql`(
  select price::text from signed_trade where sold_source = 'trade' and reading = 'listings' and is_signed and currency = 'usd'
    and signed_trade.asset_id = publication.asset_id and signed_trade.asset_type = publication.asset_type
    and signature_hash = contract_id and marketplace = marketplace_address and signer = owner limit 1)`

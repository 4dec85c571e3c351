import type { Coord } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

/** Sales, given by the rows that say so. */
export interface SaleRows {
  /** Keys of publications that were sold, and of bids that were accepted. */
  readonly publications: readonly number[]
  readonly bids: readonly number[]
  /** Places of parcels that were auctioned. */
  readonly parcels: readonly Coord[]
}

/** Where the chain has a sale; null where that is not known. */
export interface SaleOnChain {
  readonly block_number: number | null
  readonly tx_hash: string | null
  readonly log_index: number | null
}

type Found = SaleOnChain & { readonly table: 'publication' | 'bid' | 'parcel' } & {
  /** Null for parcels. */
  readonly key: number | null
  /** Null for all others. */
  readonly x: number | null
  readonly y: number | null
}

/** Where the chain has some sales (at most a page of them), in no particular order: one query for all. */
export async function salesOnChain(
  db: Db,
  worldId: number,
  { publications, bids, parcels }: SaleRows,
): Promise<readonly Found[]> {
  const list = (numbers: readonly number[]) => `{${numbers.join(',')}}`
  const keyed = (table: 'publication' | 'bid', block: string, keys: readonly number[]) => sql`
    select ${table}::text as "table", key, null::int as x, null::int as y,
      ${sql.ref(block)} as block_number, closed_tx_hash as tx_hash, sold_log_index as log_index
    from ${sql.table(table)} where world_id = ${worldId} and key = any(${list(keys)}::bigint[])`
  const auctioned = sql`
    select 'parcel' as "table", null::bigint as key, x, y,
      auction_block_number as block_number, auction_tx_hash as tx_hash, auction_log_index as log_index
    from parcel where world_id = ${worldId} and (x, y) in (
      select * from unnest(${list(parcels.map(({ x }) => x))}::int[], ${list(parcels.map(({ y }) => y))}::int[]))`
  const selects = [
    ...(publications.length > 0 ? [keyed('publication', 'sold_block_number', publications)] : []),
    ...(bids.length > 0 ? [keyed('bid', 'block_number', bids)] : []),
    ...(parcels.length > 0 ? [auctioned] : []),
  ]
  if (selects.length === 0) return []
  const { rows } = await sql<Found>`${sql.join(selects, sql` union all `)}`.execute(db)
  return rows
}

import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName } from '../records/assets.ts'
import type { BidTable } from '../records/bid.ts'
import type { ListingStatus } from '../records/statuses.ts'

export interface BidFilter {
  readonly statuses?: readonly ListingStatus[] | undefined
  readonly bidder?: string | undefined
}

/** The bid with an id, if there is one. Of several, which can only be equal bids of one block, the last one. */
export async function findBid(db: Db, worldId: number, id: string): Promise<BidTable | undefined> {
  return db
    .selectFrom('bid')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('id', '=', id)
    .orderBy('key', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** All bids on an asset, newest first. */
export async function bidsOfAsset(
  db: Db,
  worldId: number,
  asset: AssetName,
  filter: BidFilter,
): Promise<BidTable[]> {
  return matching(db, worldId, filter)
    .where('asset_id', '=', asset.id)
    .where('asset_type', '=', asset.type)
    .execute()
}

/** All bids that an address made or received, newest first. */
export async function bidsOfAddress(
  db: Db,
  worldId: number,
  address: string,
  filter: BidFilter,
): Promise<BidTable[]> {
  return matching(db, worldId, filter)
    .where((eb) => eb.or([eb('bidder', '=', address), eb('seller', '=', address)]))
    .execute()
}

/** The next accepted bids behind a key, by their keys; -1 begins. */
export async function salesOfBids(
  db: Db,
  worldId: number,
  lastKey: number,
  limit: number,
): Promise<BidTable[]> {
  return db
    .selectFrom('bid')
    .selectAll()
    .where('world_id', '=', worldId)
    .where(sql<boolean>`status = 'sold'`)
    .where('key', '>', lastKey)
    .orderBy('key')
    .limit(limit)
    .execute()
}

/** Newest first; bids of one block by id. */
function matching(db: Db, worldId: number, { statuses, bidder }: BidFilter) {
  return db
    .selectFrom('bid')
    .selectAll()
    .where('world_id', '=', worldId)
    .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
    .$if(bidder !== undefined, (query) => query.where('bidder', '=', bidder ?? ''))
    .orderBy('block_time_created_at_ms', 'desc')
    .orderBy('id')
}

import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName } from '../records/assets.ts'
import { type AnsweredBid, BID, type BidTable } from '../records/bid.ts'
import { type ListingStatus, STATUSES } from '../records/statuses.ts'

const ANSWERED = sql.raw(BID.answerColumns.join(', '))

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
export function bidsOfAsset(
  db: Db,
  worldId: number,
  { type, id }: AssetName,
  filter: BidFilter,
): Promise<AnsweredBid[]> {
  return matching(db, worldId, sql`asset_id = ${id} and asset_type = ${type}`, filter)
}

/** All bids that an address made or received, newest first. */
export function bidsOfAddress(
  db: Db,
  worldId: number,
  address: string,
  filter: BidFilter,
): Promise<AnsweredBid[]> {
  return matching(db, worldId, sql`(bidder = ${address} or seller = ${address})`, filter)
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
async function matching(
  db: Db,
  worldId: number,
  which: RawBuilder<unknown>,
  { statuses = STATUSES, bidder }: BidFilter,
): Promise<AnsweredBid[]> {
  const madeBy = bidder === undefined ? sql`` : sql`and bidder = ${bidder}`
  const { rows } = await sql<AnsweredBid>`/* prepared */
    select ${ANSWERED} from bid
    where world_id = ${worldId} and ${which} and status = any(${`{${statuses}}`}::text[]) ${madeBy}
    order by block_time_created_at_ms desc, id`.execute(db)
  return rows
}

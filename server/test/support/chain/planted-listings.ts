import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Db } from '../../../src/db/engine.ts'
import type { ListingStatus } from '../../../src/land/records/statuses.ts'

/** What a row says of the life of a listing. */
export interface ListingLife {
  readonly status: ListingStatus
  readonly closed_by: string | null
  readonly block_time_updated_at_ms: number | null
  readonly closed_tx_hash: string | null
}

export interface PlantedListings {
  /**
   * Listings that the marketplace stores, and how they were, without the transaction that moved one of them: they were planted
   * as cancelled for an unknown reason.
   */
  readonly restored: ReadonlyMap<number, ListingLife>
  /** Open listings that the marketplace does not store, and why they must be closed. */
  readonly replaced: ReadonlyMap<number, 'event' | 'replaced'>
}

const UNKNOWN_ID = `0x${'cd'.repeat(32)}`
/** Cancelled listings of assets of which no marketplace stores any. */
const ENDED = `closed_by = 'event' and status = 'cancelled' and not exists (
  select from publication as other where other.world_id = publication.world_id and other.asset_id = publication.asset_id
    and other.asset_type = publication.asset_type and (other.status = 'open' or other.closed_by = 'moved'))`

/** Makes rows of the world that is shown as those of a snapshot that is wrong about them: one of each kind. */
export async function plantListings(db: Db): Promise<PlantedListings> {
  const [open, other] = await keysWhere(db, "status = 'open'")
  const [moved] = await keysWhere(db, "closed_by = 'moved'")
  const [ended] = await keysWhere(db, ENDED)
  const restored = await listingsIn(db, [open!, moved!])
  await change(
    db,
    open!,
    `status = 'cancelled', block_time_updated_at_ms = 5, closed_tx_hash = '${UNKNOWN_ID}'`,
  )
  await change(db, moved!, 'closed_by = null')
  await change(
    db,
    ended!,
    "status = 'open', closed_by = null, closed_tx_hash = null, block_time_updated_at_ms = null",
  )
  await change(db, other!, `contract_id = '${UNKNOWN_ID}'`)
  return {
    restored: new Map([...restored].map(([key, life]) => [key, { ...life, closed_tx_hash: null }])),
    replaced: new Map([
      [ended!, 'event'],
      [other!, 'replaced'],
    ]),
  }
}

/** By key, of the world that is shown. */
export async function listingsIn(db: Db, keys: readonly number[]): Promise<Map<number, ListingLife>> {
  const rows = await db
    .selectFrom('publication')
    .innerJoin('land_state', 'land_state.world_id', 'publication.world_id')
    .select(['key', 'status', 'closed_by', 'block_time_updated_at_ms', 'closed_tx_hash'])
    .where('key', 'in', keys)
    .orderBy('key')
    .execute()
  return new Map(rows.map(({ key, ...life }) => [key, life]))
}

async function keysWhere(db: Db, where: string): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`
    select key from publication join land_state using (world_id) where ${sql.raw(where)} order by key limit 2`.execute(
    db,
  )
  expect(rows.length, where).toBeGreaterThan(0)
  return rows.map(({ key }) => key)
}

async function change(db: Db, key: number, columns: string): Promise<void> {
  await sql`update publication set ${sql.raw(columns)} from land_state
    where land_state.world_id = publication.world_id and key = ${key}`.execute(db)
}

import { sql, type Updateable } from 'kysely'
import type { Db } from '../db/engine.ts'
import type { BidTable, EstateTable, ListingStatus, ParcelTable, PublicationTable } from '../db/schema.ts'
import { inTransaction, type Tx } from '../db/transaction.ts'
import { LAND_CHANNEL } from './land-state.ts'

type WithoutKeys<Row> = Omit<Row, 'world_id' | 'key'>
type ParcelFacts = Omit<ParcelTable, 'world_id' | 'x' | 'y'>
type EstateFacts = Omit<EstateTable, 'world_id' | 'id'>

/** What can happen to the land, apart from an import. */
export type LandChange =
  | {
      readonly kind: 'change-parcel'
      readonly x: number
      readonly y: number
      readonly to: Partial<ParcelFacts>
    }
  | { readonly kind: 'change-estate'; readonly id: string; readonly to: Partial<EstateFacts> }
  | { readonly kind: 'open-publication'; readonly publication: WithoutKeys<PublicationTable> }
  | { readonly kind: 'close-publication'; readonly key: number; readonly to: Closing }
  | { readonly kind: 'place-bid'; readonly bid: WithoutKeys<BidTable> }
  | { readonly kind: 'close-bid'; readonly id: string; readonly to: Pick<Closing, 'status' | 'atMs'> }

export interface Closing {
  readonly status: Exclude<ListingStatus, 'open'>
  readonly buyer: string | null
  /** Time of the block in which it happened. */
  readonly atMs: number
}

/**
 * The one door for changes of the land: all of `changes` and the next revision in one transaction, or nothing.
 * Readers of every process hear of it after the commit.
 *
 * @returns the new revision
 */
export function applyLandChanges(db: Db, changes: readonly LandChange[], nowMs: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    // The row is held until the commit: two writers take turns, and revisions have no gaps.
    const { world_id } = await tx
      .selectFrom('land_state')
      .select('world_id')
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (world_id === null) throw new Error('there is no world to change yet')
    for (const change of changes) await apply(tx, world_id, change)
    const { revision } = await tx
      .updateTable('land_state')
      .set((eb) => ({ revision: eb('revision', '+', 1), changed_at_ms: nowMs }))
      .returning('revision')
      .executeTakeFirstOrThrow()
    await sql`select pg_notify(${LAND_CHANNEL}, ${String(revision)})`.execute(tx)
    return revision
  })
}

async function apply(tx: Tx, worldId: number, change: LandChange): Promise<void> {
  switch (change.kind) {
    case 'change-parcel':
      return changeParcel(tx, worldId, change)
    case 'change-estate':
      return changeEstate(tx, worldId, change)
    case 'open-publication':
      return openPublication(tx, worldId, change.publication)
    case 'close-publication':
      return closePublication(tx, worldId, change.key, change.to)
    case 'place-bid':
      return placeBid(tx, worldId, change.bid)
    case 'close-bid':
      return closeBid(tx, worldId, change.id, change.to)
  }
}

async function changeParcel(
  tx: Tx,
  worldId: number,
  { x, y, to }: Extract<LandChange, { kind: 'change-parcel' }>,
): Promise<void> {
  await tx
    .updateTable('parcel')
    .set(to satisfies Updateable<ParcelTable>)
    .where('world_id', '=', worldId)
    .where('x', '=', x)
    .where('y', '=', y)
    .execute()
}

async function changeEstate(
  tx: Tx,
  worldId: number,
  { id, to }: Extract<LandChange, { kind: 'change-estate' }>,
): Promise<void> {
  await tx.updateTable('estate').set(to).where('world_id', '=', worldId).where('id', '=', id).execute()
}

async function openPublication(tx: Tx, worldId: number, row: WithoutKeys<PublicationTable>): Promise<void> {
  const key = await nextKey(tx, 'publication', worldId)
  await tx
    .insertInto('publication')
    .values({ ...row, world_id: worldId, key })
    .execute()
}

async function closePublication(tx: Tx, worldId: number, key: number, to: Closing): Promise<void> {
  await tx
    .updateTable('publication')
    .set({ status: to.status, buyer: to.buyer, block_time_updated_at_ms: to.atMs, updated_at_ms: to.atMs })
    .where('world_id', '=', worldId)
    .where('key', '=', key)
    .execute()
}

async function placeBid(tx: Tx, worldId: number, row: WithoutKeys<BidTable>): Promise<void> {
  const key = await nextKey(tx, 'bid', worldId)
  await tx
    .insertInto('bid')
    .values({ ...row, world_id: worldId, key })
    .execute()
}

async function closeBid(
  tx: Tx,
  worldId: number,
  id: string,
  { status, atMs }: Pick<Closing, 'status' | 'atMs'>,
): Promise<void> {
  await tx
    .updateTable('bid')
    .set({ status, block_time_updated_at_ms: atMs, updated_at_ms: atMs })
    .where('world_id', '=', worldId)
    .where('id', '=', id)
    .execute()
}

/** Writers take turns (see above), so the highest key cannot move between the question and the insert. */
async function nextKey(tx: Tx, table: 'publication' | 'bid', worldId: number): Promise<number> {
  const { last } = await tx
    .selectFrom(table)
    .select((eb) => eb.fn.max('key').as('last'))
    .where('world_id', '=', worldId)
    .executeTakeFirstOrThrow()
  return Number(last ?? -1) + 1
}

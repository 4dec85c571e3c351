import { coordText } from '@landpass/client/grid'
import { type Insertable, sql, type Updateable } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import type { BidTable } from '../records/bid.ts'
import type { EstateTable } from '../records/estate.ts'
import type { ParcelTable } from '../records/parcel.ts'
import type { PublicationTable } from '../records/publication.ts'
import type { ListingStatus } from '../records/statuses.ts'
import { ChangedSubjects, writeJournal } from './change-journal.ts'
import { LAND_CHANNEL } from './land-head.ts'

type WithoutKeys<Row> = Omit<Row, 'world_id' | 'key'>
/** Columns that may be null may be left out. */
type NewEstate = Omit<Insertable<EstateTable>, 'world_id'>
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
  | { readonly kind: 'create-estate'; readonly estate: NewEstate }
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
 * The only function that changes the land apart from an import. All of `changes`, the next revision and its entry in
 * the journal are committed in one transaction. The commit notifies the readers in every process.
 *
 * @returns the new revision
 */
export function applyLandChanges(db: Db, changes: readonly LandChange[], nowMs: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    // The row is locked until the commit: writers run one after another, and revisions have no gaps.
    const { world_id } = await tx
      .selectFrom('land_state')
      .select('world_id')
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (world_id === null) throw new Error('there is no world to change yet')
    const at = { tx, worldId: world_id, subjects: new ChangedSubjects() }
    for (const change of changes) await apply(at, change)
    const { revision } = await tx
      .updateTable('land_state')
      .set((eb) => ({ revision: eb('revision', '+', 1), changed_at_ms: nowMs }))
      .returning('revision')
      .executeTakeFirstOrThrow()
    await writeJournal(tx, { worldId: world_id, revision, changedAtMs: nowMs }, at.subjects)
    await sql`select pg_notify(${LAND_CHANNEL}, ${String(revision)})`.execute(tx)
    return revision
  })
}

/** The transaction and world in which a change is made, and the subjects that it changed. */
interface Place {
  readonly tx: Tx
  readonly worldId: number
  readonly subjects: ChangedSubjects
}

type Change<Kind extends LandChange['kind']> = Extract<LandChange, { kind: Kind }>

async function apply(at: Place, change: LandChange): Promise<void> {
  switch (change.kind) {
    case 'change-parcel':
      return changeParcel(at, change)
    case 'create-estate':
      return createEstate(at, change.estate)
    case 'change-estate':
      return changeEstate(at, change)
    case 'open-publication':
      return openPublication(at, change.publication)
    case 'close-publication':
      return closePublication(at, change)
    case 'place-bid':
      return placeBid(at, change.bid)
    case 'close-bid':
      return closeBid(at, change)
  }
}

async function changeParcel(
  { tx, worldId, subjects }: Place,
  { x, y, to }: Change<'change-parcel'>,
): Promise<void> {
  const before = await tx
    .selectFrom('parcel')
    .select('estate_id')
    .where('world_id', '=', worldId)
    .where('x', '=', x)
    .where('y', '=', y)
    .executeTakeFirst()
  if (!before) return
  const { estate_id } = await tx
    .updateTable('parcel')
    .set(to satisfies Updateable<ParcelTable>)
    .where('world_id', '=', worldId)
    .where('x', '=', x)
    .where('y', '=', y)
    .returning('estate_id')
    .executeTakeFirstOrThrow()
  subjects.add('parcel', coordText({ x, y }))
  const isOfEstate = to.estate_id !== undefined || to.estate_position !== undefined
  // The estate that it left and the one that it joined show their parcels, each in its own order.
  if (isOfEstate) for (const id of [before.estate_id, estate_id]) if (id !== null) subjects.add('estate', id)
  // What the tags of its parcels name makes a district a road or a plaza, and with it all others of that district.
  if (to.road_district_id !== undefined || to.plaza_district_id !== undefined) subjects.addEverything()
}

async function createEstate(
  { tx, worldId, subjects }: Place,
  row: Change<'create-estate'>['estate'],
): Promise<void> {
  await tx
    .insertInto('estate')
    .values({ ...row, world_id: worldId })
    .execute()
  subjects.add('estate', row.id)
}

async function changeEstate(
  { tx, worldId, subjects }: Place,
  { id, to }: Change<'change-estate'>,
): Promise<void> {
  await tx.updateTable('estate').set(to).where('world_id', '=', worldId).where('id', '=', id).execute()
  subjects.add('estate', id)
}

async function openPublication(
  { tx, worldId, subjects }: Place,
  row: Change<'open-publication'>['publication'],
): Promise<void> {
  const key = await nextKey(tx, 'publication', worldId)
  await tx
    .insertInto('publication')
    .values({ ...row, world_id: worldId, key })
    .execute()
  subjects.add('publication', String(key))
}

async function closePublication(
  { tx, worldId, subjects }: Place,
  { key, to }: Change<'close-publication'>,
): Promise<void> {
  await tx
    .updateTable('publication')
    .set({ status: to.status, buyer: to.buyer, block_time_updated_at_ms: to.atMs, updated_at_ms: to.atMs })
    .where('world_id', '=', worldId)
    .where('key', '=', key)
    .execute()
  subjects.add('publication', String(key))
}

async function placeBid({ tx, worldId }: Place, row: Change<'place-bid'>['bid']): Promise<void> {
  const key = await nextKey(tx, 'bid', worldId)
  await tx
    .insertInto('bid')
    .values({ ...row, world_id: worldId, key })
    .execute()
}

async function closeBid({ tx, worldId }: Place, { id, to }: Change<'close-bid'>): Promise<void> {
  await tx
    .updateTable('bid')
    .set({ status: to.status, block_time_updated_at_ms: to.atMs, updated_at_ms: to.atMs })
    .where('world_id', '=', worldId)
    .where('id', '=', id)
    .execute()
}

/** The row lock of {@link applyLandChanges} keeps other writers from using the same key before the insert. */
async function nextKey(tx: Tx, table: 'publication' | 'bid', worldId: number): Promise<number> {
  const { last } = await tx
    .selectFrom(table)
    .select((eb) => eb.fn.max('key').as('last'))
    .where('world_id', '=', worldId)
    .executeTakeFirstOrThrow()
  return Number(last ?? -1) + 1
}

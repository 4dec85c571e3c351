import type { Insertable } from 'kysely'
import type { Db } from '../../../src/db/engine.ts'
import { inTransaction, type Tx } from '../../../src/db/transaction.ts'
import { writeChange } from '../../../src/land/changes/changes.ts'
import { readLandHead } from '../../../src/land/changes/land-head.ts'
import { TableRows } from '../../../src/land/changes/table-rows.ts'
import type { EstateRow } from '../../../src/land/events/land-rows.ts'
import { findBid } from '../../../src/land/queries/bid-queries.ts'
import type { BidTable } from '../../../src/land/records/bid.ts'
import type { EstateTable } from '../../../src/land/records/estate.ts'
import type { ParcelTable } from '../../../src/land/records/parcel.ts'
import type { PublicationTable } from '../../../src/land/records/publication.ts'
import type { ListingStatus } from '../../../src/land/records/statuses.ts'

type WithoutKeys<Row> = Omit<Row, 'world_id' | 'key'>
/** Columns that may be null may be left out. */
type NewEstate = Omit<Insertable<EstateTable>, 'world_id'>
type ParcelFacts = Omit<ParcelTable, 'world_id' | 'x' | 'y'>
type EstateFacts = Omit<EstateTable, 'world_id' | 'id'>

/** A change of single columns, whether or not the chain could bring it about. */
export type LandChange =
  | {
      readonly kind: 'change-parcel'
      readonly x: number
      readonly y: number
      readonly to: Partial<ParcelFacts>
    }
  | { readonly kind: 'create-estate'; readonly estate: NewEstate }
  | { readonly kind: 'change-estate'; readonly id: string; readonly to: Partial<EstateFacts> }
  | { readonly kind: 'remove-estate'; readonly id: string }
  | { readonly kind: 'open-publication'; readonly publication: WithoutKeys<PublicationTable> }
  | { readonly kind: 'close-publication'; readonly key: number; readonly to: Closing }
  | { readonly kind: 'remove-publication'; readonly key: number }
  | { readonly kind: 'place-bid'; readonly bid: WithoutKeys<BidTable> }
  | { readonly kind: 'close-bid'; readonly id: string; readonly to: Pick<Closing, 'status' | 'atMs'> }

export interface Closing {
  readonly status: Exclude<ListingStatus, 'open'>
  readonly buyer: string | null
  readonly atMs: number
}

/**
 * Changes rows of the world that is shown, within the caller's transaction.
 *
 * @param work gets the rows, and puts and removes some
 * @example
 * await inTransaction(db, (tx) => changeLand(tx, clock.nowMs(), async (rows) => {
 *   const parcel = await rows.parcel({ x: 1, y: 2 })
 *   if (parcel) rows.put('parcel', { ...parcel, owner: null })
 * }))
 */
export async function changeLand(
  tx: Tx,
  nowMs: number,
  work: (rows: TableRows) => Promise<void>,
): Promise<void> {
  // The row is locked until the commit: writers run one after another, and revisions have no gaps.
  const { world_id: worldId, revision } = await tx
    .selectFrom('land_state')
    .select(['world_id', 'revision'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (worldId === null) throw new Error('there is no world to change yet')
  const rows = new TableRows(tx, worldId)
  await work(rows)
  await writeChange(tx, rows, { revision, nowMs })
}

/** Commits changes in one transaction, by the same code as everything else. @returns the revision after it */
export function applyLandChanges(db: Db, changes: readonly LandChange[], nowMs: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    await changeLand(tx, nowMs, async (rows) => {
      for (const change of changes) await apply(tx, rows, change)
    })
    return (await readLandHead(tx)).revision
  })
}

async function apply(tx: Tx, rows: TableRows, change: LandChange): Promise<void> {
  switch (change.kind) {
    case 'change-parcel': {
      const parcel = await rows.parcel(change)
      if (parcel) rows.put('parcel', { ...parcel, ...change.to })
      break
    }
    case 'create-estate':
      rows.put('estate', { ...NO_ESTATE_FACTS, ...change.estate })
      break
    case 'change-estate': {
      const estate = await rows.estate(change.id)
      if (estate) rows.put('estate', { ...estate, ...change.to })
      break
    }
    case 'remove-estate': {
      const estate = await rows.estate(change.id)
      if (estate) rows.remove('estate', estate)
      break
    }
    case 'open-publication':
      rows.put('publication', { ...change.publication, key: await rows.nextKey('publication') })
      break
    case 'close-publication': {
      const publication = await rows.find('publication', { key: change.key })
      const { status, buyer, atMs } = change.to
      const to = { status, buyer, block_time_updated_at_ms: atMs, updated_at_ms: atMs }
      if (publication) rows.put('publication', { ...publication, ...to })
      break
    }
    case 'remove-publication': {
      const publication = await rows.find('publication', { key: change.key })
      if (publication) rows.remove('publication', publication)
      break
    }
    case 'place-bid':
      rows.put('bid', { ...change.bid, key: await rows.nextKey('bid') })
      break
    case 'close-bid': {
      const { status, atMs } = change.to
      const to = { status, block_time_updated_at_ms: atMs, updated_at_ms: atMs }
      const { worldId } = rows
      const stored = await findBid(tx, worldId, change.id)
      const bid = stored && (await rows.find('bid', stored))
      if (bid) rows.put('bid', { ...bid, ...to })
    }
  }
}

const NO_ESTATE_FACTS = {
  operator: null,
  update_operator: null,
  name: null,
  description: null,
  ipns: null,
  district_id: null,
  approvals_for_all: null,
  update_managers: null,
  data_text: null,
  holder: null,
  tenant: null,
  rented_until_ms: null,
  fingerprint: null,
  registry_order: null,
} satisfies Partial<EstateRow>

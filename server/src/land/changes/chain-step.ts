import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { LandEvent } from '../events/land-event.ts'
import type { EventTable } from '../events/land-rows.ts'
import {
  BLOCK_JSON,
  type BlockId,
  blockWrites,
  PositionMovedError,
  type StoredBlock,
  type StoredBlockJson,
  storedBlockOf,
} from './chain-position.ts'
import { type ApplyEvent, writeChange } from './changes.ts'
import type { RowKey } from './event-tables.ts'
import { judgeChangedOffers, NOTHING_JUDGED } from './signed-offers.ts'
import { TableRows } from './table-rows.ts'
import type { Write } from './write-rows.ts'

/** A block whose events are not in the tables yet. */
export interface NewBlock extends StoredBlock {
  readonly events: readonly LandEvent[]
}

/** What one transaction does to a world that follows the chain. */
export interface ChainStep {
  readonly worldId: number
  readonly epoch: number
  /** The block at which the world must stand: what the step was made for. */
  readonly from: BlockId
  /** Undo all blocks above this one first, which is one of the position's. Undefined where none is undone. */
  readonly undoTo?: BlockId | undefined
  /** Then apply these, in their order. Only final ones may leave out blocks between them: those without events. */
  readonly blocks: readonly NewBlock[]
  /** Then the last final block is this one: what it and those before it changed cannot be undone any more. */
  readonly finalized: BlockId
  /** Renews the lease of the process that leads with this epoch; undefined: it stays. */
  readonly lease?: StepLease | undefined
}

export interface StepLease {
  /** The process that has it. */
  readonly holder: string
  readonly untilMs: number
  /** What the process says of itself. */
  readonly status: string
}

/**
 * Moves a world along the chain, within the caller's transaction: rows, images of the rows for undoing, position,
 * journal and revision are committed together, or not at all. Undone and new blocks make one revision: no reader sees
 * what lies between. A step without any visible change moves the position alone.
 *
 * @throws {PositionMovedError} where the world, its leader or its block is not the expected one
 */
export async function followChain(
  tx: Tx,
  step: ChainStep,
  { nowMs, apply }: { readonly nowMs: number; readonly apply: ApplyEvent },
): Promise<void> {
  const locked = await lockPosition(tx, step)
  const ancestor = step.undoTo && ancestorOf(step.undoTo, locked)
  assertLinked(ancestor ?? step.from, step, locked.finalized.number)
  const rows = new TableRows(tx, step.worldId)
  if (ancestor) await undoBlocks(tx, rows, ancestor)
  await rows.readAhead(step.blocks.flatMap(({ events }) => events))
  for (const block of step.blocks) {
    rows.beginBlock(block.number > step.finalized.number ? block.number : undefined)
    for (const event of block.events) await apply(rows, event)
  }
  const position = positionWrites(step, locked, step.blocks.at(-1) ?? ancestor)
  const { writes, reoffered } = locked.hasOffers ? await judgeChangedOffers(tx, rows, nowMs) : NOTHING_JUDGED
  await writeChange(tx, rows, {
    ...{ revision: locked.revision, nowMs, reoffered },
    writes: [...position, ...writes],
  })
}

/** Where the world is, as a step finds it. */
interface Locked {
  readonly revision: number
  /** The last final block so far. */
  readonly finalized: BlockId
  /** Those of the world that the step names. */
  readonly blocks: readonly StoredBlock[]
  /** Whether offers that were signed off the chain are judged in this world. */
  readonly hasOffers: boolean
}

interface LockedRow {
  readonly shown: number | null
  readonly revision: number
  readonly position: {
    readonly epoch: number
    readonly block_number: number
    readonly block_hash: string
    readonly finalized_number: number
    readonly finalized_hash: string
    readonly holder: string | null
  } | null
  readonly blocks: readonly StoredBlockJson[]
  readonly hasOffers: boolean
}

/**
 * Compares the position with what the step was made for. Its row and that of the head are locked until the commit: steps
 * run one after another, and revisions have no gaps.
 *
 * The rows of `chain_block` are not locked: where the statement waits for a lock, it still reads them as they were before the
 * wait, with blocks that another step has deleted meanwhile because later ones are final. The locked position says which.
 *
 * @throws {PositionMovedError} where the position is another one, or the step names a block below the last final one
 */
async function lockPosition(tx: Tx, step: ChainStep): Promise<Locked> {
  const { worldId, epoch, from, undoTo, finalized, lease } = step
  const numbers = [finalized.number, ...(undoTo ? [undoTo.number] : [])]
  const { rows } = await sql<LockedRow>`
    with head as (select world_id, revision from land_state for update),
      position as (select * from chain_position where world_id = (select world_id from head) for update)
    select head.world_id as shown, head.revision, to_json(position) as position, (
        select coalesce(json_agg(${BLOCK_JSON}), '[]') from chain_block
        where chain_block.world_id = head.world_id and number = any(${`{${numbers.join(',')}}`}::bigint[])
      ) as blocks,
      exists (select from listings_reading where listings_reading.world_id = head.world_id) as "hasOffers"
    from head left join position on true`.execute(tx)
  const { shown, revision, position, blocks, hasOffers } = rows[0]!
  if (shown !== worldId)
    throw new PositionMovedError('another world', `world ${shown} is shown, and this is for world ${worldId}`)
  if (!position) throw new PositionMovedError('not followed', `world ${worldId} has no position`)
  if (position.epoch !== epoch || (lease && position.holder !== lease.holder))
    throw new PositionMovedError(
      'another leader',
      `${position.holder ?? 'another process'} leads with epoch ${position.epoch}, and this is for epoch ${epoch}`,
    )
  if (position.block_number !== from.number || position.block_hash !== from.hash)
    throw new PositionMovedError(
      'another block',
      `the world is at block ${position.block_number} (${position.block_hash}), and this is for block ${from.number} (${from.hash})`,
    )
  const lowest = Math.min(...numbers)
  if (lowest < position.finalized_number)
    throw new PositionMovedError(
      'another block',
      `block ${position.finalized_number} and those before it are final, and this is for block ${lowest}`,
    )
  return {
    revision,
    finalized: { number: position.finalized_number, hash: position.finalized_hash },
    blocks: blocks.map(storedBlockOf),
    hasOffers,
  }
}

/** @throws {PositionMovedError} where the block is not one of the world's */
function ancestorOf({ number, hash }: BlockId, { blocks }: Locked): StoredBlock {
  const block = blocks.find((one) => one.number === number && one.hash === hash)
  if (block) return block
  throw new PositionMovedError('another block', `block ${number} (${hash}) is not one of the world's`)
}

/** Puts the rows back as they were after a block, and deletes the later blocks with their images. */
async function undoBlocks(tx: Tx, rows: TableRows, { number }: BlockId): Promise<void> {
  // The first of several images of a row is how the row was before all of these blocks.
  const { rows: images } = await sql<UndoImage>`
    with undone as (delete from chain_block where world_id = ${rows.worldId} and number > ${number}),
      image as (
        delete from chain_undo where world_id = ${rows.worldId} and block_number > ${number}
        returning block_number, table_name, key, before
      )
    select distinct on (table_name, key) table_name as "table", key, before from image
    order by table_name, key, block_number`.execute(tx)
  const tables = new Set(images.map(({ table }) => table))
  const keysOf = (table: EventTable) => images.flatMap((image) => (image.table === table ? [image.key] : []))
  await rows.readRows(new Map([...tables].map((table) => [table, keysOf(table)])))
  for (const { table, key, before } of images) rows.restore(table, key, before)
}

interface UndoImage {
  readonly table: EventTable
  readonly key: RowKey
  readonly before: object | null
}

/**
 * Blocks may only be left out after a block that is final: nothing else shows that both are of one branch.
 *
 * @throws {RangeError} for blocks that do not follow each other: that would be an error of the follower
 */
function assertLinked(start: BlockId, { blocks, finalized }: ChainStep, finalBefore: number): void {
  let last = start
  for (const block of blocks) {
    const isNext = block.number === last.number + 1 && block.parentHash === last.hash
    const isAfterFinal = last !== start || start.number <= finalBefore
    const isFinal = isAfterFinal && block.number <= finalized.number && block.number > last.number
    if (!isNext && !isFinal)
      throw new RangeError(
        `block ${block.number} (parent ${block.parentHash}) does not follow block ${last.number} (${last.hash})`,
      )
    last = block
  }
  if (finalized.number > last.number)
    throw new RangeError(
      `block ${finalized.number} cannot be the last final one: the world is at ${last.number}`,
    )
}

/**
 * The parts of a statement that move the position to `last` (undefined: it stays), and delete what undoing needs of blocks
 * that are final now.
 *
 * @throws {PositionMovedError} where the final block is not one of the world's
 */
function positionWrites(
  { worldId, undoTo, blocks, finalized, lease }: ChainStep,
  { finalized: finalBefore, blocks: stored }: Locked,
  last: StoredBlock | undefined,
): Write[] {
  const kept = blocks.filter(({ number }) => number >= finalized.number)
  const isFinalSame = finalized.number === finalBefore.number && finalized.hash === finalBefore.hash
  const isOfWorld = ({ number, hash }: BlockId) => number === finalized.number && hash === finalized.hash
  const staying = stored.filter(({ number }) => !undoTo || number <= undoTo.number)
  if (!isFinalSame && ![...kept, ...staying].some(isOfWorld))
    throw new PositionMovedError(
      'another block',
      `block ${finalized.number} (${finalized.hash}) is not one of the world's, so it cannot be its last final one`,
    )
  const moved = last
    ? sql`, block_number = ${last.number}, block_hash = ${last.hash}, block_time_s = ${last.timeS}`
    : sql``
  const renewed = lease ? sql`, lease_until_ms = ${lease.untilMs}, status = ${lease.status}` : sql``
  const position = sql`update chain_position
    set finalized_number = ${finalized.number}, finalized_hash = ${finalized.hash}${moved}${renewed}
    where world_id = ${worldId}`
  const past = [
    sql`delete from chain_block where world_id = ${worldId} and number < ${finalized.number}`,
    sql`delete from chain_undo where world_id = ${worldId} and block_number <= ${finalized.number}`,
  ]
  return [
    ...blockWrites(worldId, kept),
    ...[position, ...(isFinalSame ? [] : past)].map((part) => ({ sql: part, rows: 1 })),
  ]
}

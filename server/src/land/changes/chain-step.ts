import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { LandEvent } from '../events/land-event.ts'
import type { EventTable } from '../events/land-rows.ts'
import { type BlockId, insertBlocks, PositionMovedError, type StoredBlock } from './chain-position.ts'
import { type ApplyEvent, type Change, changeLand } from './changes.ts'
import type { RowKey } from './event-tables.ts'
import type { TableRows } from './table-rows.ts'

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
}

/**
 * Moves a world along the chain, within the caller's transaction: rows, images of the rows for undoing, position,
 * journal and revision are committed together, or not at all. Undone and new blocks make one revision: no reader sees
 * what lies between. A step without any visible change moves the position alone.
 *
 * @throws {PositionMovedError} where the world, its leader or its block is not the expected one
 */
export function followChain(
  tx: Tx,
  step: ChainStep,
  { nowMs, apply }: { readonly nowMs: number; readonly apply: ApplyEvent },
): Promise<Change> {
  return changeLand(tx, nowMs, async (rows) => {
    const finalBefore = await lockPosition(tx, rows.worldId, step)
    const ancestor = step.undoTo ? await undoBlocks(tx, rows, step.undoTo) : undefined
    assertLinked(ancestor ?? step.from, step, finalBefore.number)
    await rows.readAhead(step.blocks.flatMap(({ events }) => events))
    for (const block of step.blocks) {
      rows.beginBlock(block.number > step.finalized.number ? block.number : undefined)
      for (const event of block.events) await apply(rows, event)
    }
    await movePosition(tx, step, { finalBefore, last: step.blocks.at(-1) ?? ancestor })
  })
}

/**
 * Compares the position with what the step was made for. The row is locked until the commit.
 *
 * @returns the last final block so far
 */
async function lockPosition(tx: Tx, shown: number, { worldId, epoch, from }: ChainStep): Promise<BlockId> {
  if (shown !== worldId)
    throw new PositionMovedError('another world', `world ${shown} is shown, and this is for world ${worldId}`)
  const stored = await tx
    .selectFrom('chain_position')
    .select(['epoch', 'block_number', 'block_hash', 'finalized_number', 'finalized_hash', 'holder'])
    .where('world_id', '=', worldId)
    .forUpdate()
    .executeTakeFirst()
  if (!stored) throw new PositionMovedError('not followed', `world ${worldId} has no position`)
  if (stored.epoch !== epoch)
    throw new PositionMovedError(
      'another leader',
      `${stored.holder ?? 'another process'} leads with epoch ${stored.epoch}, and this is for epoch ${epoch}`,
    )
  if (stored.block_number !== from.number || stored.block_hash !== from.hash)
    throw new PositionMovedError(
      'another block',
      `the world is at block ${stored.block_number} (${stored.block_hash}), and this is for block ${from.number} (${from.hash})`,
    )
  return { number: stored.finalized_number, hash: stored.finalized_hash }
}

/** Puts the rows back as they were after a block, and deletes the later blocks. Their images go with them. */
async function undoBlocks(tx: Tx, rows: TableRows, to: BlockId): Promise<StoredBlock> {
  const block = await tx
    .selectFrom('chain_block')
    .selectAll()
    .where('world_id', '=', rows.worldId)
    .where('number', '=', to.number)
    .executeTakeFirst()
  if (block?.hash !== to.hash)
    throw new PositionMovedError('another block', `block ${to.number} (${to.hash}) is not one of the world's`)
  // Of several images of a row the first is how the row was before all of these blocks.
  const { rows: images } = await sql<UndoImage>`
    select distinct on (table_name, key) table_name as "table", key, before from chain_undo
    where world_id = ${rows.worldId} and block_number > ${to.number}
    order by table_name, key, block_number`.execute(tx)
  const tables = new Set(images.map(({ table }) => table))
  for (const table of tables) {
    const keys = images.filter((image) => image.table === table).map(({ key }) => key)
    await rows.readRows(table, keys)
  }
  for (const { table, key, before } of images) rows.restore(table, key, before)
  for (const [table, column] of [
    ['chain_undo', 'block_number'],
    ['chain_block', 'number'],
  ] as const)
    await sql`delete from ${sql.table(table)}
      where world_id = ${rows.worldId} and ${sql.ref(column)} > ${to.number}`.execute(tx)
  return {
    ...to,
    parentHash: block.parent_hash,
    timeS: block.time_s,
    logsDigest: block.logs_digest ?? undefined,
  }
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

interface Moved {
  readonly finalBefore: BlockId
  /** The block at which the world is now; undefined where that has not changed. */
  readonly last: StoredBlock | undefined
}

async function movePosition(
  tx: Tx,
  { worldId, blocks, finalized }: ChainStep,
  { finalBefore, last }: Moved,
): Promise<void> {
  await insertBlocks(
    tx,
    worldId,
    blocks.filter(({ number }) => number >= finalized.number),
  )
  const isFinalSame = finalized.number === finalBefore.number && finalized.hash === finalBefore.hash
  if (!isFinalSame) await finalize(tx, worldId, finalized)
  await tx
    .updateTable('chain_position')
    .set({
      finalized_number: finalized.number,
      finalized_hash: finalized.hash,
      ...(last && { block_number: last.number, block_hash: last.hash, block_time_s: last.timeS }),
    })
    .where('world_id', '=', worldId)
    .execute()
}

/**
 * Deletes what undoing needs of this block and of those before it: they are final now.
 *
 * @throws {PositionMovedError} where it is not a block of the world
 */
async function finalize(tx: Tx, worldId: number, finalized: BlockId): Promise<void> {
  const final = await tx
    .selectFrom('chain_block')
    .select('hash')
    .where('world_id', '=', worldId)
    .where('number', '=', finalized.number)
    .executeTakeFirst()
  if (final?.hash !== finalized.hash)
    throw new PositionMovedError(
      'another block',
      `block ${finalized.number} (${finalized.hash}) is not one of the world's, so it cannot be its last final one`,
    )
  await tx
    .deleteFrom('chain_block')
    .where('world_id', '=', worldId)
    .where('number', '<', finalized.number)
    .execute()
  await tx
    .deleteFrom('chain_undo')
    .where('world_id', '=', worldId)
    .where('block_number', '<=', finalized.number)
    .execute()
}

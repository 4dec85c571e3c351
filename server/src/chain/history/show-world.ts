import { SECOND_MS } from '../../clock.ts'
import type { Tx } from '../../db/transaction.ts'
import { PublicCommandError } from '../../errors.ts'
import { readBlockNumber, startPosition } from '../../land/changes/chain-position.ts'
import { followChain } from '../../land/changes/chain-step.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import { ShowAgainError } from '../../land/snapshot/new-world.ts'
import type { BlockHeader } from '../chain-types.ts'
import type { NewBlock } from '../follow/land-writer.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import type { HistoryOptions } from './history-options.ts'
import type { MadeRows } from './make-rows.ts'
import { chainOf } from './network-part.ts'
import { NewerBlocks } from './newer-blocks.ts'
import { writeWorld } from './write-world.ts'

/** The block at which the new world stands, and its revision. */
export interface HistoryReport {
  readonly block: BlockHeader
  readonly revision: number
}

/** Another import that was killed holds its place for this time. */
export const PATIENCE_MS = 25_000
/** How often it is tried to show a world: the one before it may be followed further while the newest blocks are read. */
const MAX_TRIES = 20
/** Another node may have the newest block later than the one that is asked by the process that follows. */
const PAUSE_MS = SECOND_MS

/**
 * Writes the rows of a final block and shows them. Where the world before is of the same chain and is followed, it is
 * further than that: the new world begins where the chain is then, so that readers do not go back to an earlier block. Where
 * the nodes stay behind the world before, a rebuild fails, and a new world is shown as far as they are.
 *
 * @param expected the world that was shown at the beginning, null for none
 * @throws {CommandError} where another world is shown meanwhile, the block was replaced, or a rebuild stays behind; nothing
 * has changed then
 */
export async function writeAndShow(
  options: HistoryOptions,
  { block, rows, ground }: MadeRows,
  expected: number | null,
): Promise<HistoryReport> {
  const { db, clock, context, network, until, timing, signal, isRebuild, log } = options
  const reachedBy = async (tx: Parameters<typeof readBlockNumber>[0], worldId: number | null) =>
    Math.min(await readBlockNumber(tx, worldId, chainOf(network)), until)
  const newerBlocks = new NewerBlocks(block, options)
  let [newer, tries]: [readonly NewBlock[], number] = [[], 0]
  const beforeShow = async () => {
    if (tries > 0) await timing.pause(PAUSE_MS, signal)
    newer = (await reachedBy(db, expected)) > block.number ? await newerBlocks.read() : []
  }
  const whenShown = async (tx: Tx, newWorldId: number, shownBefore: number | null) => {
    const reached = newer.at(-1)?.number ?? block.number
    if ((await reachedBy(tx, shownBefore)) > reached) {
      if (++tries < MAX_TRIES) throw new ShowAgainError()
      // An operator who replaces the world may have a chain that began anew, such as one for tests.
      if (isRebuild) throw staysBehind(reached)
      log(`The new world is at block ${reached}, behind the one before: that is all that the nodes have.`)
    }
    await showAt(tx, options, { expected, shownBefore, newWorldId, block })
    if (newer.length === 0) return
    const step = { worldId: newWorldId, epoch: 0, from: block, blocks: newer, finalized: block }
    await followChain(tx, step, {
      nowMs: clock.nowMs(),
      apply: (tableRows, event) => applyEvent(tableRows, event, context),
    })
  }
  await writeWorld(db, rows, ground, { ...options, patienceMs: PATIENCE_MS, whenShown, beforeShow })
  const { revision } = await readLandHead(db)
  return { block: newer.at(-1) ?? block, revision }
}

function staysBehind(reached: number): PublicCommandError {
  return new PublicCommandError(
    `The world that is shown is further than block ${reached}, the newest one that the nodes have. It stays, and nothing was changed. Start the command again; the logs are stored and not requested again.`,
  )
}

interface Shown {
  /** The world that was shown at the beginning and until now, null for none. */
  readonly expected: number | null
  readonly shownBefore: number | null
  readonly newWorldId: number
  readonly block: BlockHeader
}

/**
 * Says where a new world stands, within the transaction that shows it.
 *
 * @throws {CommandError} where another world is shown by now
 */
export async function showAt(
  tx: Tx,
  { network }: Pick<HistoryOptions, 'network'>,
  { expected, shownBefore, newWorldId, block }: Shown,
): Promise<void> {
  // An import, or another follower, may have shown a world while the history was read.
  if (shownBefore !== expected)
    throw new PublicCommandError(
      'Another world was shown while the history was read. It stays, and nothing was changed. landpass follow --new-world replaces it; the logs are stored and not requested again.',
    )
  await startPosition(tx, newWorldId, {
    ...chainOf(network),
    rulesVersion: RULES_VERSION,
    block: { ...block, logsDigest: undefined },
  })
}

import type { Tx } from '../../db/transaction.ts'
import { PublicCommandError } from '../../errors.ts'
import { readBlockNumber, startPosition } from '../../land/changes/chain-position.ts'
import { followChain } from '../../land/changes/chain-step.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import { ShowAgainError } from '../../land/snapshot/new-world.ts'
import type { BlockHeader } from '../chain-types.ts'
import type { NewBlock } from '../follow/land-door.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import { chainOf, type HistoryOptions } from './history-options.ts'
import type { MadeRows } from './make-rows.ts'
import { newerBlocks } from './newer-blocks.ts'
import { writeWorld } from './write-world.ts'

/** The block at which the new world stands, and its revision. */
export interface HistoryReport {
  readonly block: BlockHeader
  readonly revision: number
}

/** Another import that was killed holds its place for this time. */
export const PATIENCE_MS = 25_000
/** How often a world is not shown yet, because the one before it has been followed further meanwhile. */
const MAX_TRIES = 5

/**
 * Writes the rows of a final block and shows them. Where the world before is of the same chain and is followed, it is
 * further than that: the new world begins where the chain is then, so that readers never go back.
 *
 * @param expected the world that was shown at the beginning, null for none
 * @throws {CommandError} where another world is shown meanwhile, or the block was replaced; nothing has changed then
 */
export async function writeAndShow(
  options: HistoryOptions,
  { block, rows, ground }: MadeRows,
  expected: number | null,
): Promise<HistoryReport> {
  const { db, clock, context, network, until } = options
  const reachedBy = async (tx: Parameters<typeof readBlockNumber>[0], worldId: number | null) =>
    Math.min(await readBlockNumber(tx, worldId, chainOf(network)), until)
  let [newer, tries]: [readonly NewBlock[], number] = [[], 0]
  const beforeShow = async () => {
    newer = (await reachedBy(db, expected)) > block.number ? await newerBlocks(block, options) : []
  }
  const whenShown = async (tx: Tx, newWorldId: number, shownBefore: number | null) => {
    const reached = newer.at(-1)?.number ?? block.number
    if ((await reachedBy(tx, shownBefore)) > reached && ++tries < MAX_TRIES) throw new ShowAgainError()
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

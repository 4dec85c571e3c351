import { CommandError } from '../../errors.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { badSnapshot } from '../../land/snapshot/ground.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { readSnapshotBlock, type SnapshotBlock } from '../../land/snapshot/manifest.ts'
import { registriesOf } from '../networks/registries-of.ts'
import { completeRows } from './complete-rows.ts'
import { HistoryFetcher } from './history-fetcher.ts'
import type { HistoryOptions } from './history-options.ts'
import { makeRows } from './make-rows.ts'
import { settleListings } from './settle-listings.ts'
import { type HistoryReport, PATIENCE_MS, showAt, writeAndShow } from './show-world.ts'
import { spoolPlace } from './spool-place.ts'

/**
 * Makes a world of the chain's history and shows it in one step, with its position in the same transaction. A snapshot
 * that names its block is imported as it is, after the node has confirmed the hash of that block.
 *
 * @throws {CommandError} where node or snapshot cannot be used, or another world was imported meanwhile; nothing has
 * changed then, and logs that were read stay stored
 */
export async function readHistory(options: HistoryOptions): Promise<HistoryReport> {
  const { db, ground: folder, openFetcher, onBegin, onSuspectBlocks, onProgress, log } = options
  const { worldId } = await readLandHead(db)
  const named = folder === undefined ? undefined : await readSnapshotBlock(folder)
  if (folder !== undefined && named) return joinSnapshot(options, { folder, named }, worldId)
  const fetcher = await HistoryFetcher.start({
    ...spoolPlace(options),
    openFetcher,
    onBegin,
    onSuspectBlocks,
    log,
    onProgress: (progress) => onProgress({ phase: 'history', ...progress }),
  })
  try {
    const made = await completeRows({
      stored: fetcher,
      makeRows: (trail) => makeRows(options, { fetcher, worldId, trail }),
      onMissingLogs: log,
    })
    onProgress({ phase: 'write', block: made.block.number })
    return await writeAndShow(options, made, worldId)
  } finally {
    await fetcher.close()
  }
}

/** Imports a snapshot that names its block, and goes on from there. */
async function joinSnapshot(
  options: HistoryOptions,
  { folder, named: chain }: { readonly folder: string; readonly named: SnapshotBlock },
  before: number | null,
): Promise<HistoryReport> {
  const { db, network, source, clock, world, signal, onProgress } = options
  if (chain.chain_id !== network.chainId)
    throw new CommandError(
      `The snapshot is of chain ${chain.chain_id}, and the network ${network.name} is chain ${network.chainId}.`,
    )
  const { finalized } = await source.heads()
  const block = await source.headerByNumber(chain.block_number)
  if (block.hash !== chain.block_hash)
    throw new CommandError(
      `The snapshot is of block ${chain.block_number} (${chain.block_hash}), and the node has another one there (${block.hash}). It was not imported.`,
    )
  if (block.number > finalized.number)
    throw new CommandError(
      `The block ${block.number} of the snapshot is not final yet; the last final block is ${finalized.number}. Try again in some minutes.`,
    )
  const report = await importSnapshot(db, folder, {
    world,
    clock,
    dryRun: false,
    registries: registriesOf(network),
    signal,
    patienceMs: PATIENCE_MS,
    onProgress,
    forFollowing: true,
    beforeShown: (worldId) =>
      settleListings({
        ...options,
        worldId,
        block,
        state: options.contractsAt(block),
        onProgress: (done, total) => onProgress({ phase: 'contracts', block: block.number, done, total }),
      }),
    whenShown: (tx, newWorldId, shownBefore) =>
      showAt(tx, options, { expected: before, shownBefore, newWorldId, block }),
  })
  if (!report.ok) throw badSnapshot(folder, report)
  return { block, revision: report.revision! }
}

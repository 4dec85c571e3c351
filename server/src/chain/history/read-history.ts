import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import { CommandError } from '../../errors.ts'
import { startPosition } from '../../land/changes/chain-position.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import { fillRights } from '../../land/snapshot/fill-rights.ts'
import { badSnapshot, bareGround, type Ground, readGround } from '../../land/snapshot/ground.ts'
import { importSnapshot, type Progress } from '../../land/snapshot/import.ts'
import { readSnapshotBlock, type SnapshotBlock } from '../../land/snapshot/manifest.ts'
import type { BlockHeader, Network, RawLog } from '../chain-types.ts'
import type { ChainSource } from '../follow/chain-source.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'
import { registriesOf } from '../networks/registries-of.ts'
import { fetchHistory, type HistoryProgress, type HistorySource } from './fetch-history.ts'
import { fetchUpToDate } from './fetch-up-to-date.ts'
import { type ReadContract, readerNear } from './read-near.ts'
import { replay } from './replay.ts'
import { readSilentOperators } from './silent-operators.ts'
import { Spool, type TimedLog } from './spool.ts'
import { writeWorld } from './write-world.ts'

/** What a new world is made of, and how. */
export interface HistoryOptions {
  readonly db: Db
  readonly clock: Clock
  readonly network: Network
  /** The shape of the world. */
  readonly world: World
  /** Folder of a snapshot; undefined: every parcel of the world, unowned. */
  readonly ground: string | undefined
  /** Folder for the stored logs. */
  readonly spoolFolder: string
  readonly source: Pick<ChainSource, 'heads' | 'headerByNumber'> & HistorySource
  readonly context: RuleContext
  readonly eventsOf: (logs: readonly TimedLog[]) => Promise<readonly LandEvent[]>
  /** What a function of a contract returns after a block. */
  readonly readContract: ReadContract
  /** The most calls at a time. */
  readonly callsInFlight: number
  readonly parcelTransfer: (log: RawLog) => 'first' | 'later' | undefined
  /** The history ends here, or at the last final block where that is older. */
  readonly until: number
  readonly signal: AbortSignal
  readonly steadyMs: () => number
  readonly onProgress: (progress: HistoryStep) => void
  /** See {@link FetchOptions}. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
}

/** What is being done: reading logs, replaying them, writing the tables, or importing a snapshot. */
export type HistoryStep =
  | ({ readonly phase: 'history' } & HistoryProgress)
  | { readonly phase: 'replay'; readonly block: number; readonly last: number; readonly events: number }
  | { readonly phase: 'write'; readonly block: number }
  | Progress

/** The block at which the new world stands, and its revision. */
export interface HistoryReport {
  readonly block: BlockHeader
  readonly revision: number
}

/**
 * Makes a world of the chain's history and shows it in one step, with its position in the same transaction. A snapshot
 * that names its block is imported as it is, after the node has confirmed the hash of that block.
 *
 * @throws {CommandError} where node or snapshot cannot be used, or another world was imported meanwhile; nothing has
 * changed then, and logs that were read stay stored
 */
export async function readHistory(options: HistoryOptions): Promise<HistoryReport> {
  const { worldId } = await readLandHead(options.db)
  const { ground: folder } = options
  const named = folder === undefined ? undefined : await readSnapshotBlock(folder)
  if (folder !== undefined && named) return joinSnapshot(options, { folder, named }, worldId)
  const ground = await groundOf(options)
  const spool = await openSpool(options)
  try {
    const block = await fetchUpToDate({
      lastBlock: () => lastBlockOf(options),
      headerByNumber: options.source.headerByNumber,
      fetchTo: async (last) => {
        if (last.number >= spool.firstBlock) await fetchLogs(options, spool, last)
      },
    })
    const rows = await replay(spool, {
      ...options,
      ground,
      last: block.number,
      onProgress: (at, events) =>
        options.onProgress({ phase: 'replay', block: at, last: block.number, events }),
    })
    await readSilentOperators(rows, { ...options, read: readerNear(block, options) })
    options.onProgress({ phase: 'write', block: block.number })
    const whenShown = (tx: Tx, newWorldId: number, shownBefore: number | null) =>
      showAt(tx, options, { expected: worldId, shownBefore, newWorldId, block })
    const revision = await writeWorld(options.db, rows, ground, {
      ...options,
      patienceMs: PATIENCE_MS,
      whenShown,
    })
    return { block, revision }
  } finally {
    await spool.close()
  }
}

/** Another import that was killed holds its place for this time. */
const PATIENCE_MS = 25_000

function groundOf({ ground, world, network, signal }: HistoryOptions): Promise<Ground> | Ground {
  return ground === undefined
    ? bareGround(world, 0)
    : readGround(ground, { world, registries: registriesOf(network), signal })
}

function openSpool({ network, spoolFolder }: HistoryOptions): Promise<Spool> {
  const name = `${network.chainId}-${contractsHash(network).slice(0, 16)}`
  return Spool.open(spoolFolder, { name, firstBlock: firstBlock(network) })
}

/** Where the history ends now. */
async function lastBlockOf({ source, until }: HistoryOptions): Promise<BlockHeader> {
  const { finalized } = await source.heads()
  return until >= finalized.number ? finalized : source.headerByNumber(until)
}

function fetchLogs(options: HistoryOptions, spool: Spool, { number }: BlockHeader): Promise<void> {
  return fetchHistory({
    ...options,
    spool,
    blocks: { first: spool.firstBlock, last: number },
    onProgress: (progress) => options.onProgress({ phase: 'history', ...progress }),
  })
}

interface Shown {
  /** The world that was shown at the beginning and until now, null for none. */
  readonly expected: number | null
  readonly shownBefore: number | null
  readonly newWorldId: number
  readonly block: BlockHeader
}

/** Within the transaction that shows the new world. */
async function showAt(
  tx: Tx,
  { network }: HistoryOptions,
  { expected, shownBefore, newWorldId, block }: Shown,
): Promise<void> {
  // An import, or another follower, may have shown a world while the history was read.
  if (shownBefore !== expected)
    throw new CommandError(
      'Another world was shown while the history was read. It stays, and nothing was changed. landpass follow --new-world replaces it; the logs are stored and not requested again.',
    )
  await startPosition(tx, newWorldId, {
    chainId: network.chainId,
    contractsHash: contractsHash(network),
    rulesVersion: RULES_VERSION,
    block: { ...block, logsDigest: undefined },
  })
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
    whenShown: async (tx, newWorldId, shownBefore) => {
      await showAt(tx, options, { expected: before, shownBefore, newWorldId, block })
      await fillRights(tx, newWorldId)
    },
  })
  if (!report.ok) throw badSnapshot(folder, report)
  return { block, revision: report.revision! }
}

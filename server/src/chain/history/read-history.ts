import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import { CommandError } from '../../errors.ts'
import { readBlockNumber, startPosition } from '../../land/changes/chain-position.ts'
import { followChain } from '../../land/changes/chain-step.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import { fillRights } from '../../land/snapshot/fill-rights.ts'
import { bareGround, type Ground, readGround } from '../../land/snapshot/ground.ts'
import { readGroundOfWorld } from '../../land/snapshot/ground-of-world.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { ShowAgainError } from '../../land/snapshot/new-world.ts'
import type { BlockHeader, Network } from '../chain-types.ts'
import type { NewBlock } from '../follow/land-door.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'
import { registriesOf } from '../networks/registries-of.ts'
import type { HistoryProgress } from './fetch-history.ts'
import type { FetchTask } from './fetch-thread.ts'
import { fetchUpToDate } from './fetch-up-to-date.ts'
import { HistoryFetcher } from './history-fetcher.ts'
import { type NewerBlocksOptions, newerBlocks } from './newer-blocks.ts'
import { type ReadContract, readerNear } from './read-near.ts'
import { replay } from './replay.ts'
import { readSilentOperators } from './silent-operators.ts'
import type { TimedLog } from './spool-frames.ts'
import { writeWorld } from './write-world.ts'

/** What a new world is made of, and how. */
export interface HistoryOptions {
  readonly db: Db
  readonly clock: Clock
  readonly network: Network
  /** The shape of the world. */
  readonly world: World
  /** Where the parcels begin. */
  readonly ground: GroundChoice
  /** Folder for the stored logs. */
  readonly spoolFolder: string
  readonly source: NewerBlocksOptions['source']
  /** How the thread that stores the logs asks the nodes. */
  readonly fetch: Pick<FetchTask, 'urls' | 'head' | 'maxRangeBlocks'>
  readonly context: RuleContext
  readonly eventsOf: (logs: readonly TimedLog[]) => Promise<readonly LandEvent[]>
  readonly eventsOfBlock: NewerBlocksOptions['eventsOfBlock']
  /** What a function of a contract returns after a block. */
  readonly readContract: ReadContract
  /** The most calls at a time. */
  readonly callsInFlight: number
  /** The history ends here, or at the last final block where that is older. */
  readonly until: number
  readonly signal: AbortSignal
  readonly onProgress: (progress: HistoryStep) => void
  /** Gets the blocks whose logs may be incomplete. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
}

/** `every parcel`: of the world, unowned. `as shown`: what the world that is shown began with. */
export type GroundChoice = 'every parcel' | 'as shown' | { readonly folder: string }

/** What is being done: reading logs, replaying them, or writing the tables. */
export type HistoryStep =
  | ({ readonly phase: 'history' } & HistoryProgress)
  | { readonly phase: 'replay'; readonly block: number; readonly last: number; readonly events: number }
  | { readonly phase: 'write'; readonly block: number }

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
  const { rows, ground } = await beginning(options, worldId)
  if (ground.chain) return joinSnapshot(options, ground.chain, worldId)
  const fetcher = await startFetcher(options)
  try {
    const block = await fetchAndReplay(options, fetcher, rows)
    await readSilentOperators(rows, { ...options, read: readerNear(block, options) })
    options.onProgress({ phase: 'write', block: block.number })
    return await writeAndShow(options, { expected: worldId, block, rows, ground })
  } finally {
    await fetcher.close()
  }
}

/** The rows of the ground, and what events do not change. */
async function beginning(
  options: HistoryOptions,
  worldId: number | null,
): Promise<{ readonly rows: MemoryRows; readonly ground: Omit<Ground, 'parcels'> }> {
  // The list of parcels is not kept: events replace most of its rows.
  const { parcels, ...ground } = await chosenGround(options, worldId)
  const rows = new MemoryRows()
  for (const parcel of parcels) rows.put('parcel', parcel)
  return { rows, ground }
}

/** Stores all logs, and applies them to the rows while more of them come. @returns the block at which the rows are */
async function fetchAndReplay(
  options: HistoryOptions,
  fetcher: HistoryFetcher,
  rows: MemoryRows,
): Promise<BlockHeader> {
  const first = firstBlock(options.network)
  let last = Number.POSITIVE_INFINITY
  const replaying = replay(fetcher.stored, {
    ...options,
    rows,
    firstBlock: first,
    last: () => last,
    onProgress: (block, events) => {
      if (last !== Number.POSITIVE_INFINITY) options.onProgress({ phase: 'replay', block, last, events })
    },
  })
  const fetching = fetchUpToDate({
    lastBlock: () => lastBlockOf(options),
    headerByNumber: options.source.headerByNumber,
    fetchTo: async ({ number }) => {
      if (number >= first) await fetcher.fetchTo(number)
    },
  })
  try {
    const block = await Promise.race([fetching, replaying.then(() => fetching)])
    last = block.number
    fetcher.stored.end()
    await replaying
    return block
  } catch (error) {
    fetcher.stored.fail(error)
    await replaying.catch(() => undefined)
    throw error
  }
}

/** Another import that was killed holds its place for this time. */
const PATIENCE_MS = 25_000

function chosenGround(
  { db, ground, world, network, signal }: HistoryOptions,
  worldId: number | null,
): Promise<Ground> | Ground {
  if (ground === 'as shown' && worldId !== null) return readGroundOfWorld(db, worldId)
  if (typeof ground === 'string') return bareGround(world, 0)
  return readGround(ground.folder, { world, registries: registriesOf(network), signal })
}

function startFetcher(options: HistoryOptions): Promise<HistoryFetcher> {
  const { network, spoolFolder, fetch, callsInFlight, signal, onProgress, onSuspectBlocks } = options
  return HistoryFetcher.start({
    ...fetch,
    network,
    callsInFlight,
    folder: spoolFolder,
    name: `${network.chainId}-${contractsHash(network).slice(0, 16)}`,
    firstBlock: firstBlock(network),
    signal,
    onProgress: (progress) => onProgress({ phase: 'history', ...progress }),
    onSuspectBlocks,
  })
}

/** Where the history ends now. */
async function lastBlockOf({ source, until }: HistoryOptions): Promise<BlockHeader> {
  const { finalized } = await source.heads()
  return until >= finalized.number ? finalized : source.headerByNumber(until)
}

interface MadeWorld {
  /** The world that was shown at the beginning, null for none. */
  readonly expected: number | null
  readonly block: BlockHeader
  readonly rows: MemoryRows
  readonly ground: Pick<Ground, 'districts' | 'contributions'>
}

/** How often a world is not shown yet, because the one before it has been followed further meanwhile. */
const MAX_TRIES = 5

/**
 * Writes the rows of the final block and shows them. Where the world before is followed, it is further than that: the new
 * world begins where the chain is then, so that readers never go back.
 */
async function writeAndShow(
  options: HistoryOptions,
  { expected, block, rows, ground }: MadeWorld,
): Promise<HistoryReport> {
  const { db, clock, context } = options
  let [newer, tries]: [readonly NewBlock[], number] = [[], 0]
  const beforeShow = async () => {
    newer = (await readBlockNumber(db, expected)) > block.number ? await newerBlocks(block, options) : []
  }
  const whenShown = async (tx: Tx, newWorldId: number, shownBefore: number | null) => {
    const reached = newer.at(-1)?.number ?? block.number
    if ((await readBlockNumber(tx, shownBefore)) > reached && ++tries < MAX_TRIES) throw new ShowAgainError()
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
  chain: NonNullable<Ground['chain']>,
  before: number | null,
): Promise<HistoryReport> {
  const { db, network, source, clock, world, signal } = options
  const { folder } = options.ground as { readonly folder: string } // Only a snapshot names a block.
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
  options.onProgress({ phase: 'write', block: block.number })
  const report = await importSnapshot(db, folder, {
    world,
    clock,
    dryRun: false,
    registries: registriesOf(network),
    signal,
    patienceMs: PATIENCE_MS,
    whenShown: async (tx, newWorldId, shownBefore) => {
      await showAt(tx, options, { expected: before, shownBefore, newWorldId, block })
      await fillRights(tx, newWorldId)
    },
  })
  if (!report.ok) throw new CommandError(`The snapshot ${folder} was changed while it was read.`)
  return { block, revision: report.revision! }
}

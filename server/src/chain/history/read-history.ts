import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import { CommandError } from '../../errors.ts'
import { startPosition } from '../../land/changes/chain-position.ts'
import { followChain } from '../../land/changes/chain-step.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import { fillRights } from '../../land/snapshot/fill-rights.ts'
import { bareGround, type Ground, readGround } from '../../land/snapshot/ground.ts'
import { readGroundOfWorld } from '../../land/snapshot/ground-of-world.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { ShowAgainError } from '../../land/snapshot/new-world.ts'
import type { BlockHeader, Network, RawLog } from '../chain-types.ts'
import type { NewBlock } from '../follow/land-door.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'
import { registriesOf } from '../networks/registries-of.ts'
import { fetchHistory, type HistoryProgress, type HistorySource } from './fetch-history.ts'
import { fetchUpToDate } from './fetch-up-to-date.ts'
import { type NewerBlocksOptions, newerBlocks } from './newer-blocks.ts'
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
  /** Where the parcels begin. */
  readonly ground: GroundChoice
  /** Folder for the stored logs. */
  readonly spoolFolder: string
  readonly source: NewerBlocksOptions['source'] & HistorySource
  readonly context: RuleContext
  readonly eventsOf: (logs: readonly TimedLog[]) => Promise<readonly LandEvent[]>
  readonly eventsOfBlock: NewerBlocksOptions['eventsOfBlock']
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
  const ground = await chosenGround(options, worldId)
  if (ground.chain) return joinSnapshot(options, { ...ground, chain: ground.chain }, worldId)
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
    return await writeAndShow(options, { expected: worldId, block, rows, ground })
  } finally {
    await spool.close()
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

interface MadeWorld {
  /** The world that was shown at the beginning, null for none. */
  readonly expected: number | null
  readonly block: BlockHeader
  readonly rows: MemoryRows
  readonly ground: Ground
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
    newer = (await shownNumber(db, expected)) > block.number ? await newerBlocks(block, options) : []
  }
  const whenShown = async (tx: Tx, newWorldId: number, shownBefore: number | null) => {
    const reached = newer.at(-1)?.number ?? block.number
    if ((await shownNumber(tx, shownBefore)) > reached && ++tries < MAX_TRIES) throw new ShowAgainError()
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

/** The block at which a world stands; -1 for one that does not come from the chain. */
async function shownNumber(db: Db | Tx, worldId: number | null): Promise<number> {
  if (worldId === null) return -1
  const position = await db
    .selectFrom('chain_position')
    .select('block_number')
    .where('world_id', '=', worldId)
    .executeTakeFirst()
  return position?.block_number ?? -1
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
  { chain }: Ground & { readonly chain: NonNullable<Ground['chain']> },
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

import { join } from 'node:path'
import type { World } from '@landpass/client/grid'
import { type Clock, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import { CommandError, PublicCommandError } from '../../errors.ts'
import { readChainPosition, startPosition } from '../../land/changes/chain-position.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import {
  badSnapshot,
  bareGround,
  findGroundOfWorld,
  type Ground,
  readGround,
} from '../../land/snapshot/ground.ts'
import { importSnapshot, type Progress } from '../../land/snapshot/import.ts'
import { readSnapshotBlock, type SnapshotBlock } from '../../land/snapshot/manifest.ts'
import type { BlockHeader, BlockRef, Network, RawLog } from '../chain-types.ts'
import type { ContractState } from '../check/contract-state.ts'
import { type ChainSource, ContradictionError } from '../follow/chain-source.ts'
import { RULES_VERSION } from '../follow/rules-version.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'
import { registriesOf } from '../networks/registries-of.ts'
import { assertParcelCount, completeRows } from './complete-rows.ts'
import { fetchHistory, type HistoryProgress, type HistorySource } from './fetch-history.ts'
import { fetchUpToDate } from './fetch-up-to-date.ts'
import { type NearAnswer, type ReadAtBlock, readerNear } from './read-near.ts'
import { replay } from './replay.ts'
import { settleListings } from './settle-listings.ts'
import { readSilentOperators, SILENT_UNTIL_MS } from './silent-operators.ts'
import { Spool, type TimedLog } from './spool.ts'
import { type ContractCall, type ReadBlock, StoredAnswers } from './stored-answers.ts'
import type { TokenTrail } from './token-trail.ts'
import { writeWorld } from './write-world.ts'

/** What a new world is made of, and how. */
export interface HistoryOptions {
  readonly db: Db
  readonly clock: Clock
  readonly network: Network
  /** The shape of the world. */
  readonly world: World
  /** Folder of a snapshot; undefined: that of the world that is shown or, without any, every parcel, unowned. */
  readonly ground: string | undefined
  /** Folder for the stored logs. */
  readonly spoolFolder: string
  readonly source: Pick<ChainSource, 'heads' | 'headerByNumber' | 'logsOfRange'> & HistorySource
  readonly context: RuleContext
  /** `read` calls a contract near the end of the history. */
  readonly eventsOf: (
    logs: readonly TimedLog[],
    read: (call: ContractCall) => Promise<string>,
  ) => Promise<readonly LandEvent[]>
  /** What a function of a contract returns after a block. */
  readonly readContract: ReadAtBlock
  /** Contracts in the state after a block, which many calls are made to. */
  readonly contractsAt: (block: BlockRef) => ContractState
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
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/** What is being done: reading logs, replaying them, asking contracts, writing the tables, or importing a snapshot. */
export type HistoryStep =
  | ({ readonly phase: 'history' } & HistoryProgress)
  | { readonly phase: 'replay'; readonly block: number; readonly last: number; readonly events: number }
  /** How many of the assets of which logs do not know all have been asked for; `block` is that of the world. */
  | { readonly phase: 'contracts'; readonly block: number; readonly done: number; readonly total: number }
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
  const ground = await groundOf(options, worldId)
  const spool = await openSpool(options)
  try {
    const { block, rows } = await completeRows({
      spool,
      fetch: () =>
        fetchUpToDate({
          lastBlock: () => lastBlockOf(options),
          headerByNumber: options.source.headerByNumber,
          fetchTo: async (last) => {
            if (last.number >= spool.firstBlock) await fetchLogs(options, spool, last)
          },
        }),
      makeRows: (last, trail) => makeRows(options, { spool, ground, block: last, trail }),
      onMissingLogs: (reason) => {
        options.source.avoidLastNode()
        options.log(reason)
      },
    })
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

/**
 * Without a snapshot, what no log says is taken from the world that is shown: else a world that was made with one would
 * lose it when it is replaced. Not where that world is of another chain.
 */
async function groundOf(options: HistoryOptions, worldId: number | null): Promise<Ground> {
  const { db, ground, world, network, signal, log } = options
  if (ground !== undefined) return readGround(ground, { world, registries: registriesOf(network), signal })
  const position = await readChainPosition(db)
  const isOfThisChain =
    !position || (position.chainId === network.chainId && position.contractsHash === contractsHash(network))
  const shown = worldId !== null && isOfThisChain ? await findGroundOfWorld(db, worldId, world) : undefined
  if (!shown) return bareGround(world, 0)
  log(
    `there is no --ground: ${shown.districts.length} districts, what is near a parcel, the first auction and ${shown.contributions.length} contributions are taken from the world that is shown`,
  )
  return shown
}

interface RowsOptions {
  readonly spool: Spool
  readonly ground: Ground
  readonly block: BlockHeader
  readonly trail: TokenTrail
}

/** The rows after a block: those of its logs, with what only contracts know. */
async function makeRows(
  options: HistoryOptions,
  { spool, ground, block, trail }: RowsOptions,
): Promise<MemoryRows> {
  const { source, onProgress, steadyMs } = options
  const answers = await openAnswers(options, block)
  try {
    const read = storingReader(answers, readerNear(block, options))
    const rows = await replay(spool, {
      ...options,
      ground,
      trail,
      eventsOf: (logs) => options.eventsOf(logs, async (call) => (await read(call)).returned),
      last: block.number,
      onProgress: (at, events) => onProgress({ phase: 'replay', block: at, last: block.number, events }),
    })
    assertParcelCount(await source.parcelCount(block), trail, block)
    let shownAtMs = Number.NEGATIVE_INFINITY
    await readSilentOperators(rows, {
      ...options,
      read,
      isLogged: (asset) => trail.hasLoggedOperator(asset),
      onProgress: (done, total) => {
        if (steadyMs() - shownAtMs < SECOND_MS && done < total) return
        shownAtMs = steadyMs()
        onProgress({ phase: 'contracts', block: block.number, done, total })
      },
    })
    return rows
  } finally {
    await answers.close()
  }
}

function fileName(network: Network): string {
  return `${network.chainId}-${contractsHash(network).slice(0, 16)}`
}

/** What contracts answered before: at this block, or at earlier ones after which it cannot change. */
function openAnswers({ network, spoolFolder, source }: HistoryOptions, block: BlockHeader) {
  const isUsable = async ({ number, hash, timeS }: ReadBlock) => {
    if (hash === block.hash) return true
    if (number > block.number || timeS * SECOND_MS < SILENT_UNTIL_MS) return false
    try {
      return (await source.headerByNumber(number)).hash === hash
    } catch (error) {
      if (error instanceof ContradictionError) return false // The node does not have that block.
      throw error
    }
  }
  return StoredAnswers.open(join(spoolFolder, `${fileName(network)}.answers`), isUsable)
}

/** Asks only for what is not stored, and stores what cannot be undone. */
function storingReader(answers: StoredAnswers, near: ReturnType<typeof readerNear>) {
  return async (call: ContractCall): Promise<Pick<NearAnswer, 'returned' | 'unsettled'>> => {
    const stored = answers.find(call)
    if (stored !== undefined) return { returned: stored, unsettled: [] }
    const answer = await near(call)
    if (answer.isFinal) await answers.add(call, answer.block, answer.returned)
    return answer
  }
}

function openSpool({ network, spoolFolder }: HistoryOptions): Promise<Spool> {
  return Spool.open(spoolFolder, { name: fileName(network), firstBlock: firstBlock(network) })
}

/** Where the history ends now. */
async function lastBlockOf({ source, until }: HistoryOptions): Promise<BlockHeader> {
  const { finalized } = await source.heads()
  return until >= finalized.number ? finalized : source.headerByNumber(until)
}

/** Full nodes keep the state of so many blocks. */
const BLOCKS_WITH_STATE = 128

async function fetchLogs(options: HistoryOptions, spool: Spool, { number }: BlockHeader): Promise<void> {
  const { finalized } = await options.source.heads()
  return fetchHistory({
    ...options,
    spool,
    blocks: { first: spool.firstBlock, last: number },
    mayBeEmpty: number < finalized.number - BLOCKS_WITH_STATE,
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
    throw new PublicCommandError(
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

import { SECOND_MS } from '../../clock.ts'
import { PublicCommandError } from '../../errors.ts'
import type { BlockHeader, BlockRef, RawLog } from '../chain-types.ts'
import { type BlockRange, ContradictionError } from '../follow/chain-source.ts'
import { PackedLogs, type TimedLog } from '../packed-logs.ts'
import { FrameWriter } from './frame-writer.ts'
import type { Spool } from './spool.ts'
import type { PackedRange } from './spool-frames.ts'

/** What the history is read from. Nodes that refuse a range are asked for smaller ones. */
export interface HistorySource {
  /**
   * All logs of these contracts, range by range, in order and without gaps. Only nodes are asked that have the log `known` or,
   * where it is undefined, the first logs of the land.
   */
  readonly ranges: (request: RangesRequest) => AsyncIterable<RangeAnswer>
  /** From now on, the node that gave the last range is asked last: its logs were incomplete. */
  readonly avoidLastNode: () => void
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** In the order of the hashes. */
  readonly headersByHash: (hashes: readonly string[]) => Promise<readonly BlockHeader[]>
  /** How many parcels have an owner after a block, by their registry; undefined where no node can say it. */
  readonly parcelCount: (block: BlockRef) => Promise<number | undefined>
}

export interface RangesRequest {
  readonly blocks: BlockRange
  /** The addresses of the contracts, in lower case. */
  readonly addresses: readonly string[]
  /** A log of an earlier block. */
  readonly known: RawLog | undefined
  readonly signal: AbortSignal
}

export interface RangeAnswer extends BlockRange {
  /** The hash of the last block. */
  readonly lastHash: string
  readonly logs: PackedLogs
  /** Blocks with an exactly round number of logs that no receipts could confirm: logs of them may be missing. */
  readonly suspectBlocks: readonly number[]
}

/** How far the history is read. Blocks are those of the range from the first block of the contracts to `last`. */
export interface HistoryProgress {
  /** The newest block that is stored. */
  readonly block: number
  readonly last: number
  readonly percent: number
  /** All logs that are stored, also by earlier processes. */
  readonly logs: number
  readonly logsPerSecond: number
  /** Null until there is a rate. */
  readonly secondsLeft: number | null
}

export interface FetchOptions {
  readonly source: HistorySource
  readonly spool: Spool
  /** The first and the last block of the history. */
  readonly blocks: BlockRange
  /** The addresses of the contracts whose logs are read, in lower case. */
  readonly addresses: readonly string[]
  /**
   * A stored log of the land that all nodes with these blocks have: then the blocks need not have the first parcels. Undefined
   * where the land itself is read.
   */
  readonly known?: RawLog | undefined
  /** Whether the log is the transfer of a parcel, and if so, whether it is the first of that parcel, by which it is created. */
  readonly parcelTransfer: (log: RawLog) => 'first' | 'later' | undefined
  /** Whether the history may end before the first parcel, also where no node has the state of its last block. */
  readonly mayBeEmpty: boolean
  /** Whether stored logs were applied to rows already: then none of them may be deleted. */
  readonly areApplied: boolean
  readonly signal: AbortSignal
  readonly steadyMs: () => number
  readonly onProgress: (progress: HistoryProgress) => void
  /** Gets the blocks whose logs may be incomplete: see {@link RangeAnswer}. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  /** Gets the newest block that is stored: of what was stored before, once it was compared with the chain. */
  readonly onStored: (last: number) => void
}

/** How many ranges are compared with the chain at a time. A range mostly has thousands of blocks. */
const COMPARED_RANGES = 16
/** How often progress is shown, at most. */
const PROGRESS_EVERY_MS = SECOND_MS

/**
 * Reads the logs that the spool does not have yet, up to the last block of the history, which must be final. Stored ranges
 * whose last block the chain no longer has are deleted first: finality was broken, and they are of another branch.
 *
 * Nodes without old blocks answer that a range has no logs, instead of refusing it. So the first transfer of a parcel
 * must be the one that creates it, and a history without any is believed only if the registry says that there are no parcels.
 * Else all that was stored is deleted, because the node cannot be trusted with any range.
 *
 * @throws {CommandError} where the node does not have the old blocks, or final blocks were replaced meanwhile
 */
export async function fetchHistory(options: FetchOptions): Promise<void> {
  const { spool, blocks } = options
  if ((await dropOtherBranch(options)) && options.areApplied) throw replaced()
  const hadParcels = options.known !== undefined || (await hasStoredParcels(options))
  const first = spool.nextBlock
  options.onStored(first - 1)
  const hasParcels = first > blocks.last ? hadParcels : await fetchFrom(options, first, hadParcels)
  if (!hasParcels) await assertNoParcels(options)
  if (first > blocks.last) return
  const hasDropped = await dropReplaced(options, first)
  if ((await dropOtherBranch(options)) || hasDropped) throw replaced()
}

function replaced(): PublicCommandError {
  return new PublicCommandError(
    'Final blocks were replaced while the history was read. Nothing was changed. Start the command again: it requests only what was replaced.',
  )
}

/** Stores the logs from a block on. @returns whether there was the transfer of a parcel, now or before */
async function fetchFrom(options: FetchOptions, first: number, hadParcels: boolean): Promise<boolean> {
  const { source, spool, blocks, addresses, signal, steadyMs } = options
  const frames = new FrameWriter(spool, steadyMs)
  const progress = progressOf(options, first)
  let hasParcels = hadParcels
  // What is stored from the first parcel on needs no node any more.
  const known = options.known ?? (hadParcels ? await spool.newestLog() : undefined)
  try {
    for await (const range of source.ranges({
      blocks: { first, last: blocks.last },
      addresses,
      known,
      signal,
    })) {
      signal.throwIfAborted()
      const timed = await withTimes(range, source)
      hasParcels ||= await hasFirstTransfer(options, timed, frames)
      if (range.suspectBlocks.length > 0) options.onSuspectBlocks(range.suspectBlocks)
      if (!(await frames.add(timed))) continue
      options.onStored(range.last)
      progress.show()
    }
  } finally {
    await frames.flush() // What was read before a failure is not requested again.
  }
  await spool.sync()
  progress.showLast()
  return hasParcels
}

/** All logs of blocks, in their order, with their times. */
export async function* timedLogsOf(source: HistorySource, request: RangesRequest): AsyncGenerator<TimedLog> {
  for await (const range of source.ranges(request)) {
    const { logs } = await withTimes(range, source)
    for (const log of logs) yield log as TimedLog
  }
}

/** Deletes the newest ranges that are of a branch that the chain no longer has. @returns whether there were any */
export async function dropOtherBranch(
  options: Pick<FetchOptions, 'spool' | 'source' | 'signal'>,
): Promise<boolean> {
  const { spool } = options
  for (let hasDropped = false; ; hasDropped = true) {
    const other = await findReplaced(spool.newestBlocks(COMPARED_RANGES), options)
    if (!other) return hasDropped
    await spool.dropFrom(other.number)
  }
}

/**
 * Deletes from the oldest range on, of those that this process has read, that is of a branch that the chain no longer has:
 * where finality was broken for a while, later ranges may be of the chain again. @returns whether there was one
 */
async function dropReplaced(options: FetchOptions, first: number): Promise<boolean> {
  const read = options.spool.blocksFrom(first)
  for (let at = 0; at < read.length; at += COMPARED_RANGES) {
    const other = await findReplaced(read.slice(at, at + COMPARED_RANGES), options)
    if (!other) continue
    await options.spool.dropFrom(other.number)
    return true
  }
  return false
}

/** The first of these blocks that the chain no longer has. */
async function findReplaced(
  stored: readonly BlockRef[],
  { source, signal }: Pick<FetchOptions, 'source' | 'signal'>,
): Promise<BlockRef | undefined> {
  signal.throwIfAborted()
  const now = await Promise.all(stored.map(({ number }) => storedHeader(number, source)))
  return stored.find(({ hash }, at) => hash !== now[at]!.hash)
}

async function storedHeader(number: number, source: HistorySource): Promise<BlockHeader> {
  try {
    return await source.headerByNumber(number)
  } catch (error) {
    if (!(error instanceof ContradictionError)) throw error
    throw new PublicCommandError(
      `The stored logs in DATA_DIR/chain reach block ${number}, which the node does not have. Wait until it has that block or, if the chain was started anew, delete that folder.`,
    )
  }
}

/** @throws {CommandError} where the first transfer of a parcel that the node has is not of a new one */
async function hasFirstTransfer(
  { parcelTransfer, spool }: FetchOptions,
  { logs }: PackedRange,
  frames: FrameWriter,
): Promise<boolean> {
  const first = find(logs, (log) => parcelTransfer(log) !== undefined)
  if (!first) return false
  if (parcelTransfer(first) === 'first') return true
  frames.discard()
  await spool.clear()
  throw withoutHistory(
    `the first transfer of land that it knows, in block ${first.blockNumber}, is not of a new parcel`,
  )
}

function find(logs: Iterable<RawLog>, isWanted: (log: RawLog) => boolean): RawLog | undefined {
  for (const log of logs) if (isWanted(log)) return log
  return undefined
}

/** @throws {CommandError} where the registry has parcels at the last block, or does not say how many */
async function assertNoParcels({ spool, source, blocks, mayBeEmpty }: FetchOptions): Promise<void> {
  const count = await source.parcelCount(await source.headerByNumber(blocks.last))
  if (count === 0 || (count === undefined && mayBeEmpty)) return
  await spool.clear()
  const registry = count === undefined ? 'does not say how many parcels there are' : `has ${count} parcels`
  throw withoutHistory(`it has no transfer of land at all, and the registry ${registry}`)
}

/** Whether an earlier process has stored the first transfer of a parcel. */
async function hasStoredParcels({ spool, parcelTransfer }: FetchOptions): Promise<boolean> {
  for await (const { logs } of spool.ranges())
    if (logs.some((log) => parcelTransfer(log) === 'first')) return true
  return false
}

function withoutHistory(why: string): PublicCommandError {
  return new PublicCommandError(
    `The node does not have the old blocks: ${why}. The history needs a node that keeps all logs since the first block of the land: a full node without history expiry, or an archive node.`,
  )
}

/** Where the node does not give the time of a log, the header of its block does. */
async function withTimes(range: RangeAnswer, source: HistorySource): Promise<PackedRange> {
  const { first, last, lastHash, logs } = range
  if (logs.hasTimes) return { first, last, lastHash, logs }
  const unknown = new Set<string>()
  for (const { blockHash, blockTimeS } of logs) if (blockTimeS === undefined) unknown.add(blockHash)
  const headers = await source.headersByHash([...unknown])
  const times = new Map(headers.map(({ hash, timeS }) => [hash, timeS]))
  return { first, last, lastHash, logs: PackedLogs.from(withTimesOf(logs, times)) }
}

function* withTimesOf(logs: Iterable<RawLog>, times: ReadonlyMap<string, number>): Generator<RawLog> {
  for (const log of logs) yield { ...log, blockTimeS: log.blockTimeS ?? times.get(log.blockHash) }
}

interface ProgressShow {
  /** At most once in {@link PROGRESS_EVERY_MS}. */
  readonly show: () => void
  readonly showLast: () => void
}

/** Rates since this process began. */
function progressOf({ spool, blocks, steadyMs, onProgress }: FetchOptions, start: number): ProgressShow {
  const [startedAtMs, logsBefore] = [steadyMs(), spool.logs]
  const total = Math.max(blocks.last - blocks.first + 1, 1)
  let shownAtMs = Number.NEGATIVE_INFINITY
  const showAt = (nowMs: number) => {
    shownAtMs = nowMs
    const seconds = (nowMs - startedAtMs) / SECOND_MS
    const block = spool.nextBlock - 1
    const rate = seconds > 0 ? (block - start + 1) / seconds : 0
    onProgress({
      block,
      last: blocks.last,
      percent: Math.floor((1_000 * (block - blocks.first + 1)) / total) / 10,
      logs: spool.logs,
      logsPerSecond: seconds > 0 ? Math.round((spool.logs - logsBefore) / seconds) : 0,
      secondsLeft: rate > 0 ? Math.ceil((blocks.last - block) / rate) : null,
    })
  }
  return {
    show: () => {
      const nowMs = steadyMs()
      if (nowMs - shownAtMs >= PROGRESS_EVERY_MS) showAt(nowMs)
    },
    showLast: () => showAt(steadyMs()),
  }
}

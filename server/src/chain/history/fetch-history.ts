import { CommandError } from '../../errors.ts'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import { type BlockRange, ContradictionError } from '../follow/chain-source.ts'
import type { Spool } from './spool.ts'
import type { LogsOfRange, TimedLog } from './spool-frames.ts'

/** What the history is read from. Nodes that refuse a range are asked for smaller ones. */
export interface HistorySource {
  /**
   * All logs of our contracts in these blocks, range by range, in order and without gaps. Only nodes are asked that have
   * the first logs of the land.
   */
  readonly ranges: (blocks: BlockRange, signal: AbortSignal) => AsyncIterable<RangeAnswer>
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** In the order of the hashes. */
  readonly headersByHash: (hashes: readonly string[]) => Promise<readonly BlockHeader[]>
  /** Whether the registry has no parcel at all at the last final block. */
  readonly hasNoParcels: () => Promise<boolean>
}

export interface RangeAnswer extends BlockRange {
  /** The hash of the last block. */
  readonly lastHash: string
  readonly logs: readonly RawLog[]
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
  /** Whether the log is the transfer of a parcel, and if so, whether it is the first of that parcel: from nobody. */
  readonly parcelTransfer: (log: RawLog) => 'first' | 'later' | undefined
  /** Whether stored ranges were applied to rows already: then none of them may be deleted. */
  readonly areApplied?: boolean
  readonly signal: AbortSignal
  readonly steadyMs: () => number
  readonly onProgress: (progress: HistoryProgress) => void
  /** Gets the blocks whose logs may be incomplete: see {@link RangeAnswer}. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
}

/** How many ranges are compared with the chain at a time, the newest first. A range mostly has thousands of blocks. */
const COMPARED_RANGES = 16

/**
 * Reads the logs that the spool does not have yet, up to the last block of the history, which must be final. Stored ranges
 * whose last block the chain no longer has are deleted first: finality was broken, and they are of another branch.
 *
 * Nodes without old blocks answer that a range has no logs, instead of refusing it. So the first transfer of a parcel
 * must be one from nobody, and a history without any is believed only if the registry says that there are no parcels.
 * Else all that was stored is deleted, because the node cannot be trusted with any range.
 *
 * @throws {CommandError} where the node does not have the old blocks, or final blocks were replaced meanwhile
 */
export async function fetchHistory(options: FetchOptions): Promise<void> {
  const { source, spool, blocks, signal } = options
  if ((await dropOtherBranch(options)) && options.areApplied) throw replaced()
  spool.hasParcels ||= await hasStoredParcels(options)
  if (spool.nextBlock > blocks.last) return assertParcels(options)
  const missing = { first: spool.nextBlock, last: blocks.last }
  const progress = progressOf(options, missing.first)
  for await (const range of source.ranges(missing, signal)) {
    signal.throwIfAborted()
    const timed = await withTimes(range, source)
    if (!spool.hasParcels) await assertFirstTransfer(options, timed)
    await spool.append(timed)
    if (range.suspectBlocks.length > 0) options.onSuspectBlocks(range.suspectBlocks)
    options.onProgress(progress())
  }
  await spool.sync()
  await assertParcels(options)
  if (await dropOtherBranch(options)) throw replaced()
}

function replaced(): CommandError {
  return new CommandError(
    'Final blocks were replaced while the history was read. Nothing was changed. Start the command again: it requests only what was replaced.',
  )
}

/** Deletes the ranges of a branch that the chain no longer has. @returns whether there were any */
async function dropOtherBranch({ spool, source, signal }: FetchOptions): Promise<boolean> {
  for (let hasDropped = false; ; hasDropped = true) {
    signal.throwIfAborted()
    const stored = spool.newestBlocks(COMPARED_RANGES)
    const now = await Promise.all(stored.map(({ number }) => storedHeader(number, source)))
    const other = stored.find(({ hash }, at) => hash !== now[at]!.hash)
    if (!other) return hasDropped
    await spool.dropFrom(other.number)
  }
}

async function storedHeader(number: number, source: HistorySource): Promise<BlockHeader> {
  try {
    return await source.headerByNumber(number)
  } catch (error) {
    if (!(error instanceof ContradictionError)) throw error
    throw new CommandError(
      `The stored logs in DATA_DIR/chain reach block ${number}, which the node does not have. Wait until it has that block or, if the chain was started anew, delete that folder.`,
    )
  }
}

async function assertFirstTransfer(
  { parcelTransfer, spool }: FetchOptions,
  { logs }: LogsOfRange,
): Promise<void> {
  const first = logs.find((log) => parcelTransfer(log) !== undefined)
  if (!first) return
  if (parcelTransfer(first) === 'later') {
    await spool.clear()
    throw withoutHistory(
      `the first transfer of land that it knows, in block ${first.blockNumber}, is not of a new parcel`,
    )
  }
  spool.hasParcels = true
}

async function assertParcels(options: FetchOptions): Promise<void> {
  const { spool, source } = options
  if (spool.hasParcels || (await source.hasNoParcels())) return
  await spool.clear()
  throw withoutHistory('it has no transfer of land at all, although the registry has parcels')
}

/** Whether an earlier process has stored the first transfer of a parcel. */
async function hasStoredParcels({ spool, parcelTransfer }: FetchOptions): Promise<boolean> {
  for await (const { logs } of spool.ranges())
    if (logs.some((log) => parcelTransfer(log) === 'first')) return true
  return false
}

function withoutHistory(why: string): CommandError {
  return new CommandError(
    `The node does not have the old blocks: ${why}. The history needs a node that keeps all logs since the first block of the land: a full node without history expiry, or an archive node.`,
  )
}

/** Where the node does not give the time of a log, the header of its block does. */
async function withTimes(range: RangeAnswer, source: HistorySource): Promise<LogsOfRange> {
  const { first, last, lastHash, logs } = range
  if (hasTimes(logs)) return { first, last, lastHash, logs }
  const unknown = new Set(logs.filter((log) => log.blockTimeS === undefined).map((log) => log.blockHash))
  const headers = await source.headersByHash([...unknown])
  const times = new Map(headers.map(({ hash, timeS }) => [hash, timeS]))
  const timed = logs.map(
    (log): TimedLog => ({ ...log, blockTimeS: log.blockTimeS ?? times.get(log.blockHash)! }),
  )
  return { first, last, lastHash, logs: timed }
}

function hasTimes(logs: readonly RawLog[]): logs is readonly TimedLog[] {
  return logs.every((log) => log.blockTimeS !== undefined)
}

/** Rates since this process began. */
function progressOf({ spool, blocks, steadyMs }: FetchOptions, start: number): () => HistoryProgress {
  const [startedAtMs, logsBefore] = [steadyMs(), spool.logs]
  const total = Math.max(blocks.last - blocks.first + 1, 1)
  return () => {
    const seconds = (steadyMs() - startedAtMs) / 1_000
    const block = spool.nextBlock - 1
    const rate = seconds > 0 ? (block - start + 1) / seconds : 0
    return {
      block,
      last: blocks.last,
      percent: Math.floor((1_000 * (block - blocks.first + 1)) / total) / 10,
      logs: spool.logs,
      logsPerSecond: seconds > 0 ? Math.round((spool.logs - logsBefore) / seconds) : 0,
      secondsLeft: rate > 0 ? Math.ceil((blocks.last - block) / rate) : null,
    }
  }
}

import { PackedLogs } from '../packed-logs.ts'
import { logsProvenBy } from '../proofs/receipts-root.ts'
import { NoNodeError } from './no-node-error.ts'
import type { EthereumNode } from './node.ts'
import type { NodeHeader } from './node-answers.ts'
import { asksForLess, type FailureKind, ignoreNodeError, NodeError } from './node-error.ts'
import type { Choice, Nodes } from './nodes.ts'
import { RangeSize } from './range-size.ts'
import type { BlockRange } from './refusals.ts'
import { MAX_TRIES, retryPauseMs } from './retries.ts'
import { settleRange } from './settle-range.ts'
import type { Timing } from './timing.ts'

export interface LogRangesOptions extends Choice, BlockRange {
  /** In lower case. */
  readonly addresses: readonly string[]
  /** Ranges that are asked for at the same time; 4 where it is left out. */
  readonly inFlight?: number
  /** Only these nodes are asked; all where it is left out. */
  readonly among?: readonly EthereumNode[]
  /** Blocks of the first range. */
  readonly firstBlocks?: number
  /** Blocks of any range. */
  readonly maxBlocks?: number
  /** How often one range is tried before the reading fails; refusals that shrink it do not count. 8 where it is left out. */
  readonly maxTries?: number
  /** The reading fails where all nodes ask for a longer pause than this; any where it is left out. */
  readonly maxPauseMs?: number
  /** Is called before each call for logs, also for one that is repeated. What it throws ends the reading. */
  readonly beforeEachTry?: () => Promise<void>
  /** Whether each range is read from nodes of two hosts, where there are two: what one of them leaves out is noticed. */
  readonly isCompared?: boolean
  /** Gets each failure of a range after which it is tried again. */
  readonly onFailure?: ((error: unknown) => void) | undefined
  readonly timing: Timing
  /** Ends the reading: it then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** All logs of a range, in order. Their times are known where they contradict nothing. */
export interface LogRange extends BlockRange {
  readonly logs: PackedLogs
  /** The header of `toBlock`, the same before and after the logs were read. */
  readonly last: NodeHeader
  /** The short name of the node that gave the logs. */
  readonly node: string
  /**
   * Blocks with an exactly round number of logs that no receipts could confirm: the node may have left out the rest.
   * Mostly empty.
   */
  readonly suspectBlocks: readonly number[]
}

const DEFAULT_IN_FLIGHT = 4
const DEFAULT_FIRST_BLOCKS = 2_000
const DEFAULT_MAX_BLOCKS = 100_000
/** Failures that repeating cannot mend: the node does not have the blocks, or refuses even a single one. */
const LASTING: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'history',
  'range_too_large',
  'too_many_results',
  'too_large',
])

/**
 * Reads the logs of many blocks, range by range, in order. Ranges adapt to each node; several are read at the same time. A
 * range fails over to the next node, and is tried again with growing pauses.
 *
 * Blocks must be final: a range whose last header changes while it is read is read again.
 *
 * @throws {NodeError | NoNodeError} when a range cannot be read from any node; of kind `history` where no node has these blocks
 * @example
 * for await (const { toBlock, logs } of readLogRanges(nodes, { fromBlock: 4_944_642, toBlock: final, addresses, timing })) …
 */
export async function* readLogRanges(nodes: Nodes, options: LogRangesOptions): AsyncGenerator<LogRange> {
  const reader = new RangeReader(nodes, options)
  const inFlight = options.inFlight ?? DEFAULT_IN_FLIGHT
  /** In order of blocks, without gaps; the first ones are being read. */
  const ranges: { readonly range: BlockRange; reading?: Promise<readonly LogRange[]> }[] = []
  let nextBlock = options.fromBlock
  let earliestS = nodes.startTimeS
  try {
    while (ranges.length > 0 || nextBlock <= options.toBlock) {
      while (ranges.length < inFlight && nextBlock <= options.toBlock) {
        const toBlock = Math.min(options.toBlock, nextBlock + (await reader.nextBlocks()) - 1)
        ranges.push({ range: { fromBlock: nextBlock, toBlock } })
        nextBlock = toBlock + 1
      }
      for (const next of ranges.slice(0, inFlight)) {
        next.reading ??= reader.readBeginning(next.range)
        // A later range may fail while an earlier one is awaited
        next.reading.catch(() => undefined)
      }
      const first = ranges.shift()
      const parts = (await first?.reading) ?? []
      for (const part of parts) {
        yield withPlausibleTimes(part, earliestS)
        earliestS = part.last.timeS
      }
      const readTo = parts.at(-1)?.toBlock
      if (first && readTo !== undefined && readTo < first.range.toBlock) {
        const rest = { fromBlock: readTo + 1, toBlock: first.range.toBlock }
        ranges.unshift(...cut(rest, await reader.nextBlocks()).map((range) => ({ range })))
      }
    }
  } finally {
    reader.stop()
  }
}

/**
 * Times of logs that contradict each other, the last block of the range or that of the range before are not believed: the
 * headers of their blocks have the right ones.
 */
function withPlausibleTimes(range: LogRange, earliestS: number): LogRange {
  const { logs, last } = range
  const [oldestS, newestS] = [logs.oldest?.blockTimeS ?? earliestS, logs.newest?.blockTimeS ?? last.timeS]
  const isOfLast = logs.newest?.blockNumber === last.number
  const isPlausible =
    logs.haveRisingTimes &&
    oldestS >= earliestS &&
    (isOfLast ? newestS === last.timeS : newestS <= last.timeS)
  return isPlausible ? range : { ...range, logs: PackedLogs.from(withoutTimes(logs)) }
}

function* withoutTimes(logs: PackedLogs) {
  for (const log of logs) yield { ...log, blockTimeS: undefined }
}

/** A range as ranges of so many blocks. */
function cut({ fromBlock, toBlock }: BlockRange, blocks: number): readonly BlockRange[] {
  const count = Math.ceil((toBlock - fromBlock + 1) / blocks)
  return Array.from({ length: count }, (_, at) => ({
    fromBlock: fromBlock + at * blocks,
    toBlock: Math.min(toBlock, fromBlock + (at + 1) * blocks - 1),
  }))
}

class RangeReader {
  private readonly nodes: Nodes
  private readonly options: LogRangesOptions
  private readonly sizes = new Map<EthereumNode, RangeSize>()
  /** Nodes that do not have the logs of blocks up to this one. */
  private readonly withoutHistory = new Map<
    EthereumNode,
    { readonly upTo: number; readonly error: NodeError }
  >()
  private isStopped = false

  constructor(nodes: Nodes, options: LogRangesOptions) {
    this.nodes = nodes
    this.options = options
  }

  /** No further call is made. */
  stop(): void {
    this.isStopped = true
  }

  /** Blocks of the next range, by what the best node has answered so far. */
  async nextBlocks(): Promise<number> {
    const [best] = await this.candidates()
    return best ? this.sizeOf(best).blocks : 1
  }

  /** Reads the beginning of a range: as much as a node answers at once, mostly the whole range. */
  async readBeginning({ fromBlock, toBlock }: BlockRange): Promise<readonly LogRange[]> {
    const failed = new Map<EthereumNode, NodeError>()
    let tries = 0
    for (;;) {
      this.throwIfStopped()
      const node = await this.findNode(fromBlock, failed)
      if (!node) {
        tries += 1
        await this.pauseBeforeRetry(failed, tries)
        continue
      }
      const size = this.sizeOf(node)
      const part = { fromBlock, toBlock: Math.min(toBlock, fromBlock + size.blocks - 1) }
      try {
        const ranges = await this.readFrom(node, part)
        if (ranges.length === 1) size.noteAnswer(part.toBlock - part.fromBlock + 1)
        return ranges
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        // After the pause of a rate limit, the same node is asked for the same range
        if (error.kind !== 'rate_limit') this.noteFailure(node, part, error, failed)
      }
    }
  }

  private noteFailure(
    node: EthereumNode,
    part: BlockRange,
    error: NodeError,
    failed: Map<EthereumNode, NodeError>,
  ): void {
    const isShorter = asksForLess(error) && part.toBlock > part.fromBlock
    if (isShorter) this.sizeOf(node).noteRefusal(part, error.failure)
    if (error.kind === 'history') this.withoutHistory.set(node, { upTo: part.fromBlock, error })
    // A node that took too long may take too long for the shorter range, too: another one comes first
    if (!isShorter || error.kind === 'timeout' || error.kind === 'late') failed.set(node, error)
  }

  /** The best node that has not failed for this range, and that may have its blocks. */
  private async findNode(
    fromBlock: number,
    failed: Map<EthereumNode, NodeError>,
  ): Promise<EthereumNode | undefined> {
    for (const [node, { upTo, error }] of this.withoutHistory) if (fromBlock <= upTo) failed.set(node, error)
    const candidates = await this.candidates()
    return candidates.find((node) => !failed.has(node))
  }

  /**
   * Refusals that shrink the range, and pauses, do not count as tries.
   *
   * @throws the failure of the range where repeating cannot mend it, or has been tried often enough
   */
  private async pauseBeforeRetry(failed: Map<EthereumNode, NodeError>, tries: number): Promise<void> {
    const errors = [...failed.values()]
    const lasting = errors.find(({ kind }) => LASTING.has(kind))
    const isHopeless =
      lasting && errors.every(({ kind }) => LASTING.has(kind)) && this.hasFailedEverywhere(failed)
    const error = lasting ?? errors.at(-1) ?? this.nodes.noNode()
    const { maxTries = MAX_TRIES, maxPauseMs = Number.POSITIVE_INFINITY } = this.options
    const askedMs = error instanceof NoNodeError ? (error.retryAfterMs ?? 0) : 0
    if (isHopeless || tries >= maxTries || askedMs > maxPauseMs) throw error
    failed.clear()
    this.options.onFailure?.(error)
    await this.options.timing.pause(retryPauseMs(tries, error), this.options.signal)
  }

  private hasFailedEverywhere(failed: ReadonlyMap<EthereumNode, NodeError>): boolean {
    const names = new Set([...failed.keys()].map(({ name }) => name))
    const { among } = this.options
    const others = this.nodes
      .status()
      .filter(({ name, state }) => state !== 'refused' && !names.has(name))
      .filter(({ name }) => !among || among.some((node) => node.name === name))
    return others.length === 0
  }

  private async candidates(): Promise<readonly EthereumNode[]> {
    const { among } = this.options
    const candidates = await this.nodes.candidates(this.options)
    return among ? candidates.filter((node) => among.includes(node)) : candidates
  }

  /** Logs of a range from one node, between two looks at the range's last header. */
  private async readFrom(node: EthereumNode, range: BlockRange): Promise<readonly LogRange[]> {
    await this.options.beforeEachTry?.()
    const before = await this.lastHeader(node, range)
    const logs = await this.readCompared(node, range)
    if (isRound(logs.length) && range.toBlock > range.fromBlock) {
      this.sizeOf(node).noteRefusal(range, { kind: 'too_many_results' })
      return this.readHalves(node, range)
    }
    const after = await this.lastHeader(node, range)
    // All logs of a block have the same hash.
    const { newest } = logs
    const isOther = newest?.blockNumber === range.toBlock && newest.blockHash !== after.hash
    if (before.hash !== after.hash || isOther) {
      throw node.accuse('eth_getLogs', `block ${range.toBlock} changed while its logs were read`)
    }
    const isSuspect = isRound(logs.length) && !(await this.hasAll(node, after, logs))
    return [{ ...range, logs, last: after, node: node.name, suspectBlocks: isSuspect ? [range.toBlock] : [] }]
  }

  /**
   * The logs of a range; where they are compared, what two nodes agree on. A second node that does not answer leaves those of
   * the first.
   */
  private async readCompared(node: EthereumNode, range: BlockRange): Promise<PackedLogs> {
    const { nodes } = this
    const { addresses } = this.options
    const other = this.options.isCompared ? await this.otherThan(node) : undefined
    if (!other) return node.logsOfRange(range, addresses)
    const [logs, others] = await Promise.all([
      node.logsOfRange(range, addresses, true),
      this.readParts(other, range).catch(ignoreNodeError),
    ])
    if (!others || logs.takeDigest() === others.takeDigest()) return logs
    return settleRange(
      nodes,
      [
        { node, logs },
        { node: other, logs: others },
      ],
      addresses,
    )
  }

  private async otherThan(node: EthereumNode): Promise<EthereumNode | undefined> {
    return (await this.candidates()).find(({ host, pauseMs }) => host !== node.host && pauseMs === 0)
  }

  /** A range in the parts that the node allows. */
  private async readParts(node: EthereumNode, range: BlockRange): Promise<PackedLogs> {
    const size = this.sizeOf(node)
    const parts: PackedLogs[] = []
    for (let fromBlock = range.fromBlock; fromBlock <= range.toBlock; ) {
      const part = { fromBlock, toBlock: Math.min(range.toBlock, fromBlock + size.blocks - 1) }
      try {
        const isWhole = part.fromBlock === range.fromBlock && part.toBlock === range.toBlock
        const logs = await node.logsOfRange(part, this.options.addresses, isWhole)
        if (isWhole) return logs
        parts.push(logs)
        size.noteAnswer(part.toBlock - part.fromBlock + 1)
        fromBlock = part.toBlock + 1
      } catch (error) {
        if (!asksForLess(error) || part.toBlock === part.fromBlock) throw error
        size.noteRefusal(part, error.failure)
      }
    }
    return PackedLogs.from(PackedLogs.joined(parts), true)
  }

  /** Some services answer at most a round number of logs, without an error: such an answer is not believed. */
  private async readHalves(
    node: EthereumNode,
    { fromBlock, toBlock }: BlockRange,
  ): Promise<readonly LogRange[]> {
    const middle = fromBlock + ((toBlock - fromBlock) >> 1)
    const first = await this.readFrom(node, { fromBlock, toBlock: middle })
    return [...first, ...(await this.readFrom(node, { fromBlock: middle + 1, toBlock }))]
  }

  /** Whether the receipts of a block prove that these are all its logs; false where they cannot be had. */
  private async hasAll(node: EthereumNode, header: NodeHeader, logs: PackedLogs): Promise<boolean> {
    const receipts = await node.receiptsOf(header.hash).catch(ignoreNodeError)
    const proven = receipts && logsProvenBy(receipts, header.receiptsRoot, this.options.addresses)
    if (!proven) return false
    if (proven.length === logs.length) return true
    throw node.accuse('eth_getLogs', `logs of block ${header.number} are missing`)
  }

  private async lastHeader(node: EthereumNode, { toBlock }: BlockRange): Promise<NodeHeader> {
    const header = await node.headerAt(toBlock)
    if (!header) throw node.failure('eth_getBlockByNumber', { kind: 'beyond_head' })
    return header
  }

  private sizeOf(node: EthereumNode): RangeSize {
    const { firstBlocks = DEFAULT_FIRST_BLOCKS, maxBlocks = DEFAULT_MAX_BLOCKS } = this.options
    const size = this.sizes.get(node) ?? new RangeSize(firstBlocks, maxBlocks)
    this.sizes.set(node, size)
    return size
  }

  private throwIfStopped(): void {
    this.options.signal?.throwIfAborted()
    if (this.isStopped) throw new Error('the reading of ranges has ended')
  }
}

/** 100, 1,000, 5,000, 20,000 …: one digit and at least two zeros. */
function isRound(count: number): boolean {
  return /^[1-9]00+$/.test(String(count))
}

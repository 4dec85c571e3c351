import { createHash, type Hash } from 'node:crypto'
import type { RawLog } from './chain-types.ts'

/** A log with the time of its block. */
export interface TimedLog extends RawLog {
  readonly blockTimeS: number
}

/** What a log has in common with the one before it is left out: mostly, it is in the same transaction. */
type PackedLog = readonly [
  address: string,
  topics: readonly string[],
  data: string,
  logIndex: number,
  ...transaction: PackedTransaction | [],
]
type PackedTransaction = [txHash: string, txIndex: number, ...block: PackedBlock | []]
type PackedBlock = [blockNumber: number, blockHash: string, timeS: number | null]

/** Logs in one text: a garbage collection visits each object of longer ones. */
const LOGS_OF_TEXT = 100

/**
 * Logs as JSON texts, in their order. Thousands of logs that wait for their turn take half of the memory that objects take,
 * and the garbage collector has nothing to visit in them.
 *
 * @example
 * const logs = PackedLogs.from([log, next])
 * logs.length // 2
 * ;[...logs] // equal to [log, next]
 */
export class PackedLogs implements Iterable<RawLog> {
  /** JSON lists without their brackets. A text may leave out what the last log of the text before it has. */
  private readonly texts: string[] = []
  private first: RawLog | undefined
  private last: RawLog | undefined
  private count = 0
  private areTimed = true
  private areRising = true
  private readonly hash: Hash | undefined

  /** @param isCompared whether the logs get a digest, with which those of two nodes are compared */
  constructor(isCompared = false) {
    this.hash = isCompared ? createHash('sha1') : undefined
  }

  static from(logs: Iterable<RawLog>, isCompared = false): PackedLogs {
    if (logs instanceof PackedLogs && !isCompared) return logs
    const packed = new PackedLogs(isCompared)
    let next: RawLog[] = []
    for (const log of logs) {
      next.push(log)
      if (next.length < LOGS_OF_TEXT) continue
      packed.add(next)
      next = []
    }
    packed.add(next)
    return packed
  }

  /** The logs of lists that follow each other. */
  static joined(lists: readonly PackedLogs[]): PackedLogs {
    const [only] = lists
    if (only && lists.length === 1) return only
    const joined = new PackedLogs()
    for (const { texts, first, last, count, areTimed, areRising } of lists) {
      for (const text of texts) joined.texts.push(text)
      joined.areRising &&= areRising && (!first || doTimesRise(first, joined.last))
      joined.first ??= first
      joined.last = last ?? joined.last
      joined.count += count
      joined.areTimed &&= areTimed
    }
    return joined
  }

  /** Adds some hundred logs at most. */
  add(logs: readonly RawLog[]): void {
    if (logs.length === 0) return
    const packed = logs.map((log, at) => packedLog(log, at === 0 ? this.last : logs[at - 1]))
    this.texts.push(JSON.stringify(packed).slice(1, -1))
    this.hash?.update(logs.map(comparedText).join(''))
    this.areRising &&= logs.every((log, at) => doTimesRise(log, at === 0 ? this.last : logs[at - 1]))
    this.first ??= logs[0]
    this.last = logs.at(-1)
    this.count += logs.length
    this.areTimed &&= logs.every(({ blockTimeS }) => blockTimeS !== undefined)
  }

  get length(): number {
    return this.count
  }

  /** Equal for logs whose {@link comparedText} is equal. Once, and last. */
  takeDigest(): string {
    return `${this.count} ${this.hash?.digest('base64') ?? ''}`
  }

  /** The first log. */
  get oldest(): RawLog | undefined {
    return this.first
  }

  /** The last log. */
  get newest(): RawLog | undefined {
    return this.last
  }

  /** Whether the time of each log is known. */
  get hasTimes(): boolean {
    return this.areTimed
  }

  /** Whether the logs of a block have one time, and those of later blocks no earlier one; also where a time is not known. */
  get haveRisingTimes(): boolean {
    return this.areRising
  }

  /** One JSON list of all logs, in pieces. */
  *json(): Generator<string> {
    yield '['
    for (const [at, text] of this.texts.entries()) yield at === 0 ? text : `,${text}`
    yield ']'
  }

  *[Symbol.iterator](): Generator<RawLog> {
    let before: RawLog | undefined
    for (const text of this.texts) {
      const logs = unpackedLogs(`[${text}]`, before)
      yield* logs
      before = logs.at(-1)
    }
  }
}

/**
 * Logs of a part of {@link PackedLogs.json}.
 *
 * @param json a list
 * @param before the log before its first one
 * @throws for anything that was not written by {@link PackedLogs}
 */
export function unpackedLogs(json: string, before: RawLog | undefined): readonly RawLog[] {
  const logs: RawLog[] = []
  for (const packed of JSON.parse(json) as readonly PackedLog[])
    logs.push(unpackedLog(packed, logs.at(-1) ?? before))
  return logs
}

/** Equal for the same log, whichever node gave it; without its time, which some nodes do not say. */
export function comparedText({
  address,
  topics,
  data,
  blockHash,
  txHash,
  txIndex,
  logIndex,
}: RawLog): string {
  return `\n${blockHash}${txHash}${txIndex} ${logIndex} ${address}${topics.join('')} ${data}`
}

function doTimesRise({ blockTimeS, blockHash }: RawLog, before: RawLog | undefined): boolean {
  if (blockTimeS === undefined || before?.blockTimeS === undefined) return true
  return blockHash === before.blockHash ? blockTimeS === before.blockTimeS : blockTimeS >= before.blockTimeS
}

function packedLog(log: RawLog, before: RawLog | undefined): PackedLog {
  const { address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex } = log
  if (before?.blockHash !== blockHash)
    return [address, topics, data, logIndex, txHash, txIndex, blockNumber, blockHash, blockTimeS ?? null]
  if (before.txHash !== txHash) return [address, topics, data, logIndex, txHash, txIndex]
  return [address, topics, data, logIndex]
}

function unpackedLog(packed: PackedLog, before: RawLog | undefined): RawLog {
  const [address, topics, data, logIndex, txHash, txIndex, blockNumber, blockHash, timeS] = packed
  return {
    address,
    topics,
    data,
    blockNumber: blockNumber ?? before!.blockNumber,
    blockHash: blockHash ?? before!.blockHash,
    blockTimeS: blockHash === undefined ? before!.blockTimeS : (timeS ?? undefined),
    txHash: txHash ?? before!.txHash,
    txIndex: txIndex ?? before!.txIndex,
    logIndex,
  }
}

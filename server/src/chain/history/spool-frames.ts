import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw } from 'node:zlib'
import { CommandError } from '../../errors.ts'
import type { RawLog } from '../chain-types.ts'

/** A log with the time of its block. */
export interface TimedLog extends RawLog {
  readonly blockTimeS: number
}

/** All logs of the blocks from `first` to `last`, both included, in their order. */
export interface LogsOfRange {
  readonly first: number
  readonly last: number
  /** The hash of the block `last`: by it one sees whether the range is still of the chain. */
  readonly lastHash: string
  readonly logs: readonly TimedLog[]
}

/** Like {@link LogsOfRange}, with the logs in parts that are made when they are asked for: each log costs a kilobyte. */
export interface StoredRange extends Omit<LogsOfRange, 'logs'> {
  /** @throws {DamagedRangeError} where they cannot be read, in spite of the right checksum */
  readonly parts: Iterable<readonly TimedLog[]>
}

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
/** Of decompressed logs. With the 16 kB of Node.js, a range of ten thousand logs takes 400 steps. */
const INFLATE_BYTES = 1 << 20
/** Of JSON, about 150 logs. */
const PART_BYTES = 1 << 16
/** At the beginning of the file. Files of other versions: see {@link convertOldSpool}. */
export const VERSION = Buffer.from('LPSPOOL3')
/** Before each frame: the lengths of its facts and of its logs, and the CRC-32 of both; four bytes each. */
const HEADER_BYTES = 12
/** A longer part is damage. */
const MAX_PART_BYTES = 1 << 30

/** What a frame says of its range, so that opening the file decompresses nothing. */
export type RangeFacts = readonly [first: number, last: number, lastHash: string, logs: number]

export interface Frame {
  readonly facts: RangeFacts
  /** Compressed. */
  readonly logs: Buffer
  /** Where the next frame begins in the file. */
  readonly end: number
}

/** The frame of a range, as it is written. */
export async function frameOf(
  range: LogsOfRange,
): Promise<{ readonly facts: RangeFacts; readonly bytes: Buffer }> {
  const { first, last, lastHash, logs } = range
  const facts: RangeFacts = [first, last, lastHash, logs.length]
  const [factsBytes, logsBytes] = [
    Buffer.from(JSON.stringify(facts)),
    await deflate(packed(logs), { level: 1 }),
  ]
  const bytes = Buffer.concat([Buffer.alloc(HEADER_BYTES), factsBytes, logsBytes])
  bytes.writeUInt32BE(factsBytes.length, 0)
  bytes.writeUInt32BE(logsBytes.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(HEADER_BYTES)), 8)
  return { facts, bytes }
}

/** The logs of a stored range cannot be read, in spite of the right checksum. */
export class DamagedRangeError extends CommandError {
  /** The first block of the range. */
  readonly first: number

  constructor([first, last]: RangeFacts) {
    super(`the stored logs of the blocks ${first} to ${last} are damaged`)
    this.name = 'DamagedRangeError'
    this.first = first
  }
}

/** The range of a frame, with all of its logs. @throws {DamagedRangeError} */
export async function rangeOf(frame: Pick<Frame, 'facts' | 'logs'>): Promise<LogsOfRange> {
  const { parts, ...range } = await storedRangeOf(frame)
  return { ...range, logs: [...parts].flat() }
}

/** The range of a frame. @throws {DamagedRangeError} where its logs cannot be decompressed, in spite of the right checksum */
export async function storedRangeOf({ facts, logs }: Pick<Frame, 'facts' | 'logs'>): Promise<StoredRange> {
  const [first, last, lastHash] = facts
  try {
    const json = await inflate(logs, { chunkSize: INFLATE_BYTES })
    return { first, last, lastHash, parts: { [Symbol.iterator]: () => partsOf(json, facts) } }
  } catch {
    throw new DamagedRangeError(facts)
  }
}

/** Whether the logs of a frame can be read. */
export function hasLogs(frame: Pick<Frame, 'facts' | 'logs'>): Promise<boolean> {
  return rangeOf(frame).then(
    () => true,
    () => false,
  )
}

/** Reads the frames of a file, one after the other: those that are whole and follow each other. */
export class FrameReader {
  private readonly file: FileHandle
  private offset: number
  private expected: number

  /** @param offset where the frame of `firstBlock` begins in the file */
  constructor(file: FileHandle, firstBlock: number, offset = VERSION.length) {
    this.file = file
    this.expected = firstBlock
    this.offset = offset
  }

  /** The first block of the next frame. */
  get nextBlock(): number {
    return this.expected
  }

  /** The next frame; undefined where there is none yet. Its logs stay compressed. */
  async next(): Promise<Frame | undefined> {
    const frame = await this.frameAt(this.offset)
    if (!frame || frame.facts[0] !== this.expected) return undefined
    this.offset = frame.end
    this.expected = frame.facts[1] + 1
    return frame
  }

  private async frameAt(offset: number): Promise<Frame | undefined> {
    const header = await readAt(this.file, offset, HEADER_BYTES)
    if (!header) return undefined
    const [factsBytes, logsBytes] = [header.readUInt32BE(0), header.readUInt32BE(4)]
    // A file that grew before its bytes were on disk ends with zeros, whose checksum is that of an empty body.
    if (factsBytes === 0 || Math.max(factsBytes, logsBytes) > MAX_PART_BYTES) return undefined
    const body = await readAt(this.file, offset + HEADER_BYTES, factsBytes + logsBytes)
    if (!body || crc32(body) !== header.readUInt32BE(8)) return undefined
    const facts = parsedFacts(body.toString('utf8', 0, factsBytes))
    return facts && { facts, logs: body.subarray(factsBytes), end: offset + HEADER_BYTES + body.length }
  }
}

/** Undefined for what was not written by {@link frameOf}. */
function parsedFacts(json: string): RangeFacts | undefined {
  try {
    const facts: unknown = JSON.parse(json)
    return Array.isArray(facts) && facts.length === 4 ? (facts as unknown as RangeFacts) : undefined
  } catch {
    return undefined
  }
}

/** Bytes of a file; undefined where it ends before. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer | undefined> {
  const { size } = await file.stat()
  if (offset + length > size) return undefined
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, offset)
  return bytesRead === length ? buffer : undefined
}

/** Logs as JSON. What a log has in common with the one before it is left out: it is in the same transaction, mostly. */
type PackedLog = readonly [
  address: string,
  topics: readonly string[],
  data: string,
  logIndex: number,
  ...transaction: PackedTransaction | [],
]
type PackedTransaction = [txHash: string, txIndex: number, ...block: PackedBlock | []]
type PackedBlock = [blockNumber: number, blockHash: string, timeS: number]

function packed(logs: readonly TimedLog[]): string {
  return JSON.stringify(logs.map((log, at) => packedLog(log, logs[at - 1])))
}

function packedLog(log: TimedLog, before: TimedLog | undefined): PackedLog {
  const { address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex } = log
  if (before?.blockHash !== blockHash)
    return [address, topics, data, logIndex, txHash, txIndex, blockNumber, blockHash, blockTimeS]
  if (before.txHash !== txHash) return [address, topics, data, logIndex, txHash, txIndex]
  return [address, topics, data, logIndex]
}

function* partsOf(json: Buffer, facts: RangeFacts): Generator<readonly TimedLog[]> {
  let before: TimedLog | undefined
  for (const part of listsIn(json)) {
    const logs = unpacked(part, before, facts)
    before = logs.at(-1)
    yield logs
  }
}

/** A JSON list of packed logs as several shorter ones. Only two logs have `],[` between them: all texts are hex. */
function* listsIn(json: Buffer): Generator<string> {
  const end = json.length - 1
  for (let from = 1; from <= end; ) {
    const between = json.indexOf('],[', from + PART_BYTES, 'latin1')
    const to = between < 0 ? end : between + 1
    yield `[${json.toString('latin1', from, to)}]`
    from = to + 1
  }
}

/** @param before the log before the first one */
function unpacked(json: string, before: TimedLog | undefined, facts: RangeFacts): readonly TimedLog[] {
  try {
    const logs: TimedLog[] = []
    for (const packedLog of JSON.parse(json) as readonly PackedLog[])
      logs.push(unpackedLog(packedLog, logs.at(-1) ?? before))
    return logs
  } catch {
    throw new DamagedRangeError(facts)
  }
}

function unpackedLog(packedLog: PackedLog, before: TimedLog | undefined): TimedLog {
  const [address, topics, data, logIndex, txHash, txIndex, blockNumber, blockHash, timeS] = packedLog
  return {
    address,
    topics,
    data,
    blockNumber: blockNumber ?? before!.blockNumber,
    blockHash: blockHash ?? before!.blockHash,
    blockTimeS: timeS ?? before!.blockTimeS,
    txHash: txHash ?? before!.txHash,
    txIndex: txIndex ?? before!.txIndex,
    logIndex,
  }
}

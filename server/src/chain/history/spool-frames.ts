import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw, createInflateRaw } from 'node:zlib'
import { CommandError } from '../../errors.ts'
import { type PackedLogs, type TimedLog, unpackedLogs } from '../packed-logs.ts'

/** All logs of the blocks from `first` to `last`, both included, in their order. */
export interface LogsOfRange {
  readonly first: number
  readonly last: number
  /** The hash of the block `last`: by it one sees whether the range is still of the chain. */
  readonly lastHash: string
  readonly logs: readonly TimedLog[]
}

/** A range before it is stored. The time of each log is known. */
export interface PackedRange extends Omit<LogsOfRange, 'logs'> {
  readonly logs: PackedLogs
}

/**
 * Like {@link LogsOfRange}, with the logs in parts that are made when they are asked for: each log costs a kilobyte. They can
 * be read once.
 */
export interface StoredRange extends Omit<LogsOfRange, 'logs'> {
  /** @throws {DamagedRangeError} where they cannot be read, in spite of the right checksum */
  readonly parts: AsyncIterable<readonly TimedLog[]>
}

/** Bytes of decompressed logs. With the 16 kB of Node.js, a range of ten thousand logs takes 400 steps. */
const INFLATE_BYTES = 1 << 18
const DEFLATE_BYTES = 1 << 16
/** Bytes of JSON, about 40 logs: all that is made of them is garbage before the young generation is collected again. */
const PART_BYTES = 1 << 14
/** The version of the format, at the beginning of the file. */
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

/** The frame of a range, as it is written. @throws {Error} where the time of a log is not known */
export async function frameOf({
  first,
  last,
  lastHash,
  logs,
}: PackedRange): Promise<{ readonly facts: RangeFacts; readonly bytes: Buffer }> {
  if (!logs.hasTimes) throw new Error(`a log of the blocks ${first} to ${last} has no time`)
  const facts: RangeFacts = [first, last, lastHash, logs.length]
  const [factsBytes, logsBytes] = [Buffer.from(JSON.stringify(facts)), await deflated(logs.json())]
  const bytes = Buffer.concat([Buffer.alloc(HEADER_BYTES), factsBytes, logsBytes])
  bytes.writeUInt32BE(factsBytes.length, 0)
  bytes.writeUInt32BE(logsBytes.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(HEADER_BYTES)), 8)
  return { facts, bytes }
}

async function deflated(texts: Iterable<string>): Promise<Buffer> {
  const chunks: Buffer[] = []
  await pipeline(texts, createDeflateRaw({ level: 1, chunkSize: DEFLATE_BYTES }), async (deflating) => {
    for await (const chunk of deflating as AsyncIterable<Buffer>) chunks.push(chunk)
  })
  return Buffer.concat(chunks)
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
  const { parts, ...range } = storedRangeOf(frame)
  const logs: TimedLog[] = []
  for await (const part of parts) for (const log of part) logs.push(log)
  return { ...range, logs }
}

/** The range of a frame. Its logs are decompressed while they are read. */
export function storedRangeOf({ facts, logs }: Pick<Frame, 'facts' | 'logs'>): StoredRange {
  const [first, last, lastHash] = facts
  return { first, last, lastHash, parts: partsOf(logs, facts) }
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
    // Its checksum was right, so this program wrote it
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

/** @throws {DamagedRangeError} */
async function* partsOf(compressed: Buffer, facts: RangeFacts): AsyncGenerator<readonly TimedLog[]> {
  let before: TimedLog | undefined
  let count = 0
  try {
    for await (const list of listsIn(inflated(compressed))) {
      const logs = unpackedLogs(list, before) as readonly TimedLog[]
      before = logs.at(-1)
      count += logs.length
      yield logs
    }
    if (count !== facts[3]) throw new DamagedRangeError(facts)
  } catch {
    throw new DamagedRangeError(facts)
  }
}

function inflated(compressed: Buffer): AsyncIterable<Buffer> {
  const inflate = createInflateRaw({ chunkSize: INFLATE_BYTES })
  inflate.end(compressed)
  return inflate
}

/** A JSON list of packed logs as several shorter ones. Only two logs have `],[` between them: all texts are hex. */
async function* listsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let from = 1
  let json: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    json = json.length === 0 ? chunk : Buffer.concat([json, chunk])
    for (;;) {
      const between = json.indexOf('],[', from + PART_BYTES, 'latin1')
      if (between < 0) break
      yield `[${json.toString('latin1', from, between + 1)}]`
      from = between + 2
    }
    json = json.subarray(from)
    from = 0
  }
  yield `[${json.toString('latin1', 0, json.length - 1)}]`
}

import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw } from 'node:zlib'
import { FolderLock } from '../../db/embedded/folder-lock.ts'
import { CommandError } from '../../errors.ts'
import type { BlockRef, RawLog } from '../chain-types.ts'

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

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
/** At the beginning of the file. A file of another version is deleted and read again. */
const VERSION = Buffer.from('LPSPOOL3')
/** Before each frame: the lengths of its facts and of its logs, and the CRC-32 of both; four bytes each. */
const HEADER_BYTES = 12
/** A longer part is damage. */
const MAX_PART_BYTES = 1 << 30

/**
 * The raw logs of the history, in a file that grows by one frame for each range: so a process that was killed asks a node
 * only for what is missing. Ranges follow each other without a gap. A frame that is torn or damaged ends the file: it is
 * cut off there and requested again. One process at a time has the folder; the lock of a process that ended is taken over.
 *
 * @example
 * const spool = await Spool.open('data/chain', { name: '1-5f2c', firstBlock: 4_944_642 })
 * await spool.append({ first: 4_944_642, last: 4_954_641, lastHash, logs })
 * spool.nextBlock // 4_954_642
 */
export class Spool {
  /** Whether the first transfer of a parcel was found in it: a note of the reader in memory. */
  hasParcels = false
  readonly firstBlock: number
  private readonly file: FileHandle
  private readonly lock: FolderLock
  /** The last block, the end in the file and the number of logs of each frame. */
  private readonly marks: Mark[] = []

  private constructor(file: FileHandle, lock: FolderLock, firstBlock: number) {
    this.file = file
    this.lock = lock
    this.firstBlock = firstBlock
  }

  /**
   * Opens the file, or creates it.
   *
   * @param name of the chain and its contracts: another set of contracts has other logs
   * @param firstBlock the first block of the history
   * @throws {CommandError} where another process uses the folder
   */
  static async open(
    folder: string,
    { name, firstBlock }: { readonly name: string; readonly firstBlock: number },
  ): Promise<Spool> {
    await mkdir(folder, { recursive: true })
    const lock = await lockOf(folder)
    try {
      const file = await open(join(folder, `${name}.spool`), 'a+')
      const spool = new Spool(file, lock, firstBlock)
      await spool.load()
      return spool
    } catch (error) {
      lock.release()
      throw error
    }
  }

  /** The first block whose logs are not stored. */
  get nextBlock(): number {
    return (this.marks.at(-1)?.block.number ?? this.firstBlock - 1) + 1
  }

  get logs(): number {
    return this.marks.reduce((sum, { logs }) => sum + logs, 0)
  }

  /** The last blocks of the newest ranges, the oldest of them first. */
  newestBlocks(count: number): readonly BlockRef[] {
    return this.marks.slice(-count).map(({ block }) => block)
  }

  /** @throws {Error} where the range does not follow the last one, or cannot be written whole: nothing of it stays */
  async append(range: LogsOfRange): Promise<void> {
    const { first, last, lastHash, logs } = range
    if (first !== this.nextBlock)
      throw new Error(`block ${first} does not follow ${this.nextBlock - 1} in the spool`)
    const facts: RangeFacts = [first, last, lastHash, logs.length]
    const frame = frameOf(Buffer.from(JSON.stringify(facts)), await deflate(packed(logs), { level: 1 }))
    await this.write(frame)
    this.note(facts, this.end + frame.length)
  }

  /** Everything that is stored, range by range. While one is worked on, the next is read. */
  async *ranges(): AsyncGenerator<LogsOfRange> {
    const frames = this.frames()
    let next = this.nextRange(frames)
    for (;;) {
      const range = await next
      if (!range) return
      next = this.nextRange(frames)
      next.catch(() => undefined) // It is thrown where the range is awaited.
      yield { ...range, logs: unpacked(range.json) }
    }
  }

  private async nextRange(frames: AsyncGenerator<Frame>): Promise<UnreadRange | undefined> {
    const { value: frame } = await frames.next()
    if (!frame) return undefined
    const [first, last, lastHash] = frame.facts
    return { first, last, lastHash, json: (await inflate(frame.logs)).toString() }
  }

  /** Deletes the range that ends at this block, and all later ones. */
  async dropFrom(last: number): Promise<void> {
    const at = this.marks.findIndex(({ block }) => block.number >= last)
    if (at < 0) return
    this.marks.length = at
    await this.file.truncate(this.end)
  }

  /** Deletes everything. */
  async clear(): Promise<void> {
    await this.dropFrom(this.firstBlock)
  }

  /** Waits until everything is on disk. */
  async sync(): Promise<void> {
    await this.file.datasync()
  }

  async close(): Promise<void> {
    await this.file.close()
    this.lock.release()
  }

  /** Where the next frame begins in the file. */
  private get end(): number {
    return this.marks.at(-1)?.end ?? VERSION.length
  }

  /** Reads what is whole, and cuts off the rest. */
  private async load(): Promise<void> {
    const version = await this.read(0, VERSION.length)
    if (version?.equals(VERSION)) {
      for await (const { facts, end } of this.frames()) this.note(facts, end)
      await this.file.truncate(this.end)
    } else {
      await this.file.truncate(0)
      await this.file.appendFile(VERSION)
    }
  }

  private note([, last, lastHash, logs]: RangeFacts, end: number): void {
    this.marks.push({ block: { number: last, hash: lastHash }, end, logs })
  }

  /** Writes a whole frame or, where the disk is full, nothing. */
  private async write(frame: Buffer): Promise<void> {
    try {
      const { bytesWritten } = await this.file.write(frame)
      if (bytesWritten !== frame.length)
        throw new Error(
          `only ${bytesWritten} of ${frame.length} bytes were written to the spool; is the disk full?`,
        )
    } catch (error) {
      await this.file.truncate(this.end)
      throw error
    }
  }

  /** The frames that are whole and follow each other. Their logs stay compressed. */
  private async *frames(): AsyncGenerator<Frame> {
    let at = VERSION.length
    let next = this.firstBlock
    for (;;) {
      const frame = await this.frameAt(at)
      if (!frame || frame.facts[0] !== next) return
      at = frame.end
      next = frame.facts[1] + 1
      yield frame
    }
  }

  /** The frame at this offset; undefined at the end of what is whole. */
  private async frameAt(offset: number): Promise<Frame | undefined> {
    const header = await this.read(offset, HEADER_BYTES)
    if (!header) return undefined
    const [factsBytes, logsBytes] = [header.readUInt32BE(0), header.readUInt32BE(4)]
    if (Math.max(factsBytes, logsBytes) > MAX_PART_BYTES) return undefined
    const body = await this.read(offset + HEADER_BYTES, factsBytes + logsBytes)
    if (!body || crc32(body) !== header.readUInt32BE(8)) return undefined
    return {
      facts: JSON.parse(body.toString('utf8', 0, factsBytes)) as RangeFacts,
      logs: body.subarray(factsBytes),
      end: offset + HEADER_BYTES + body.length,
    }
  }

  private async read(offset: number, length: number): Promise<Buffer | undefined> {
    const { size } = await this.file.stat()
    if (offset + length > size) return undefined
    const buffer = Buffer.alloc(length)
    const { bytesRead } = await this.file.read(buffer, 0, length, offset)
    return bytesRead === length ? buffer : undefined
  }
}

interface Mark {
  readonly block: BlockRef
  readonly end: number
  readonly logs: number
}

async function lockOf(folder: string): Promise<FolderLock> {
  const lock = await FolderLock.take(folder, NO_SOCKET)
  if (lock instanceof FolderLock) return lock
  throw new CommandError(
    `The process ${lock.pid} is reading the history into ${folder}. Wait until it has ended, or stop it.`,
  )
}

/** Nobody connects to the holder of this lock. */
const NO_SOCKET = ''

/** What a frame says of its range, so that opening the file decompresses nothing. */
type RangeFacts = readonly [first: number, last: number, lastHash: string, logs: number]

interface Frame {
  readonly facts: RangeFacts
  /** Compressed. */
  readonly logs: Buffer
  /** Where the next frame begins in the file. */
  readonly end: number
}

/** A range whose logs are still JSON. */
interface UnreadRange extends Omit<LogsOfRange, 'logs'> {
  readonly json: string
}

function frameOf(facts: Buffer, logs: Buffer): Buffer {
  const frame = Buffer.concat([Buffer.alloc(HEADER_BYTES), facts, logs])
  frame.writeUInt32BE(facts.length, 0)
  frame.writeUInt32BE(logs.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(HEADER_BYTES)), 8)
  return frame
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

function unpacked(json: string): readonly TimedLog[] {
  const packedLogs = JSON.parse(json) as readonly PackedLog[]
  const logs: TimedLog[] = []
  let before: TimedLog | undefined
  for (const [
    address,
    topics,
    data,
    logIndex,
    txHash,
    txIndex,
    blockNumber,
    blockHash,
    timeS,
  ] of packedLogs) {
    before = {
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
    logs.push(before)
  }
  return logs
}

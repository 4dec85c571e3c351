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
const VERSION = Buffer.from('LPSPOOL2')
/** Length and CRC-32 of the body, four bytes each, before it. */
const HEADER_BYTES = 8
/** A longer frame is damage. */
const MAX_BODY_BYTES = 1 << 30

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
  readonly firstBlock: number
  private readonly file: FileHandle
  private readonly lock: FolderLock
  /** The last block, the end in the file and the number of logs of each frame. */
  private readonly marks: Mark[] = []
  private logCount = 0

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
    return this.logCount
  }

  /** The last blocks of the newest ranges, the oldest of them first. */
  newestBlocks(count: number): readonly BlockRef[] {
    return this.marks.slice(-count).map(({ block }) => block)
  }

  /** The last blocks of all ranges that end at this block or later, the oldest first. */
  blocksFrom(number: number): readonly BlockRef[] {
    return this.marks.slice(this.markAt(number)).map(({ block }) => block)
  }

  /** @throws {Error} where the range does not follow the last one, or cannot be written whole: nothing of it stays */
  async append(range: LogsOfRange): Promise<void> {
    const { first, last, lastHash, logs } = range
    if (first !== this.nextBlock)
      throw new Error(`block ${first} does not follow ${this.nextBlock - 1} in the spool`)
    const body = await deflate(JSON.stringify([first, last, lastHash, logs.map(packed)]), { level: 1 })
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32BE(body.length, 0)
    header.writeUInt32BE(crc32(body), 4)
    await this.write(Buffer.concat([header, body]))
    this.note(range, this.end + HEADER_BYTES + body.length)
  }

  /** Everything that is stored, range by range. */
  async *ranges(): AsyncGenerator<LogsOfRange> {
    for await (const { range } of this.frames()) yield range
  }

  /** Deletes the range that has this block, and all later ones. */
  async dropFrom(number: number): Promise<void> {
    const at = this.markAt(number)
    if (at === this.marks.length) return
    for (const { logs } of this.marks.splice(at)) this.logCount -= logs
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

  /** Index of the first range that ends at this block or later. */
  private markAt(number: number): number {
    const at = this.marks.findIndex(({ block }) => block.number >= number)
    return at < 0 ? this.marks.length : at
  }

  /** Where the next frame begins in the file. */
  private get end(): number {
    return this.marks.at(-1)?.end ?? VERSION.length
  }

  /** Reads what is whole, and cuts off the rest. */
  private async load(): Promise<void> {
    const version = await this.read(0, VERSION.length)
    if (version?.equals(VERSION)) {
      for await (const { range, end } of this.frames()) this.note(range, end)
      await this.file.truncate(this.end)
    } else {
      await this.file.truncate(0)
      await this.file.appendFile(VERSION)
    }
  }

  private note({ last, lastHash, logs }: LogsOfRange, end: number): void {
    this.marks.push({ block: { number: last, hash: lastHash }, end, logs: logs.length })
    this.logCount += logs.length
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

  private async *frames(): AsyncGenerator<{ range: LogsOfRange; end: number }> {
    let at = VERSION.length
    let next = this.firstBlock
    for (;;) {
      const body = await this.bodyAt(at)
      if (!body) return
      at += HEADER_BYTES + body.length
      const packedRange = await packedRangeOf(body)
      if (!packedRange) return
      const [first, last, lastHash, logs] = packedRange
      if (first !== next) return
      next = last + 1
      yield { range: { first, last, lastHash, logs: logs.map(unpacked) }, end: at }
    }
  }

  /** The body of the frame at this offset; undefined at the end of what is whole. */
  private async bodyAt(offset: number): Promise<Buffer | undefined> {
    const header = await this.read(offset, HEADER_BYTES)
    if (!header) return undefined
    const length = header.readUInt32BE(0)
    // A file that grew before its bytes were on disk ends with zeros, whose checksum is that of an empty body.
    if (length === 0 || length > MAX_BODY_BYTES) return undefined
    const body = await this.read(offset + HEADER_BYTES, length)
    return body && crc32(body) === header.readUInt32BE(4) ? body : undefined
  }

  private async read(offset: number, length: number): Promise<Buffer | undefined> {
    const { size } = await this.file.stat()
    if (offset + length > size) return undefined
    const buffer = Buffer.alloc(length)
    const { bytesRead } = await this.file.read(buffer, 0, length, offset)
    return bytesRead === length ? buffer : undefined
  }
}

/** Undefined for a body that was not written by {@link Spool.append}. */
async function packedRangeOf(body: Buffer): Promise<PackedRange | undefined> {
  try {
    return JSON.parse((await inflate(body)).toString()) as PackedRange
  } catch {
    return undefined
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
    'Another process reads the history into the same DATA_DIR.',
  )
}

/** Nobody connects to the holder of this lock. */
const NO_SOCKET = ''

type PackedRange = [first: number, last: number, lastHash: string, logs: readonly PackedLog[]]
type PackedLog = [
  address: string,
  topics: readonly string[],
  data: string,
  blockNumber: number,
  blockHash: string,
  timeS: number,
  txHash: string,
  txIndex: number,
  logIndex: number,
]

function packed(log: TimedLog): PackedLog {
  const { address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex } = log
  return [address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex]
}

function unpacked(log: PackedLog): TimedLog {
  const [address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex] = log
  return { address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex }
}

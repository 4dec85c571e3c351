import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw } from 'node:zlib'
import type { RawLog } from '../chain-types.ts'

/** A log with the time of its block. */
export interface TimedLog extends RawLog {
  readonly blockTimeS: number
}

/** All logs of the blocks from `first` to `last`, both included, in their order. */
export interface LogsOfRange {
  readonly first: number
  readonly last: number
  readonly logs: readonly TimedLog[]
}

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
/** Length and CRC-32 of the body, four bytes each, before it. */
const HEADER_BYTES = 8
/** A longer frame is damage. */
const MAX_BODY_BYTES = 1 << 30

/**
 * The raw logs of the history, in a file that grows by one frame for each range: so a process that was killed asks a node
 * only for what is missing. Ranges follow each other without a gap. A frame that is torn or damaged ends the file: it is
 * cut off there and requested again. Two processes may append to the same file: a range that stands there twice is read
 * once.
 *
 * @example
 * const spool = await Spool.open('data/chain', { name: '1-5f2c', firstBlock: 4_944_642 })
 * await spool.append({ first: 4_944_642, last: 4_954_641, logs })
 * spool.nextBlock // 4_954_642
 */
export class Spool {
  /** Whether the first transfer of a parcel was found in it: a note of the reader in memory. */
  hasParcels = false
  private readonly file: FileHandle
  readonly firstBlock: number
  private next: number
  private logCount = 0

  private constructor(file: FileHandle, firstBlock: number) {
    this.file = file
    this.firstBlock = firstBlock
    this.next = firstBlock
  }

  /**
   * Opens the file, or creates it.
   *
   * @param name of the chain and its contracts: another set of contracts has other logs
   * @param firstBlock the first block of the history
   */
  static async open(
    folder: string,
    { name, firstBlock }: { readonly name: string; readonly firstBlock: number },
  ): Promise<Spool> {
    await mkdir(folder, { recursive: true })
    const file = await open(join(folder, `${name}.spool`), 'a+')
    const spool = new Spool(file, firstBlock)
    let end = 0
    for await (const frame of spool.frames()) {
      end = frame.end
      spool.note(frame.range)
    }
    await file.truncate(end)
    return spool
  }

  /** The first block whose logs are not stored. */
  get nextBlock(): number {
    return this.next
  }

  get logs(): number {
    return this.logCount
  }

  /** @throws {Error} where the range does not follow the last one */
  async append(range: LogsOfRange): Promise<void> {
    if (range.first !== this.next)
      throw new Error(`block ${range.first} does not follow ${this.next - 1} in the spool`)
    const body = await deflate(JSON.stringify([range.first, range.last, range.logs.map(packed)]), {
      level: 1,
    })
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32BE(body.length, 0)
    header.writeUInt32BE(crc32(body), 4)
    // One call, so that frames of two processes do not mix: the file is open for appending.
    await this.file.write(Buffer.concat([header, body]))
    this.note(range)
  }

  /** Everything that is stored, range by range. */
  async *ranges(): AsyncGenerator<LogsOfRange> {
    for await (const { range } of this.frames()) yield range
  }

  /** Deletes everything. */
  async clear(): Promise<void> {
    await this.file.truncate(0)
    this.next = this.firstBlock
    this.logCount = 0
  }

  /** Waits until everything is on disk. */
  async sync(): Promise<void> {
    await this.file.datasync()
  }

  async close(): Promise<void> {
    await this.file.close()
  }

  private note({ last, logs }: LogsOfRange): void {
    this.next = last + 1
    this.logCount += logs.length
  }

  private async *frames(): AsyncGenerator<{ range: LogsOfRange; end: number }> {
    let at = 0
    let next = this.firstBlock
    for (;;) {
      const body = await this.bodyAt(at)
      if (!body) return
      at += HEADER_BYTES + body.length
      const [first, last, logs] = JSON.parse((await inflate(body)).toString()) as PackedRange
      if (last < next) continue // Another process had stored it already.
      if (first !== next) return
      next = last + 1
      yield { range: { first, last, logs: logs.map(unpacked) }, end: at }
    }
  }

  /** The body of the frame at this offset; undefined at the end of what is whole. */
  private async bodyAt(offset: number): Promise<Buffer | undefined> {
    const header = await this.read(offset, HEADER_BYTES)
    if (!header) return undefined
    const length = header.readUInt32BE(0)
    if (length > MAX_BODY_BYTES) return undefined
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

type PackedRange = [first: number, last: number, logs: readonly PackedLog[]]
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

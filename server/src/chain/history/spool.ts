import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FolderLock } from '../../db/embedded/folder-lock.ts'
import { CommandError } from '../../errors.ts'
import type { BlockRef } from '../chain-types.ts'
import { PackedLogs, type TimedLog } from '../packed-logs.ts'
import {
  DamagedRangeError,
  type Frame,
  FrameReader,
  frameOf,
  hasLogs,
  type LogsOfRange,
  type PackedRange,
  type RangeFacts,
  rangeOf,
  readAt,
  VERSION,
} from './spool-frames.ts'

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
  private readonly path: string
  private file: FileHandle
  private readonly lock: FolderLock
  /** The last block, the end in the file and the number of logs of each frame. */
  private readonly marks: Mark[] = []
  private logCount = 0

  private constructor(path: string, file: FileHandle, lock: FolderLock, firstBlock: number) {
    this.path = path
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
      const path = spoolPath(folder, name)
      const spool = new Spool(path, await open(path, 'a+'), lock, firstBlock)
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
  async append(range: PackedRange): Promise<void> {
    if (range.first !== this.nextBlock)
      throw new Error(`block ${range.first} does not follow ${this.nextBlock - 1} in the spool`)
    const { facts, bytes } = await frameOf(range)
    await this.write(bytes)
    this.note(facts, this.end + bytes.length)
  }

  /** Everything that is stored, range by range. From a range on that cannot be read, all are deleted. */
  async *ranges(): AsyncGenerator<LogsOfRange> {
    const reader = new FrameReader(this.file, this.firstBlock)
    for (let frame = await reader.next(); frame; frame = await reader.next()) {
      const range = await this.rangeOrDrop(frame)
      if (!range) return
      yield range
    }
  }

  /** The last log that is stored; undefined where there is none, or where it cannot be read. */
  async newestLog(): Promise<TimedLog | undefined> {
    const at = this.marks.findLastIndex(({ logs }) => logs > 0)
    if (at < 0) return undefined
    const before = this.marks[at - 1]
    const first = (before?.block.number ?? this.firstBlock - 1) + 1
    const frame = await new FrameReader(this.file, first, before?.end).next()
    return frame && (await this.rangeOrDrop(frame))?.logs.at(-1)
  }

  /**
   * Adds logs of blocks that are stored without them. The others of these blocks stay.
   *
   * @returns the blocks of which logs were missing
   */
  async addMissing(logsOf: ReadonlyMap<number, readonly TimedLog[]>): Promise<readonly number[]> {
    const mended: number[] = []
    const newPath = `${this.path}.new`
    const copy = await open(newPath, 'w')
    try {
      await copy.appendFile(VERSION)
      const reader = new FrameReader(this.file, this.firstBlock)
      for (let [from, frame] = [VERSION.length, await reader.next()]; frame; frame = await reader.next()) {
        const range = await this.withMissing(frame, logsOf, mended)
        await copy.appendFile(
          range ? (await frameOf(range)).bytes : (await readAt(this.file, from, frame.end - from))!,
        )
        from = frame.end
      }
      await copy.datasync()
    } finally {
      await copy.close()
    }
    if (mended.length === 0) await rm(newPath)
    else await this.replaceBy(newPath)
    return mended
  }

  /** The range of a frame with the logs that it lacks; undefined where it lacks none. */
  private async withMissing(
    frame: Frame,
    logsOf: ReadonlyMap<number, readonly TimedLog[]>,
    mended: number[],
  ): Promise<PackedRange | undefined> {
    const [first, last] = frame.facts
    const numbers = [...logsOf.keys()].filter((number) => number >= first && number <= last)
    if (numbers.length === 0) return undefined
    const range = await rangeOf(frame)
    const stored = new Set(range.logs.map(({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`))
    const missing = numbers.flatMap((number) =>
      logsOf.get(number)!.filter(({ logIndex }) => !stored.has(`${number} ${logIndex}`)),
    )
    if (missing.length === 0) return undefined
    for (const { blockNumber } of missing) if (mended.at(-1) !== blockNumber) mended.push(blockNumber)
    const logs = [...range.logs, ...missing].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    )
    return { ...range, logs: PackedLogs.from(logs) }
  }

  /** Files are closed before: Windows renames no others. */
  private async replaceBy(newPath: string): Promise<void> {
    await this.file.close()
    await rename(newPath, this.path)
    this.file = await open(this.path, 'a+')
    this.forgetFrom(0)
    await this.load()
  }

  /** Deletes the range that has this block, and all later ones. */
  async dropFrom(number: number): Promise<void> {
    const at = this.markAt(number)
    if (at === this.marks.length) return
    this.forgetFrom(at)
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

  private async rangeOrDrop(frame: Frame): Promise<LogsOfRange | undefined> {
    try {
      return await rangeOf(frame)
    } catch (error) {
      if (!(error instanceof DamagedRangeError)) throw error
      await this.dropFrom(error.first)
      return undefined
    }
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
    const version = await readAt(this.file, 0, VERSION.length)
    if (version?.equals(VERSION)) {
      const reader = new FrameReader(this.file, this.firstBlock)
      let newest: Frame | undefined
      for (let frame = await reader.next(); frame; frame = await reader.next()) {
        this.note(frame.facts, frame.end)
        newest = frame
      }
      if (newest && !(await hasLogs(newest))) this.forgetFrom(this.marks.length - 1)
      await this.file.truncate(this.end)
    } else {
      await this.file.truncate(0)
      await this.file.appendFile(VERSION)
    }
  }

  private note([, last, lastHash, logs]: RangeFacts, end: number): void {
    this.marks.push({ block: { number: last, hash: lastHash }, end, logs })
    this.logCount += logs
  }

  private forgetFrom(at: number): void {
    for (const { logs } of this.marks.splice(at)) this.logCount -= logs
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
}

interface Mark {
  readonly block: BlockRef
  readonly end: number
  readonly logs: number
}

/** The file with the stored logs. */
export function spoolPath(folder: string, name: string): string {
  return join(folder, `${name}.spool`)
}

/** Whether logs are stored in a file. */
export async function hasStoredLogs(path: string): Promise<boolean> {
  const stored = await stat(path).catch(() => undefined)
  return stored !== undefined && stored.size > VERSION.length
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

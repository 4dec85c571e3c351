import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FolderLock } from '../../db/embedded/folder-lock.ts'
import { CommandError, PublicCommandError } from '../../errors.ts'
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
import type { SpoolPlace } from './spool-place.ts'

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
  /** Undefined for a file beside another one. */
  private readonly lock: FolderLock | undefined
  /** The last block, the end in the file and the number of logs of each frame. */
  private readonly marks: Mark[] = []
  private logCount = 0

  private constructor(path: string, file: FileHandle, firstBlock: number, lock: FolderLock | undefined) {
    this.path = path
    this.file = file
    this.firstBlock = firstBlock
    this.lock = lock
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
    { name, firstBlock }: Pick<SpoolPlace, 'name' | 'firstBlock'>,
  ): Promise<Spool> {
    await mkdir(folder, { recursive: true })
    const lock = await lockOf(folder)
    try {
      return await Spool.openFile(spoolPath(folder, name), firstBlock, lock)
    } catch (error) {
      lock.release()
      throw error
    }
  }

  private static async openFile(path: string, firstBlock: number, lock?: FolderLock): Promise<Spool> {
    const spool = new Spool(path, await open(path, 'a+'), firstBlock, lock)
    await spool.load()
    return spool
  }

  /** Another file of the same folder. It must be closed before this one, which has the folder. */
  openBeside({ name, firstBlock }: Pick<SpoolPlace, 'name' | 'firstBlock'>): Promise<Spool> {
    return Spool.openFile(spoolPath(dirname(this.path), name), firstBlock)
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

  /**
   * The last log that is stored, or the last one of the ranges that end before a block; undefined where there is none, or where
   * it cannot be read.
   */
  async newestLog(before = Number.POSITIVE_INFINITY): Promise<TimedLog | undefined> {
    const at = this.marks.findLastIndex(({ logs, block }) => logs > 0 && block.number < before)
    if (at < 0) return undefined
    const last = this.marks[at - 1]
    const first = (last?.block.number ?? this.firstBlock - 1) + 1
    const frame = await new FrameReader(this.file, first, last?.end).next()
    return frame && (await this.rangeOrDrop(frame))?.logs.at(-1)
  }

  /**
   * Adds logs of blocks that are stored without them. The others of these blocks stay.
   *
   * @param logs in their order; those that are stored are not added again
   * @param onFound gets the blocks of which logs were missing, where there are any, before they are stored
   * @returns the same blocks
   * @throws {CommandError} where they are of another branch; nothing has changed then
   */
  async addMissing(
    logs: AsyncIterable<TimedLog>,
    onFound: (blocks: readonly number[]) => Promise<void>,
  ): Promise<readonly number[]> {
    const newPath = `${this.path}.new`
    const blocks = await this.copyWith(logs, newPath)
    if (blocks.length === 0) await rm(newPath)
    else {
      await onFound(blocks)
      await this.replaceBy(newPath)
    }
    return blocks
  }

  /**
   * Stores the logs of another file here, in place of all that is stored, together with logs that it lacks.
   *
   * @param logs in their order, of blocks that the other file has
   * @throws {CommandError} where they are of another branch; nothing has changed then
   */
  async takeOver(other: Spool, logs: AsyncIterable<TimedLog>): Promise<void> {
    const newPath = `${this.path}.new`
    await other.copyWith(logs, newPath)
    await this.replaceBy(newPath)
  }

  /**
   * Writes all that is stored to a new file, with logs that are missing. The new file ends before a range that cannot be read.
   *
   * @returns the blocks of which logs were missing
   */
  private async copyWith(logs: AsyncIterable<TimedLog>, newPath: string): Promise<readonly number[]> {
    const blocks: number[] = []
    const missing = new LogsByRange(logs)
    const copy = await open(newPath, 'w')
    try {
      await copy.appendFile(VERSION)
      const reader = new FrameReader(this.file, this.firstBlock)
      for (let [from, frame] = [VERSION.length, await reader.next()]; frame; frame = await reader.next()) {
        const range = await rangeWith(frame, await missing.upTo(frame.facts[1]))
        if (range === 'damaged') break
        for (const { blockNumber } of range?.added ?? [])
          if (blocks.at(-1) !== blockNumber) blocks.push(blockNumber)
        await copy.appendFile(
          range ? (await frameOf(range)).bytes : (await readAt(this.file, from, frame.end - from))!,
        )
        from = frame.end
      }
      await copy.datasync()
    } finally {
      await missing.close()
      await copy.close()
    }
    return blocks
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
    this.lock?.release()
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

/** Logs in their order, taken range by range. */
class LogsByRange {
  private readonly logs: AsyncIterator<TimedLog>
  private next: Promise<IteratorResult<TimedLog>> | undefined

  constructor(logs: AsyncIterable<TimedLog>) {
    this.logs = logs[Symbol.asyncIterator]()
  }

  /** All that were not taken yet, up to a block. */
  async upTo(block: number): Promise<readonly TimedLog[]> {
    const taken: TimedLog[] = []
    for (;;) {
      this.next ??= this.logs.next()
      const { done, value } = await this.next
      if (done || value.blockNumber > block) return taken
      taken.push(value)
      this.next = undefined
    }
  }

  async close(): Promise<void> {
    await this.logs.return?.()
  }
}

/** The range of a frame with those of these logs that it lacks; undefined where it lacks none. */
async function rangeWith(
  frame: Frame,
  logs: readonly TimedLog[],
): Promise<(PackedRange & { readonly added: readonly TimedLog[] }) | 'damaged' | undefined> {
  if (logs.length === 0) return undefined
  const range = await rangeOf(frame).catch(damagedOrThrow)
  if (range === 'damaged') return range
  const stored = new Set(range.logs.map(({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`))
  const added = logs.filter(({ blockNumber, logIndex }) => !stored.has(`${blockNumber} ${logIndex}`))
  if (added.length === 0) return undefined
  const hashes = new Map(range.logs.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  hashes.set(range.last, range.lastHash)
  for (const { blockNumber, blockHash } of added)
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash)
      throw new PublicCommandError(
        `The final block ${blockNumber} was replaced after its logs were stored. Nothing was changed. Start the command again.`,
      )
  const all = [...range.logs, ...added].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  )
  return { ...range, added, logs: PackedLogs.from(all) }
}

function damagedOrThrow(error: unknown): 'damaged' {
  if (error instanceof DamagedRangeError) return 'damaged'
  throw error
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

/** Whether logs are stored. */
export async function hasStoredLogs({ folder, name }: Pick<SpoolPlace, 'folder' | 'name'>): Promise<boolean> {
  const stored = await stat(spoolPath(folder, name)).catch(() => undefined)
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

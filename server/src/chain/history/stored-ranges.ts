import { type FileHandle, open } from 'node:fs/promises'
import { type Frame, FrameReader, type StoredRange, storedRangeOf } from './spool-frames.ts'

/**
 * The stored ranges in their order, while another thread still adds to the file: only those are read that it has released.
 * While one range is worked on, the next one is read.
 *
 * @example
 * const stored = await StoredRanges.open(path, 4_944_642)
 * stored.release(4_954_641) // the thread has stored all blocks up to this one
 * stored.end() // and stores no more
 * for await (const { last, parts } of stored.ranges()) …
 */
export class StoredRanges {
  private readonly file: FileHandle
  private readonly reader: FrameReader
  private released = -1
  private hasEnded = false
  private failure: unknown
  private wake: () => void = () => undefined

  private constructor(file: FileHandle, firstBlock: number) {
    this.file = file
    this.reader = new FrameReader(file, firstBlock)
  }

  static async open(path: string, firstBlock: number): Promise<StoredRanges> {
    return new StoredRanges(await open(path, 'r'), firstBlock)
  }

  /** Ranges up to this block may be read: they are stored, and part of the world. */
  release(last: number): void {
    this.released = Math.max(this.released, last)
    this.wake()
  }

  /** No more ranges are stored: all that are there are read, and then the reading ends. */
  end(): void {
    this.hasEnded = true
    this.wake()
  }

  /** The reading throws this. */
  fail(error: unknown): void {
    this.failure = error
    this.wake()
  }

  async *ranges(): AsyncGenerator<StoredRange> {
    let next = this.readAhead()
    for (;;) {
      const range = await next
      if (!range) return
      next = this.readAhead()
      yield range
    }
  }

  close(): Promise<void> {
    return this.file.close()
  }

  /** An error is thrown where the range is awaited: never, where the reading ends before. */
  private readAhead(): Promise<StoredRange | undefined> {
    const reading = this.read()
    reading.catch(() => undefined)
    return reading
  }

  private async read(): Promise<StoredRange | undefined> {
    // What is not released yet may still be deleted, and replaced by ranges of another branch.
    await this.until(() => this.hasEnded || this.released >= this.reader.nextBlock)
    const frame = await this.nextFrame()
    if (!frame) return undefined
    const [, last] = frame.facts
    await this.until(() => this.hasEnded || last <= this.released)
    return storedRangeOf(frame)
  }

  /** Undefined at the end. Stored ranges that are missing before were deleted: why, is said by `fail`. */
  private async nextFrame(): Promise<Frame | undefined> {
    for (;;) {
      const { hasEnded } = this
      const frame = await this.reader.next()
      if (frame || hasEnded) return frame
      await this.until(() => this.hasEnded)
    }
  }

  private async until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure
      if (isSo()) return
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}

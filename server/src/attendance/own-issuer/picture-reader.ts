import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { readPictureHeader } from './picture-header.ts'
import type { PictureTask } from './picture-thread.ts'

/** The largest file that is read. */
export const MAX_PICTURE_BYTES = 1_048_576
/** Shortest and longest side of a picture. */
export const MIN_SIDE_PX = 64
export const MAX_SIDE_PX = 2_048
/** Pictures of tokens are squares of at most this size. */
const SQUARE_PX = 512
/** The largest picture takes about a second of CPU time, three on a busy machine; made-up ones may take any time. */
const TIMEOUT_MS = 5 * SECOND_MS
/** Pictures that are read, or wait for it: each holds its file and an open request. */
const MAX_WAITING = 8
const MAX_HEAP_MB = 128

/** A file that does not become a picture. The message continues "image is …, but must be". */
export class PictureError extends Error {}

/**
 * Makes pictures of organisers safe to show: decodes a file and encodes its pixels anew as a square PNG, so nothing else
 * of it is left. In a thread of its own, one file at a time, with limits of size and time.
 */
export class PictureReader {
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0
  private readonly decode: (task: PictureTask) => Promise<Buffer>
  constructor(decode: (task: PictureTask) => Promise<Buffer> = readInThread) {
    this.decode = decode
  }

  /**
   * @returns the file of a PNG
   * @throws {PictureError} for a file that is no picture, too large, or damaged
   * @throws {AppError} `too_many_pictures` where many wait already
   */
  read(bytes: Buffer): Promise<Buffer> {
    const header = readPictureHeader(bytes)
    const sides = header ? [header.widthPx, header.heightPx] : []
    if (
      !header ||
      bytes.length > MAX_PICTURE_BYTES ||
      sides.some((px) => px < MIN_SIDE_PX || px > MAX_SIDE_PX)
    )
      return Promise.reject(new PictureError(header ? sides.join(' x ') : 'of another format'))
    if (this.waiting >= MAX_WAITING) return Promise.reject(tooMany())
    this.waiting++
    const reading = this.last
      .then(() => this.decode({ bytes, header, maxSidePx: SQUARE_PX }))
      .finally(() => this.waiting--)
    this.last = reading.catch(() => {})
    return reading
  }
}

function tooMany(): AppError {
  return new AppError('too_many_pictures', 'Too many pictures wait to be read. Try again a little later.', {
    retry_after_s: TIMEOUT_MS / SECOND_MS,
  })
}

function readInThread(task: PictureTask): Promise<Buffer> {
  const thread = new Worker(new URL('./picture-thread.js', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  })
  return new Promise<Buffer>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    thread.once('online', () => {
      timer = setTimeout(() => void thread.terminate(), TIMEOUT_MS)
    })
    thread.once('message', (png: Uint8Array) => resolve(Buffer.from(png)))
    thread.once('error', () => reject(new PictureError('damaged')))
    thread.once('exit', () => {
      clearTimeout(timer)
      reject(new PictureError('damaged'))
    })
  })
}

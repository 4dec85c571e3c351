import { readPictureHeader } from './picture-header.ts'
import { PictureQueue, pictureFromThread } from './picture-queue.ts'
import type { PictureTask } from './picture-thread.ts'

/** The largest file that is read. */
export const MAX_PICTURE_BYTES = 1_048_576
/** Shortest and longest side of a picture. */
export const MIN_SIDE_PX = 64
export const MAX_SIDE_PX = 2_048
/** Pictures of tokens are squares of at most this size. */
const SQUARE_PX = 512

/** A file that does not become a picture. The message continues "image is …, but must be". */
export class PictureError extends Error {}

/**
 * Makes pictures of organisers safe to show: decodes a file and encodes its pixels anew as a square PNG, so nothing else
 * of it is left. In a thread of its own, one file at a time, with limits of size and time.
 */
export class PictureReader {
  private readonly queue = new PictureQueue()
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
    return this.queue.add(() => this.decode({ bytes, header, maxSidePx: SQUARE_PX }))
  }
}

async function readInThread(task: PictureTask): Promise<Buffer> {
  try {
    return await pictureFromThread(new URL('./picture-thread.js', import.meta.url), task)
  } catch {
    throw new PictureError('damaged')
  }
}

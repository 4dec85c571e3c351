import { type PictureHeader, readPictureHeader } from './picture-header.ts'
import { PictureQueue, PictureThread } from './picture-queue.ts'
import type { PictureTask } from './picture-thread.ts'

/** The largest file that is read. */
export const MAX_PICTURE_BYTES = 1_048_576
/** Shortest and longest side of a picture. */
export const MIN_SIDE_PX = 64
export const MAX_SIDE_PX = 2_048
/** Pixels of a picture; one with more than 32 bits a pixel has fewer. */
export const MAX_PIXELS = 2_097_152
const BITS_PER_PIXEL = 32
/** A WebP takes the decoder twice as long. */
const MAX_WEBP_PIXELS = MAX_PIXELS / 2
/** Usual progressive JPEGs have ten scans. */
export const MAX_SCANS = 20
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
  constructor(decode: (task: PictureTask) => Promise<Buffer> = inThread()) {
    this.decode = decode
  }

  /**
   * @param beforeDecoding is called for a file that is no more work than allowed, before that work: throws where its sender has
   * sent too many
   * @returns the file of a PNG
   * @throws {PictureError} for a file that is no picture, too large, or damaged
   * @throws {AppError} `too_many_pictures` where many wait already
   */
  async read(bytes: Buffer, beforeDecoding: () => Promise<void>): Promise<Buffer> {
    const header = readPictureHeader(bytes)
    if (!header) throw new PictureError('of another format')
    const fault = bytes.length > MAX_PICTURE_BYTES ? sizeOf(header) : tooMuchIn(header)
    if (fault !== undefined) throw new PictureError(fault)
    this.queue.assertRoom()
    await beforeDecoding()
    return this.queue.add(() => this.decode({ bytes, header, maxSidePx: SQUARE_PX }))
  }
}

/** What makes a picture too much work; undefined where it is not. */
function tooMuchIn(header: PictureHeader): string | undefined {
  const { kind, widthPx, heightPx, bitsPerPixel, scans, isCmyk } = header
  if ([widthPx, heightPx].some((px) => px < MIN_SIDE_PX || px > MAX_SIDE_PX)) return sizeOf(header)
  if (widthPx * heightPx * Math.max(bitsPerPixel, BITS_PER_PIXEL) > MAX_PIXELS * BITS_PER_PIXEL)
    return bitsPerPixel > BITS_PER_PIXEL
      ? `${sizeOf(header)} with ${bitsPerPixel} bits a pixel`
      : sizeOf(header)
  if (kind === 'webp' && widthPx * heightPx > MAX_WEBP_PIXELS) return `${sizeOf(header)} as WebP`
  if (isCmyk) return 'a JPEG in the colours of print (CMYK)'
  return scans > MAX_SCANS ? `a JPEG of ${scans} scans` : undefined
}

function sizeOf({ widthPx, heightPx }: PictureHeader): string {
  return `${widthPx} x ${heightPx}`
}

function inThread(): (task: PictureTask) => Promise<Buffer> {
  const thread = new PictureThread(new URL('./picture-thread.js', import.meta.url))
  return (task) =>
    thread.make(task).catch(() => {
      throw new PictureError('damaged')
    })
}

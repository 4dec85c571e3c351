import { inflateSync } from 'node:zlib'
import { PNG } from 'pngjs'
import type { Pixels } from './picture-square.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12
/** What decides about the pixels. Everything else (texts, times, colour profiles, animations) is left out unread. */
const NEEDED = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']
/** Bits of a pixel of the largest format: four channels of 16 bits. */
const MAX_BITS_PER_PIXEL = 64
/** Filter bytes of the rows; interlaced pictures have up to 15 rows for 8 of theirs. */
const MAX_FILTER_BYTES_PER_ROW = 2

/**
 * Decodes a PNG of a known size. No more is decompressed than such a picture can have.
 *
 * @throws for a damaged file, or one whose data are longer than its size allows
 */
export function pngPixels(
  bytes: Buffer,
  { widthPx, heightPx }: { readonly widthPx: number; readonly heightPx: number },
): Pixels {
  const chunks = chunksOf(bytes).filter(({ type }) => NEEDED.includes(type))
  assertOneHeader(chunks)
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ body }) => body))
  const maxRowBytes = Math.ceil((widthPx * MAX_BITS_PER_PIXEL) / 8) + 8 + MAX_FILTER_BYTES_PER_ROW
  inflateSync(data, { maxOutputLength: maxRowBytes * (heightPx + 8) })
  const file = Buffer.concat([bytes.subarray(0, SIGNATURE_BYTES), ...chunks.map(({ whole }) => whole)])
  const png = PNG.sync.read(file)
  return { widthPx: png.width, heightPx: png.height, rgba: png.data }
}

/** The PNG file of pixels, without their opacity. */
export function encodePng({ widthPx, heightPx, rgba }: Pixels, deflateLevel = 9): Buffer {
  const png = new PNG({ width: widthPx, height: heightPx })
  png.data = Buffer.from(rgba.buffer, rgba.byteOffset, rgba.byteLength)
  return PNG.sync.write(png, { colorType: 2, deflateLevel })
}

/**
 * Refuses a file with a second header. The decoder would use the size in the last header, and {@link pngPixels} has limited the
 * data by the size in the first one.
 *
 * @throws {RangeError} for a file that does not begin with its only header
 */
function assertOneHeader(chunks: readonly Chunk[]): void {
  if (chunks.findLastIndex(({ type }) => type === 'IHDR') !== 0)
    throw new RangeError('the file does not begin with its only header')
}

interface Chunk {
  readonly type: string
  readonly body: Buffer
  /** With length, type and checksum. */
  readonly whole: Buffer
}

/** @throws {RangeError} for a chunk that the file does not have as a whole */
function chunksOf(bytes: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (let at = SIGNATURE_BYTES; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const to = at + FRAME_BYTES + length
    if (to > bytes.length) throw new RangeError('the file ends within a chunk')
    const type = bytes.toString('latin1', at + 4, at + 8)
    chunks.push({ type, body: bytes.subarray(at + 8, to - 4), whole: bytes.subarray(at, to) })
    if (type === 'IEND') break
    at = to
  }
  return chunks
}

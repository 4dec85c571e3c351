import { crc32, deflateSync } from 'node:zlib'
import { type BandImage, bytesPerRow, FILTER_UP } from './band-image.ts'
import { writeBands } from './band-rows.ts'
import { Deflater } from './deflater.ts'

/** The longest side of an image. With it, the sums over one row (band-checksum.ts) fit into 32 bits. */
export const MAX_SIDE_PX = 8192

/** An image of up to 16 colours, pixel by pixel. */
export interface PixelImage {
  readonly widthPx: number
  readonly heightPx: number
  /** Red, green and blue of each colour, 1 to 16 colours. */
  readonly palette: Uint8Array
  /** The colour number of each pixel, rows from the top: that of x,y is `pixels[y * widthPx + x]`. */
  readonly pixels: Uint8Array
}

export type { BandImage } from './band-image.ts'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const BITS_PER_PIXEL = 4
const COLOUR_BY_PALETTE = 3
/** Length, type and checksum of each chunk of the file. */
const CHUNK_FRAME_BYTES = 12
/** Header of the compressed pixels: deflate with a window of 32 KiB and no dictionary. */
const ZLIB_HEADER = [0x78, 0x01]
/** With a higher level zlib takes three times as long and saves a tenth of the size. */
const ZLIB_LEVEL = 3

/** Shared by all images: encoding is synchronous, so only one image uses it at a time. */
const deflater = new Deflater()

/**
 * Encodes an image of bands as a PNG file. Where strips are wide, this is several times as fast as
 * {@link encodePixels}, and the file is smaller.
 *
 * @throws {RangeError} for a side beyond {@link MAX_SIDE_PX}
 */
export function encodeBands(image: BandImage): Buffer {
  assertSides(image)
  deflater.begin()
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(writeBands(image, deflater))
  return encodeFile(image, [Uint8Array.from(ZLIB_HEADER), deflater.finish(), checksum])
}

/**
 * Encodes an image of pixels as a PNG file.
 *
 * @throws {RangeError} for a side beyond {@link MAX_SIDE_PX}
 * @example
 * const palette = Uint8Array.of(0, 0, 0, 255, 255, 255)
 * encodePixels({ widthPx: 2, heightPx: 1, palette, pixels: Uint8Array.of(0, 1) }) // a black pixel and a white one
 */
export function encodePixels(image: PixelImage): Buffer {
  assertSides(image)
  return encodeFile(image, [deflateSync(packRows(image), { level: ZLIB_LEVEL })])
}

/** Rows in PNG's format: two pixels in a byte, and before each row its filter type. */
function packRows({ widthPx, heightPx, pixels }: PixelImage): Uint8Array {
  const lineBytes = 1 + bytesPerRow(widthPx)
  const packed = new Uint8Array(heightPx * lineBytes)
  const source = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  for (let y = 0; y < heightPx; y++) {
    const from = y * widthPx
    let to = y * lineBytes
    const isAsAbove = y > 0 && source.compare(source, from - widthPx, from, from, from + widthPx) === 0
    if (isAsAbove) {
      packed[to] = FILTER_UP
      continue
    }
    const pairsTo = from + (widthPx & ~1)
    for (let px = from; px < pairsTo; px += 2) packed[++to] = (pixels[px]! << 4) | pixels[px + 1]!
    if (widthPx & 1) packed[++to] = pixels[pairsTo]! << 4
  }
  return packed
}

interface Header {
  readonly widthPx: number
  readonly heightPx: number
  readonly palette: Uint8Array
}

function assertSides({ widthPx, heightPx }: Header): void {
  const isFine = Math.min(widthPx, heightPx) >= 1 && Math.max(widthPx, heightPx) <= MAX_SIDE_PX
  if (!isFine) throw new RangeError(`An image of ${widthPx} x ${heightPx} pixels cannot be written.`)
}

/** @param data the compressed rows, in pieces */
function encodeFile({ widthPx, heightPx, palette }: Header, data: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(widthPx, 0)
  header.writeUInt32BE(heightPx, 4)
  header.set([BITS_PER_PIXEL, COLOUR_BY_PALETTE], 8)
  const contents = [header, palette, ...data].reduce((sum, { length }) => sum + length, 0)
  const file = Buffer.allocUnsafe(SIGNATURE.length + 4 * CHUNK_FRAME_BYTES + contents)
  file.set(SIGNATURE)
  let at = SIGNATURE.length
  at = putChunk(file, at, 'IHDR', [header])
  at = putChunk(file, at, 'PLTE', [palette])
  at = putChunk(file, at, 'IDAT', data)
  putChunk(file, at, 'IEND', [])
  return file
}

/** @returns where the next chunk begins */
function putChunk(file: Buffer, start: number, type: string, data: readonly Uint8Array[]): number {
  file.write(type, start + 4, 'latin1')
  let at = start + 8
  for (const piece of data) {
    file.set(piece, at)
    at += piece.length
  }
  file.writeUInt32BE(at - start - 8, start)
  file.writeUInt32BE(crc32(file.subarray(start + 4, at)), at)
  return at + 4
}

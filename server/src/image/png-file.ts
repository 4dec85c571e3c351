import { crc32 } from 'node:zlib'

/** The longest side of an image. With it, the sums over one row (band-checksum.ts) fit into 32 bits. */
export const MAX_SIDE_PX = 8192

/** With a higher level zlib takes three times as long and saves a tenth to a third of the size. */
export const ZLIB_LEVEL = 3

/** How pixels are stored: by number of a palette, or as red, green and blue, or as these and opacity. */
export const PALETTE_COLOUR = { bits: 4, type: 3 } as const
export const RGB_COLOUR = { bits: 8, type: 2 } as const
export const RGBA_COLOUR = { bits: 8, type: 6 } as const

export interface PngFile {
  readonly widthPx: number
  readonly heightPx: number
  readonly colour: typeof PALETTE_COLOUR | typeof RGB_COLOUR | typeof RGBA_COLOUR
  /** Red, green and blue of each colour of a palette. */
  readonly palette?: Uint8Array
  /** The compressed rows, in pieces. */
  readonly data: readonly Uint8Array[]
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
/** Length, type and checksum of each chunk of the file. */
const CHUNK_FRAME_BYTES = 12

/** @throws {RangeError} for a side beyond {@link MAX_SIDE_PX} */
export function assertSides({ widthPx, heightPx }: Pick<PngFile, 'widthPx' | 'heightPx'>): void {
  const isFine = Math.min(widthPx, heightPx) >= 1 && Math.max(widthPx, heightPx) <= MAX_SIDE_PX
  if (!isFine) throw new RangeError(`An image of ${widthPx} x ${heightPx} pixels cannot be written.`)
}

export function encodeFile({ widthPx, heightPx, colour, palette, data }: PngFile): Buffer {
  const header = Buffer.allocUnsafe(13)
  header.writeUInt32BE(widthPx, 0)
  header.writeUInt32BE(heightPx, 4)
  header.set([colour.bits, colour.type, 0, 0, 0], 8)
  const chunks: readonly (readonly [string, readonly Uint8Array[]])[] = [
    ['IHDR', [header]],
    ...(palette ? [['PLTE', [palette]] as const] : []),
    ['IDAT', data],
    ['IEND', []],
  ]
  const contents = chunks.flatMap(([, pieces]) => pieces).reduce((sum, { length }) => sum + length, 0)
  const file = Buffer.allocUnsafe(SIGNATURE.length + chunks.length * CHUNK_FRAME_BYTES + contents)
  file.set(SIGNATURE)
  let at = SIGNATURE.length
  for (const [type, pieces] of chunks) at = putChunk(file, at, type, pieces)
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

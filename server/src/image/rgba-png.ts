import { deflateSync } from 'node:zlib'
import { assertSides, encodeFile, RGBA_COLOUR, ZLIB_LEVEL } from './png-file.ts'

/** An image in which each pixel has a colour of its own. */
export interface RgbaImage {
  readonly widthPx: number
  readonly heightPx: number
  /** Red, green, blue and opacity of each pixel, rows from the top. */
  readonly pixels: Uint8Array
}

const BYTES_PER_PIXEL = 4

/**
 * Encodes an image as a PNG file with 8 bits for each of red, green, blue and opacity.
 *
 * @throws {RangeError} for a side beyond `MAX_SIDE_PX`
 */
export function encodeRgba(image: RgbaImage): Buffer {
  assertSides(image)
  const { widthPx, heightPx, pixels } = image
  const rowBytes = BYTES_PER_PIXEL * widthPx
  // Each row begins with its filter type, which is 0: bytes as they are.
  const rows = new Uint8Array(heightPx * (1 + rowBytes))
  for (let y = 0; y < heightPx; y++)
    rows.set(pixels.subarray(y * rowBytes, (y + 1) * rowBytes), y * (1 + rowBytes) + 1)
  return encodeFile({
    widthPx,
    heightPx,
    colour: RGBA_COLOUR,
    data: [deflateSync(rows, { level: ZLIB_LEVEL })],
  })
}

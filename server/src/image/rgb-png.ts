import { deflateSync } from 'node:zlib'
import { encodeFile, RGB_COLOUR } from './png-file.ts'

/** An image with red, green and blue of each pixel, rows from the top. */
export interface RgbImage {
  readonly widthPx: number
  readonly heightPx: number
  readonly rgb: Uint8Array
}

const SAMPLES = 3
/** Each byte as its difference from what its neighbours let expect: the best of the filters for photos. */
const FILTER_PAETH = 4

/**
 * Encodes an image as a PNG file.
 *
 * @param level of the compression: each step takes about a third more time
 */
export function encodeRgb({ widthPx, heightPx, rgb }: RgbImage, level: number): Buffer {
  const data = deflateSync(filtered(rgb, SAMPLES * widthPx, heightPx), { level })
  return encodeFile({ widthPx, heightPx, colour: RGB_COLOUR, data: [data] })
}

function filtered(rgb: Uint8Array, rowBytes: number, rows: number): Uint8Array {
  const lines = new Uint8Array((rowBytes + 1) * rows)
  let above: Uint8Array = new Uint8Array(rowBytes)
  for (let row = 0; row < rows; row++) {
    const line = rgb.subarray(row * rowBytes, (row + 1) * rowBytes)
    putDifferences(line, above, lines.subarray(row * (rowBytes + 1)))
    above = line
  }
  return lines
}

function putDifferences(line: Uint8Array, above: Uint8Array, to: Uint8Array): void {
  to[0] = FILTER_PAETH
  for (let at = 0; at < SAMPLES; at++) to[1 + at] = line[at]! - above[at]!
  for (let at = SAMPLES; at < line.length; at++)
    to[1 + at] = line[at]! - expectedByte(line[at - SAMPLES]!, above[at]!, above[at - SAMPLES]!)
}

/** The neighbour that is nearest to left + above - corner (PNG, 9.4). */
export function expectedByte(left: number, above: number, corner: number): number {
  const toLeft = Math.abs(above - corner)
  const toAbove = Math.abs(left - corner)
  const toCorner = Math.abs(left + above - 2 * corner)
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

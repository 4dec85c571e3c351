import type { RgbImage } from '../../../../image/rgb-png.ts'

/** Pixels of a picture: red, green, blue and opacity of each, rows from the top. */
export interface Pixels {
  readonly widthPx: number
  readonly heightPx: number
  readonly rgba: Uint8Array | Uint8ClampedArray
}

/**
 * The middle of a picture as a square of at most `maxSidePx`, on white. A smaller picture is not enlarged. Each pixel is the
 * mean of those that it covers.
 */
export function squareOf({ widthPx, heightPx, rgba }: Pixels, maxSidePx: number): RgbImage {
  const sourcePx = Math.min(widthPx, heightPx)
  const sidePx = Math.min(sourcePx, maxSidePx)
  const leftPx = (widthPx - sourcePx) >> 1
  const topPx = (heightPx - sourcePx) >> 1
  const edges = Uint32Array.from({ length: sidePx + 1 }, (_, at) => Math.floor((at * sourcePx) / sidePx))
  const rgb = new Uint8Array(3 * sidePx * sidePx)
  for (let y = 0; y < sidePx; y++) {
    const sums = new Uint32Array(3 * sidePx)
    const rows = edges[y + 1]! - edges[y]!
    for (let row = 0; row < rows; row++)
      addRow(rgba, 4 * ((topPx + edges[y]! + row) * widthPx + leftPx), edges, sums)
    putMeans(sums, rows, edges, rgb.subarray(3 * y * sidePx, 3 * (y + 1) * sidePx))
  }
  return { widthPx: sidePx, heightPx: sidePx, rgb }
}

/** Adds the pixels of a row, on white, to the sums of the pixels that cover them. @param from the place of the first one */
function addRow(rgba: Pixels['rgba'], from: number, edges: Uint32Array, sums: Uint32Array): void {
  let at = from
  for (let x = 0, to = 0; to < sums.length; x++, to += 3) {
    let [red, green, blue] = [0, 0, 0]
    for (const end = from + 4 * edges[x + 1]!; at < end; at += 4) {
      const opacity = rgba[at + 3]!
      const paper = 255 * (255 - opacity)
      red += rgba[at]! * opacity + paper
      green += rgba[at + 1]! * opacity + paper
      blue += rgba[at + 2]! * opacity + paper
    }
    sums[to]! += red
    sums[to + 1]! += green
    sums[to + 2]! += blue
  }
}

function putMeans(sums: Uint32Array, rows: number, edges: Uint32Array, rgb: Uint8Array): void {
  for (let at = 0; at < sums.length; at++) {
    const x = Math.floor(at / 3)
    rgb[at] = Math.round(sums[at]! / (255 * rows * (edges[x + 1]! - edges[x]!)))
  }
}

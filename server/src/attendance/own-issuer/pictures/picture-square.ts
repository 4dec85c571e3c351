/** Pixels of a picture: red, green, blue and opacity of each, rows from the top. */
export interface Pixels {
  readonly widthPx: number
  readonly heightPx: number
  readonly rgba: Uint8Array | Uint8ClampedArray
}

/**
 * The middle of a picture as a square of at most `maxSidePx`, on white. A smaller picture is not enlarged. Each pixel is the
 * mean of those that it covers.
 *
 * @returns red, green, blue and opacity (always 255)
 */
export function squareOf({ widthPx, heightPx, rgba }: Pixels, maxSidePx: number): Pixels {
  const sourcePx = Math.min(widthPx, heightPx)
  const sidePx = Math.min(sourcePx, maxSidePx)
  const leftPx = (widthPx - sourcePx) >> 1
  const topPx = (heightPx - sourcePx) >> 1
  const edge = (at: number) => Math.floor((at * sourcePx) / sidePx)
  const square = new Uint8Array(4 * sidePx * sidePx)
  for (let y = 0; y < sidePx; y++) {
    for (let x = 0; x < sidePx; x++) {
      const [fromX, toX] = [leftPx + edge(x), leftPx + edge(x + 1)]
      const [fromY, toY] = [topPx + edge(y), topPx + edge(y + 1)]
      let [red, green, blue] = [0, 0, 0]
      for (let sourceY = fromY; sourceY < toY; sourceY++) {
        for (let at = 4 * (sourceY * widthPx + fromX); at < 4 * (sourceY * widthPx + toX); at += 4) {
          const opacity = rgba[at + 3]!
          const paper = 255 * (255 - opacity)
          red += rgba[at]! * opacity + paper
          green += rgba[at + 1]! * opacity + paper
          blue += rgba[at + 2]! * opacity + paper
        }
      }
      const weight = 255 * (toX - fromX) * (toY - fromY)
      const to = 4 * (y * sidePx + x)
      square[to] = Math.round(red / weight)
      square[to + 1] = Math.round(green / weight)
      square[to + 2] = Math.round(blue / weight)
      square[to + 3] = 255
    }
  }
  return { widthPx: sidePx, heightPx: sidePx, rgba: square }
}

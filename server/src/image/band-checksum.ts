import { type BandImage, bytesPerRow, FILTER_NONE, FILTER_UP, MOST_BANDS } from './band-image.ts'
import { reusedIntegers } from './reused-memory.ts'

/** Adler's modulus: the largest prime below 65,536. */
const MODULUS = 65_521

const WEIGHTS = reusedIntegers(MOST_BANDS)
const MOMENTS = reusedIntegers(MOST_BANDS)

/**
 * Computes the Adler-32 checksum of rows from their strips. Adler-32 has two sums: `low` is the sum of all bytes,
 * `high` the sum of all values that `low` has had. So a byte counts in `high` once for itself and once for each byte
 * after it.
 *
 * Both are sums over pixels. A pixel of colour c adds c times its weight to `low` (16 in the higher half of a byte, 1
 * in the lower half) and c times its moment to `high` (the weight times the number of times that its byte counts). The
 * sums of weights and moments of all pixels before each pixel are computed once per width, so a part of a strip needs
 * one subtraction of each.
 */
export class BandChecksum {
  private readonly image: BandImage
  private readonly lineBytes: number
  private readonly weights: Int32Array
  private readonly moments: Int32Array
  /** Per band, the sums over one of its rows. */
  private readonly weightOf: Int32Array
  private readonly momentOf: Int32Array
  private low = 1
  private high = 0

  constructor(image: BandImage) {
    const sums = sumsFor(image.widthPx)
    this.image = image
    this.lineBytes = bytesPerRow(image.widthPx) + 1
    this.weights = sums.weights
    this.moments = sums.moments
    this.weightOf = WEIGHTS.take(image.bandCount)
    this.momentOf = MOMENTS.take(image.bandCount)
  }

  /** Adds the first row of a band: the sums of the similar band, changed by the strips that differ. */
  add(band: number): void {
    const { strips, stripsPerRow, similar, firstPx, stripPx } = this.image
    const other = similar[band]!
    const row = band * stripsPerRow
    const otherRow = other * stripsPerRow
    this.weightOf[band] = other >= 0 ? this.weightOf[other]! : 0
    this.momentOf[band] = other >= 0 ? this.momentOf[other]! : 0
    for (let i = 0; i < stripsPerRow; i++) {
      const strip = strips[row + i]!
      const otherStrip = other >= 0 ? strips[otherRow + i]! : 0
      if (strip !== otherStrip) this.addChange(band, strip, otherStrip, firstPx + i * stripPx)
    }
    this.high = (this.high + this.lineBytes * (this.low + FILTER_NONE) + this.momentOf[band]!) % MODULUS
    this.low = (this.low + FILTER_NONE + this.weightOf[band]!) % MODULUS
  }

  /** Adds rows that repeat the one above: all of their bytes are 0, except the filter type in front. */
  addAgain(times: number): void {
    const lows = times * this.low + (FILTER_UP * times * (times + 1)) / 2
    this.high = (this.high + this.lineBytes * lows) % MODULUS
    this.low = (this.low + FILTER_UP * times) % MODULUS
  }

  value(): number {
    return (this.high * 65_536 + this.low) >>> 0
  }

  private addChange(band: number, strip: number, otherStrip: number, px: number): void {
    const { weights, moments } = this
    const { widthPx, partEndsPx } = this.image
    let weight = 0
    let moment = 0
    let fromPx = Math.max(px, 0)
    for (let part = 0; part < 4; part++) {
      const toPx = Math.min(Math.max(px + partEndsPx[part]!, 0), widthPx)
      const change = ((strip >> (4 * part)) & 15) - ((otherStrip >> (4 * part)) & 15)
      weight += change * (weights[toPx]! - weights[fromPx]!)
      moment += change * (moments[toPx]! - moments[fromPx]!)
      fromPx = toPx
    }
    this.weightOf[band]! += weight
    this.momentOf[band]! += moment
  }
}

interface PixelSums {
  readonly widthPx: number
  /** For each pixel, the sums over all pixels before it. */
  readonly weights: Int32Array
  readonly moments: Int32Array
}

let latestSums: PixelSums | undefined

/** The sums for a width. Those of the last width are cached, because most images have the same one. */
function sumsFor(widthPx: number): PixelSums {
  if (latestSums?.widthPx === widthPx) return latestSums
  const bytes = bytesPerRow(widthPx)
  const weights = new Int32Array(widthPx + 1)
  const moments = new Int32Array(widthPx + 1)
  for (let px = 0; px < widthPx; px++) {
    const weight = px % 2 === 0 ? 16 : 1
    weights[px + 1] = weights[px]! + weight
    moments[px + 1] = moments[px]! + weight * (bytes - (px >> 1))
  }
  latestSums = { widthPx, weights, moments }
  return latestSums
}

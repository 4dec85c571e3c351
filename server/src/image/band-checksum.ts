import { ABOVE_PLUS, AS_IS, type BandImage, bytesPerRow } from './band-image.ts'

/** Adler's modulus: the largest prime below 65,536. */
const MODULUS = 65_521

/**
 * Adler-32 over rows: `low` is the sum of all bytes, `high` the sum of all values that `low` ever had, so that a byte
 * counts in it once for itself and once for each byte after it.
 *
 * Both are sums over pixels: one of colour c adds c times the weight of its half of a byte to the one, and c times its
 * moment (that weight, as often as it will be counted) to the other. With the weights and moments of all pixels up to
 * each place laid out once per width, a part of a strip is a difference of two of them.
 */
export class BandChecksum {
  private readonly image: BandImage
  private readonly lineBytes: number
  private readonly weights: Int32Array
  private readonly moments: Int32Array
  /** Of each band, the sums over one row. */
  private readonly weightOf: Int32Array
  private readonly stateAt: Int32Array
  private low = 1
  private high = 0

  constructor(image: BandImage) {
    const places = placesFor(image.widthPx)
    this.image = image
    this.lineBytes = bytesPerRow(image.widthPx) + 1
    this.weights = places.weights
    this.moments = places.moments
    this.weightOf = new Int32Array(image.bandCount)
    this.stateAt = new Int32Array(image.bandCount)
  }

  /** The first row of a band: what its strips change of the band that is alike. */
  add(band: number): void {
    const { strips, stripsPerRow, alike, firstPx, stripPx } = this.image
    const other = alike[band]!
    const row = band * stripsPerRow
    const otherRow = other * stripsPerRow
    if (other >= 0) {
      this.weightOf[band] = this.weightOf[other]!
      this.stateAt[band] = this.stateAt[other]!
    }
    for (let i = 0; i < stripsPerRow; i++) {
      const strip = strips[row + i]!
      const otherStrip = other >= 0 ? strips[otherRow + i]! : 0
      if (strip !== otherStrip) this.addChange(band, strip, otherStrip, firstPx + i * stripPx)
    }
    this.high = (this.high + this.lineBytes * (this.low + AS_IS) + this.stateAt[band]!) % MODULUS
    this.low = (this.low + AS_IS + this.weightOf[band]!) % MODULUS
  }

  /** Rows that repeat: of a line's bytes only the first is not 0. */
  addAgain(times: number): void {
    const lows = times * this.low + (ABOVE_PLUS * times * (times + 1)) / 2
    this.high = (this.high + this.lineBytes * lows) % MODULUS
    this.low = (this.low + ABOVE_PLUS * times) % MODULUS
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
    this.stateAt[band]! += moment
  }
}

interface Places {
  readonly widthPx: number
  /** Up to each pixel, the sum over the pixels before it. */
  readonly weights: Int32Array
  readonly moments: Int32Array
}

let latestPlaces: Places | undefined

/** Most images that follow each other have the same width. */
function placesFor(widthPx: number): Places {
  if (latestPlaces?.widthPx === widthPx) return latestPlaces
  const bytes = bytesPerRow(widthPx)
  const weights = new Int32Array(widthPx + 1)
  const moments = new Int32Array(widthPx + 1)
  for (let px = 0; px < widthPx; px++) {
    const weight = px % 2 === 0 ? 16 : 1
    weights[px + 1] = weights[px]! + weight
    moments[px + 1] = moments[px]! + weight * (bytes - (px >> 1))
  }
  latestPlaces = { widthPx, weights, moments }
  return latestPlaces
}

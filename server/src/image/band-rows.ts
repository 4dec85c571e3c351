import { BandChecksum } from './band-checksum.ts'
import { type BandImage, bytesPerRow, FILTER_NONE, FILTER_UP, MOST_BANDS } from './band-image.ts'
import { type Deflater, MAX_DISTANCE, MAX_MATCH, MIN_MATCH } from './deflater.ts'
import { reusedIntegers } from './reused-memory.ts'

/** Multiplied by a colour: a strip with that colour in all four parts. */
const ALL_PARTS = 0x1111

/**
 * A far match is used only if it covers more than so many strips beyond a near one, because near matches take fewer
 * bits.
 */
const MIN_GAIN_OF_FAR_MATCH = 2
/** The least number of strips that are written as a near match; fewer are written part by part. */
const MIN_STRIPS_OF_NEAR_MATCH = 2

const ROWS_BEFORE = reusedIntegers(MOST_BANDS)

/**
 * Writes the rows in PNG's format, four bits per pixel, and returns their checksum (Adler-32).
 *
 * No pixels are written to memory. The first row of a band is written as matches with a similar band above, matches
 * with itself, and runs of one colour. Its other rows use the filter "Up" and are runs of zeros.
 */
export function writeBands(image: BandImage, deflater: Deflater): number {
  const rows = new RowWriter(image, deflater)
  const checksum = new BandChecksum(image)
  for (let band = 0; band < image.bandCount; band++) {
    const times = image.rows[band]!
    rows.write(band)
    rows.writeAgain(times - 1)
    checksum.add(band)
    checksum.addAgain(times - 1)
  }
  return checksum.value()
}

class RowWriter {
  private readonly image: BandImage
  private readonly deflater: Deflater
  private readonly bytesPerRow: number
  /** The number of strips that fill whole bytes: 1, or 2 where a strip has an odd number of pixels. */
  private readonly period: number
  private readonly periodBytes: number
  private readonly firstRepeatable: number
  /** The number of rows written so far, and before each band. */
  private rowCount = 0
  private readonly rowsBefore: Int32Array
  // The current run: pixels from `fromPx` to `toPx` of one colour. All pixels before it are written, except one: where
  // `fromPx` is odd, the pixel before it is in `half` until the other half of its byte is known.
  private colour = 0
  private fromPx = 0
  private toPx = 0
  private half = 0

  constructor(image: BandImage, deflater: Deflater) {
    this.image = image
    this.deflater = deflater
    this.bytesPerRow = bytesPerRow(image.widthPx)
    this.period = image.stripPx % 2 === 0 ? 1 : 2
    this.periodBytes = (this.period * image.stripPx) / 2
    this.firstRepeatable = this.period + (image.firstPx < 0 ? 1 : 0)
    this.rowsBefore = ROWS_BEFORE.take(image.bandCount)
  }

  /** Writes the first row of a band. */
  write(band: number): void {
    const { stripsPerRow, similar } = this.image
    const above = similar[band]!
    const distance = above < 0 ? 0 : (this.rowCount - this.rowsBefore[above]!) * (this.bytesPerRow + 1)
    const isInReach = distance > 0 && distance <= MAX_DISTANCE
    this.deflater.literal(FILTER_NONE)
    this.fromPx = 0
    this.toPx = 0
    this.writeStrips(band * stripsPerRow, isInReach ? above * stripsPerRow : -1, distance)
    this.endRun()
    if (this.toPx & 1) this.deflater.literal(this.half << 4)
    this.rowsBefore[band] = this.rowCount++
  }

  /** Writes rows that are equal to the one before. */
  writeAgain(times: number): void {
    const { deflater, bytesPerRow } = this
    this.rowCount += times
    // Where a row is shorter than the longest match, one match goes over several rows.
    const rest = (times - 1) * (bytesPerRow + 1)
    const written = bytesPerRow < MAX_MATCH && rest >= MIN_MATCH ? 1 : times
    for (let i = 0; i < written; i++) {
      deflater.literal(FILTER_UP)
      this.putBytes(0, bytesPerRow)
    }
    if (written < times) deflater.match(rest, bytesPerRow + 1)
  }

  /**
   * Writes strips from left to right, in pieces as long as one match or run can be.
   *
   * @param start index of the first strip of the row
   * @param above index of the first strip of the similar row, which lies `distance` bytes before; -1 for none
   */
  private writeStrips(start: number, above: number, distance: number): void {
    const { strips, stripsPerRow, firstPx, stripPx } = this.image
    let sameTo = 0
    for (let i = 0; i < stripsPerRow; ) {
      const strip = strips[start + i]!
      if (above >= 0 && sameTo <= i) sameTo = i + equalStrips(strips, start + i, above + i, stripsPerRow - i)
      const isPlain = strip === (strip & 15) * ALL_PARTS
      const againTo = isPlain ? this.plainTo(start, i) : this.repeatedTo(start, i)
      if (sameTo > againTo + MIN_GAIN_OF_FAR_MATCH && this.copy(start, i, sameTo, distance)) i = sameTo
      else if (isPlain) {
        this.paint(strip & 15, firstPx + againTo * stripPx)
        i = againTo
      } else if (againTo >= i + MIN_STRIPS_OF_NEAR_MATCH && this.copy(start, i, againTo, this.periodBytes))
        i = againTo
      else this.paintStrip(strip, i++)
    }
  }

  /** The index after the strips that are equal to strip `i`, which has only one colour. */
  private plainTo(start: number, i: number): number {
    const { strips, stripsPerRow } = this.image
    return i + 1 + equalStrips(strips, start + i + 1, start + i, stripsPerRow - i - 1)
  }

  /** The index after the strips, from `i` on, that are equal to those a period to the left. */
  private repeatedTo(start: number, i: number): number {
    const { strips, stripsPerRow } = this.image
    if (i < this.firstRepeatable) return i
    return i + equalStrips(strips, start + i, start + i - this.period, stripsPerRow - i)
  }

  private paintStrip(strip: number, i: number): void {
    const { firstPx, stripPx, partEndsPx } = this.image
    const px = firstPx + i * stripPx
    this.paint(strip & 15, px + partEndsPx[0])
    this.paint((strip >> 4) & 15, px + partEndsPx[1])
    this.paint((strip >> 8) & 15, px + partEndsPx[2])
    this.paint(strip >> 12, px + partEndsPx[3])
  }

  /**
   * Extends the current run up to a pixel, or begins one of another colour. Pixels outside of the image are left out.
   */
  private paint(colour: number, endPx: number): void {
    const toPx = Math.min(endPx, this.image.widthPx)
    if (toPx <= this.toPx) return
    if (colour !== this.colour) {
      this.endRun()
      this.colour = colour
    }
    this.toPx = toPx
  }

  /** Writes the current run. */
  private endRun(): void {
    const { colour, toPx } = this
    let fromPx = this.fromPx
    if (fromPx === toPx) return
    if (fromPx & 1) {
      this.deflater.literal((this.half << 4) | colour)
      fromPx++
    }
    this.putBytes(colour * 17, (toPx - fromPx) >> 1)
    if (toPx & 1) this.half = colour
    this.fromPx = toPx
  }

  /** Writes equal bytes: the first as a literal, the others as a match with the byte before. */
  private putBytes(byte: number, count: number): void {
    if (count > MIN_MATCH) {
      this.deflater.literal(byte)
      this.deflater.match(count - 1, 1)
    } else for (let i = 0; i < count; i++) this.deflater.literal(byte)
  }

  /**
   * Writes strips as a match with the bytes `distance` bytes before; false where there are too few bytes for a match.
   */
  private copy(start: number, from: number, to: number, distance: number): boolean {
    const { strips, firstPx, stripPx, widthPx } = this.image
    const startPx = firstPx + from * stripPx
    const endPx = firstPx + to * stripPx
    let fromPx = Math.max(startPx, 0)
    const toPx = Math.min(endPx, widthPx)
    if (toPx - fromPx <= 2 * MIN_MATCH) return false
    this.endRun()
    if (fromPx & 1) {
      this.deflater.literal((this.half << 4) | this.colourIn(strips[start + from]!, fromPx - startPx))
      fromPx++
    }
    this.deflater.match((toPx - fromPx) >> 1, distance)
    if (toPx & 1) this.half = this.colourIn(strips[start + to - 1]!, toPx - 1 - (endPx - stripPx))
    this.fromPx = toPx
    this.toPx = toPx
    return true
  }

  private colourIn(strip: number, px: number): number {
    const [first, second, third] = this.image.partEndsPx
    return (strip >> (px < first ? 0 : px < second ? 4 : px < third ? 8 : 12)) & 15
  }
}

/** How many strips from `a` on are equal to those from `b` on, at most `most`. */
function equalStrips(strips: Uint16Array, a: number, b: number, most: number): number {
  let count = 0
  while (count < most && strips[a + count] === strips[b + count]) count++
  return count
}

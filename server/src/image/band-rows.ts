import { BandChecksum } from './band-checksum.ts'
import { ABOVE_PLUS, AS_IS, type BandImage, bytesPerRow } from './band-image.ts'
import { type Deflater, MAX_DISTANCE, MAX_MATCH, MIN_MATCH } from './deflater.ts'

/** Times a colour: a strip that is all of it. */
const ALL_PARTS = 0x1111

/** By so many strips a piece must be longer, if it is told by a far match instead of near ones: those take fewer bits. */
const WORTH_REACHING = 2
/** So many strips are told by a near match; fewer are told part by part. */
const WORTH_REPEATING = 2

/**
 * Writes the rows as PNG wants them, four bits per pixel, and returns their checksum (Adler-32).
 *
 * Nothing is ever laid out as pixels. The first row of a band is told as what it shares with a band above, what it
 * repeats of itself, and runs of one colour; the others say that nothing changes, which is a run of zeros.
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
  /** After so many strips a row can repeat itself in whole bytes: two where one has an odd number of pixels. */
  private readonly period: number
  private readonly periodBytes: number
  private readonly firstRepeatable: number
  /** Rows that are written, and how many were before each band. */
  private rowCount = 0
  private readonly rowsBefore: Int32Array
  // The run that is being gathered: pixels from `fromPx` to `toPx` of one colour. What lies before is written,
  // but for the pixel before an odd `fromPx`: it is in `half`, and waits for the other half of its byte.
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
    this.rowsBefore = new Int32Array(image.bandCount)
  }

  /** The first row of a band. */
  write(band: number): void {
    const { stripsPerRow, alike } = this.image
    const above = alike[band]!
    const distance = above < 0 ? 0 : (this.rowCount - this.rowsBefore[above]!) * (this.bytesPerRow + 1)
    const isInReach = distance > 0 && distance <= MAX_DISTANCE
    this.deflater.literal(AS_IS)
    this.fromPx = 0
    this.toPx = 0
    this.writeStrips(band * stripsPerRow, isInReach ? above * stripsPerRow : -1, distance)
    this.endRun()
    if (this.toPx & 1) this.deflater.literal(this.half << 4)
    this.rowsBefore[band] = this.rowCount++
  }

  /** Rows like the one before. */
  writeAgain(times: number): void {
    const { deflater, bytesPerRow } = this
    this.rowCount += times
    // Where a row is shorter than the longest match, one match goes over several rows.
    const rest = (times - 1) * (bytesPerRow + 1)
    const told = bytesPerRow < MAX_MATCH && rest >= MIN_MATCH ? 1 : times
    for (let i = 0; i < told; i++) {
      deflater.literal(ABOVE_PLUS)
      this.putBytes(0, bytesPerRow)
    }
    if (told < times) deflater.match(rest, bytesPerRow + 1)
  }

  /**
   * Strips from the left to the right, in the longest pieces that one match or run can tell.
   *
   * @param start of the row in all strips
   * @param above start of the row that is alike and lies `distance` bytes before, or -1
   */
  private writeStrips(start: number, above: number, distance: number): void {
    const { strips, stripsPerRow, firstPx, stripPx } = this.image
    let sameTo = 0
    for (let i = 0; i < stripsPerRow; ) {
      const strip = strips[start + i]!
      if (above >= 0 && sameTo <= i) sameTo = i + equalStrips(strips, start + i, above + i, stripsPerRow - i)
      const isPlain = strip === (strip & 15) * ALL_PARTS
      const againTo = isPlain ? this.plainTo(start, i) : this.repeatedTo(start, i)
      if (sameTo > againTo + WORTH_REACHING && this.copy(start, i, sameTo, distance)) i = sameTo
      else if (isPlain) {
        this.paint(strip & 15, firstPx + againTo * stripPx)
        i = againTo
      } else if (againTo >= i + WORTH_REPEATING && this.copy(start, i, againTo, this.periodBytes)) i = againTo
      else this.paintStrip(strip, i++)
    }
  }

  /** The strip after those which are, like the one at `i`, of one colour only. */
  private plainTo(start: number, i: number): number {
    const { strips, stripsPerRow } = this.image
    return i + 1 + equalStrips(strips, start + i + 1, start + i, stripsPerRow - i - 1)
  }

  /** The strip after those which repeat what lies a period to the left. */
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

  /** Goes on in a colour up to a pixel; what lies outside of the image is left out. */
  private paint(colour: number, endPx: number): void {
    const toPx = Math.min(endPx, this.image.widthPx)
    if (toPx <= this.toPx) return
    if (colour !== this.colour) {
      this.endRun()
      this.colour = colour
    }
    this.toPx = toPx
  }

  /** Writes the gathered run. */
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

  /** Equal bytes: the first as it is, the others as a match with the byte before. */
  private putBytes(byte: number, count: number): void {
    if (count > MIN_MATCH) {
      this.deflater.literal(byte)
      this.deflater.match(count - 1, 1)
    } else for (let i = 0; i < count; i++) this.deflater.literal(byte)
  }

  /** Strips as a match with what lies `distance` bytes before, or false where they are too few for one. */
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

/** How many strips from `a` on are like those from `b` on, of so many. */
function equalStrips(strips: Uint16Array, a: number, b: number, most: number): number {
  let count = 0
  while (count < most && strips[a + count] === strips[b + count]) count++
  return count
}

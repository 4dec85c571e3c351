import { crc32, inflateSync } from 'node:zlib'
import { expectedByte } from '../../../../image/rgb-png.ts'
import { PNG_SAMPLES } from './picture-header.ts'
import type { Pixels } from './picture-square.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12
/** What decides about the pixels. Everything else (texts, times, colour profiles, animations) is left out unread. */
const NEEDED = ['IHDR', 'PLTE', 'tRNS', 'IDAT']

const PALETTE = 3
/** The bits of a sample that each type of colours may have. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  [PALETTE]: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}

/** Which pixels the rows of a part have: its first column and row, and the steps between its columns and rows. */
interface Part {
  readonly left: number
  readonly top: number
  readonly stepX: number
  readonly stepY: number
}
const WHOLE: readonly Part[] = [{ left: 0, top: 0, stepX: 1, stepY: 1 }]
/** The seven parts of an interlaced picture. */
const INTERLACED: readonly Part[] = [
  { left: 0, top: 0, stepX: 8, stepY: 8 },
  { left: 4, top: 0, stepX: 8, stepY: 8 },
  { left: 0, top: 4, stepX: 4, stepY: 8 },
  { left: 2, top: 0, stepX: 4, stepY: 4 },
  { left: 0, top: 2, stepX: 2, stepY: 4 },
  { left: 1, top: 0, stepX: 2, stepY: 2 },
  { left: 0, top: 1, stepX: 1, stepY: 2 },
]

interface Form {
  readonly widthPx: number
  readonly heightPx: number
  /** Bits of a sample. */
  readonly depth: number
  readonly colours: number
  readonly parts: readonly Part[]
  /** Red, green and blue of each number, of a picture with a palette. */
  readonly palette: Uint8Array
  /** The opacity of each number of the palette, or the samples of the one colour that is transparent. */
  readonly transparency: Buffer
}

/**
 * Decodes a PNG. No more is decompressed than its size allows: the caller has checked that. The time depends on the number of
 * its pixels, and hardly on their form.
 *
 * @throws for a damaged file, or one whose data are longer than its size allows
 */
export function pngPixels(bytes: Buffer): Pixels {
  const chunks = chunksOf(bytes)
  const form = formOf(chunks)
  const data = Buffer.concat(bodiesOf(chunks, 'IDAT'))
  const rows = rowsOf(form)
  const length = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  const lines = inflateSync(data, { maxOutputLength: length })
  if (lines.length < length) throw new RangeError('rows are missing')
  const { widthPx, heightPx } = form
  const rgba = new Uint8Array(4 * widthPx * heightPx)
  const samples = new Uint16Array(PNG_SAMPLES[form.colours]! * widthPx)
  const noRow = new Uint8Array(rows.reduce((longest, { bytes }) => Math.max(longest, bytes), 0))
  let above = noRow
  let from = 0
  for (const { part, y, columns, bytes } of rows) {
    if (y === part.top) above = noRow
    const line = lines.subarray(from + 1, from + bytes)
    unfilter(lines[from]!, line, above, Math.max(1, (form.depth * PNG_SAMPLES[form.colours]!) / 8))
    if (form.depth !== 8) readSamples(line, form.depth, samples, columns * PNG_SAMPLES[form.colours]!)
    writePixels(form, form.depth === 8 ? line : samples, rgba, {
      from: y * widthPx + part.left,
      step: part.stepX,
      columns,
    })
    above = line
    from += bytes
  }
  return { widthPx, heightPx, rgba }
}

/** @throws {RangeError} for a form that no PNG has */
function formOf(chunks: readonly Chunk[]): Form {
  // With a second header, the size would not be the one that was checked
  if (chunks.findLastIndex(({ type }) => type === 'IHDR') !== 0)
    throw new RangeError('the file does not begin with its only header')
  const { body } = chunks[0]!
  const [depth = 0, colours = 0, compression, filters, interlacing] = body.subarray(8, 13)
  const isKnown = DEPTHS[colours]?.includes(depth) && compression === 0 && filters === 0 && interlacing! < 2
  const [palette = Buffer.alloc(0)] = bodiesOf(chunks, 'PLTE')
  if (body.length !== 13 || !isKnown || (colours === PALETTE && palette.length === 0))
    throw new RangeError('the header names a form that no PNG has')
  return {
    widthPx: body.readUInt32BE(0),
    heightPx: body.readUInt32BE(4),
    ...{ depth, colours, palette },
    parts: interlacing === 1 ? INTERLACED : WHOLE,
    transparency: bodiesOf(chunks, 'tRNS')[0] ?? Buffer.alloc(0),
  }
}

/** A row of the data: its pixels are those of row `y` of the picture in the columns of its part. */
interface Row {
  readonly part: Part
  readonly y: number
  readonly columns: number
  /** With the byte that names the filter. */
  readonly bytes: number
}

function rowsOf({ widthPx, heightPx, depth, colours, parts }: Form): readonly Row[] {
  const rows: Row[] = []
  for (const part of parts) {
    const columns = Math.ceil((widthPx - part.left) / part.stepX)
    const bytes = 1 + Math.ceil((columns * depth * PNG_SAMPLES[colours]!) / 8)
    for (let y = part.top; columns > 0 && y < heightPx; y += part.stepY)
      rows.push({ part, y, columns, bytes })
  }
  return rows
}

/** Turns the differences in a row into its bytes, in place (PNG, 9.2). @throws {RangeError} for an unknown filter */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array, pixelBytes: number): void {
  const { length } = line
  if (filter > 4) throw new RangeError('a row has an unknown filter')
  if (filter === 1) for (let at = pixelBytes; at < length; at++) line[at]! += line[at - pixelBytes]!
  if (filter === 2) for (let at = 0; at < length; at++) line[at]! += above[at]!
  if (filter === 3) {
    for (let at = 0; at < length; at++)
      line[at]! += ((at < pixelBytes ? 0 : line[at - pixelBytes]!) + above[at]!) >> 1
  }
  if (filter === 4) {
    for (let at = 0; at < length; at++) {
      const isFirst = at < pixelBytes
      const corner = isFirst ? 0 : above[at - pixelBytes]!
      line[at]! += expectedByte(isFirst ? 0 : line[at - pixelBytes]!, above[at]!, corner)
    }
  }
}

function readSamples(line: Uint8Array, depth: number, samples: Uint16Array, count: number): void {
  if (depth === 16) {
    for (let at = 0; at < count; at++) samples[at] = (line[2 * at]! << 8) | line[2 * at + 1]!
    return
  }
  const mask = (1 << depth) - 1
  for (let at = 0; at < count; at++) {
    const bit = at * depth
    samples[at] = (line[bit >> 3]! >> (8 - depth - (bit & 7))) & mask
  }
}

interface Target {
  /** Number of the first pixel. */
  readonly from: number
  readonly step: number
  readonly columns: number
}

function writePixels(
  form: Form,
  samples: Uint8Array | Uint16Array,
  rgba: Uint8Array,
  { from, step, columns }: Target,
): void {
  const { depth, colours, palette, transparency } = form
  const perPixel = PNG_SAMPLES[colours]!
  const [first, toStep] = [4 * from, 4 * step]
  // The first eight bits of a longer sample; a shorter one goes from 0 to 255 too
  const shift = Math.max(0, depth - 8)
  const scale = depth < 8 ? 255 / ((1 << depth) - 1) : 1
  if (colours === PALETTE) {
    for (let column = 0, to = first; column < columns; column++, to += toStep) {
      const number = samples[column]!
      if (3 * number >= palette.length)
        throw new RangeError('a pixel has a colour that is not in the palette')
      rgba[to] = palette[3 * number]!
      rgba[to + 1] = palette[3 * number + 1]!
      rgba[to + 2] = palette[3 * number + 2]!
      rgba[to + 3] = number < transparency.length ? transparency[number]! : 255
    }
    return
  }
  const hasColours = perPixel >= 3
  for (let column = 0, at = 0, to = first; column < columns; column++, at += perPixel, to += toStep) {
    const grey = (samples[at]! >> shift) * scale
    rgba[to] = grey
    rgba[to + 1] = hasColours ? samples[at + 1]! >> shift : grey
    rgba[to + 2] = hasColours ? samples[at + 2]! >> shift : grey
    rgba[to + 3] = colours >= 4 ? samples[at + perPixel - 1]! >> shift : 255
  }
  const hidden = colours >= 4 ? [] : hiddenColour(transparency, perPixel)
  if (hidden.length === 0) return
  for (let column = 0, at = 0, to = first; column < columns; column++, at += perPixel, to += toStep)
    if (hidden.every((sample, part) => sample === samples[at + part])) rgba[to + 3] = 0
}

/** The samples of the colour that is transparent; none where the file names no such colour. */
function hiddenColour(transparency: Buffer, perPixel: number): readonly number[] {
  if (transparency.length !== 2 * perPixel) return []
  return Array.from({ length: perPixel }, (_, part) => transparency.readUInt16BE(2 * part))
}

interface Chunk {
  readonly type: string
  readonly body: Buffer
}

function bodiesOf(chunks: readonly Chunk[], wanted: string): readonly Buffer[] {
  return chunks.filter(({ type }) => type === wanted).map(({ body }) => body)
}

/** The needed chunks. @throws {RangeError} for one that is damaged, or that the file does not have as a whole */
function chunksOf(bytes: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (let at = SIGNATURE_BYTES; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const to = at + FRAME_BYTES + length
    if (to > bytes.length) throw new RangeError('the file ends within a chunk')
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (type === 'IEND') break
    if (NEEDED.includes(type)) {
      if (crc32(bytes.subarray(at + 4, to - 4)) !== bytes.readUInt32BE(to - 4))
        throw new RangeError('a chunk has another checksum than its bytes')
      chunks.push({ type, body: bytes.subarray(at + 8, to - 4) })
    }
    at = to
  }
  return chunks
}

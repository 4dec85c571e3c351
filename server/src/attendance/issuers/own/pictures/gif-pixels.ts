import { firstGifFrame, type GifFrame } from './gif-frame.ts'
import type { Pixels } from './picture-square.ts'

const MAX_CODES = 4_096
const MAX_CODE_BITS = 12
/** First row and step of each pass of an interlaced frame. */
const PASSES = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const

/**
 * Decodes the first frame of a GIF whose size was checked: {@link firstGifFrame}. What the frame does not cover is transparent.
 *
 * @throws {RangeError} for a damaged file
 */
export function gifPixels(bytes: Buffer): Pixels {
  const frame = firstGifFrame(bytes)
  if (!frame || frame.palette.length === 0)
    throw new RangeError('the file has no frame, or no colours for it')
  const { widthPx, heightPx, left, top, frameWidthPx, palette, transparent } = frame
  const colours = coloursOf(frame)
  const rgba = new Uint8Array(4 * widthPx * heightPx)
  let at = 0
  for (const y of rowsOf(frame))
    for (let x = 0; x < frameWidthPx; x++) {
      const colour = colours[at++]!
      if (colour === transparent || 3 * colour >= palette.length) continue
      const to = 4 * ((top + y) * widthPx + left + x)
      for (let part = 0; part < 3; part++) rgba[to + part] = palette[3 * colour + part]!
      rgba[to + 3] = 255
    }
  return { widthPx, heightPx, rgba }
}

function* rowsOf({ frameHeightPx, isInterlaced }: GifFrame): Generator<number> {
  for (const [first, step] of isInterlaced ? PASSES : [[0, 1] as const])
    for (let y = first; y < frameHeightPx; y += step) yield y
}

/**
 * The number of the colour of each pixel. A code is a colour, or a number of pixels that were written before: those of the code
 * before it, and the pixel behind them. So a code is where its pixels begin, and how many they are.
 */
function coloursOf({ codes, codeBits, frameWidthPx, frameHeightPx }: GifFrame): Uint8Array {
  if (codeBits < 1 || codeBits > 8) throw new RangeError('a code has too many bits, or none')
  const colours = new Uint8Array(frameWidthPx * frameHeightPx)
  const clear = 2 ** codeBits
  const starts = new Uint32Array(MAX_CODES)
  const lengths = new Uint32Array(MAX_CODES)
  let [next, bits, previous] = [clear + 2, codeBits + 1, 0]
  let [read, readBits, written] = [0, 0, 0]
  for (const byte of codes) {
    read |= byte << readBits
    for (readBits += 8; readBits >= bits; ) {
      const code = read & (2 ** bits - 1)
      read >>>= bits
      readBits -= bits
      if (code === clear) {
        ;[next, bits, previous] = [clear + 2, codeBits + 1, 0]
        continue
      }
      if (code === clear + 1) return whole(colours, written)
      if (previous > 0 && next < MAX_CODES) {
        starts[next] = written - previous
        lengths[next++] = previous + 1
        if (next >= 2 ** bits && bits < MAX_CODE_BITS) bits++
      }
      if (code >= next) throw new RangeError('a code stands for no pixels')
      const length = code < clear ? 1 : lengths[code]!
      if (written + length > colours.length) throw new RangeError('the frame has more pixels than its size')
      if (code < clear) colours[written] = code
      // One by one: the last of them may be the first of those that are written
      else for (let n = 0; n < length; n++) colours[written + n] = colours[starts[code]! + n]!
      written += length
      previous = length
    }
  }
  return whole(colours, written)
}

function whole(colours: Uint8Array, written: number): Uint8Array {
  if (written !== colours.length) throw new RangeError('the frame has fewer pixels than its size')
  return colours
}

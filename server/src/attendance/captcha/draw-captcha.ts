import { encodePixels } from '../../image/palette-png.ts'
import { Ink } from './ink.ts'
import { Keystream } from './keystream.ts'
import { writeLetters } from './letters.ts'
import { type Point, type Trace, traceThrough } from './trace.ts'
import { ValueNoise } from './value-noise.ts'

export const CAPTCHA_WIDTH_PX = 500
export const CAPTCHA_HEIGHT_PX = 150
const SIZE = { widthPx: CAPTCHA_WIDTH_PX, heightPx: CAPTCHA_HEIGHT_PX }

/** Half of a stroke's width. */
const PEN_PX = [6, 7] as const
/** The widths of the two crossing lines, relative to the letters' pen. */
const LINE_PENS = [0.9, 0.64] as const
/** Horizontal distance between two turning points of a line, which lie in turn in the upper and the lower part. */
const LINE_TURN_PX = [130, 210] as const
const UPPER_PX = [20, 70] as const
const LOWER_PX = [80, 130] as const

/** The palette of a PNG with 4 bits per pixel. */
const SHADES = 16
/** Lightness of paper and ink from 0 to 1; their ranges do not overlap. */
const PAPER = { ...SIZE, lowest: 0.5, highest: 1, cellPx: 60 }
const INK = { ...SIZE, lowest: 0, highest: 0.3, cellPx: 40 }
const DARK_TONES = [0, 70] as const
const LIGHT_TONES = [215, 255] as const

/**
 * Draws a text as an image that people can read and programs hardly can: a PNG of 500 x 150 pixels, always the same for
 * the same text and seed.
 *
 * Letters are skeletons (glyphs.ts). Each letter gets random bends of its strokes, a random size, rotation, slant and
 * height, and waves bend the whole text (letters.ts). No two drawings of a letter are equal, so a table of letter images
 * does not help. Letters may touch or overlap, and two lines of similar width in the same ink cross them, so that they
 * are hard to separate. Ink and paper have noise and grain.
 *
 * @param text characters of the alphabet (glyphs.ts)
 * @param seed 16 random bytes
 * @example
 * drawCaptcha('K3WEA', randomBytes(16)) // about 18 kB
 */
export function drawCaptcha(text: string, seed: Uint8Array): Buffer {
  const random = new Keystream(seed)
  const penPx = random.between(...PEN_PX)
  const ink = new Ink(CAPTCHA_WIDTH_PX, CAPTCHA_HEIGHT_PX)
  for (const trace of writeLetters(text, { ...SIZE, penPx }, random)) ink.draw(trace)
  const isFirstUp = random.below(2) === 1
  ink.draw(lineAcross({ penPx: penPx * LINE_PENS[0], beginsUp: isFirstUp }, random))
  ink.draw(lineAcross({ penPx: penPx * LINE_PENS[1], beginsUp: !isFirstUp }, random))
  return encodePixels({ ...SIZE, palette: paletteOf(random), pixels: shadesOf(ink, random) })
}

interface LineOptions {
  readonly penPx: number
  readonly beginsUp: boolean
}

/** A line across the whole image, up and down in long even curves, which people can tell from letters. */
function lineAcross({ penPx, beginsUp }: LineOptions, random: Keystream): Trace {
  const corners: Point[] = []
  let isUp = beginsUp
  let x = random.between(-90, 0)
  while (x < CAPTCHA_WIDTH_PX + LINE_TURN_PX[1]) {
    const [highest, lowest] = isUp ? UPPER_PX : LOWER_PX
    corners.push({ x, y: random.between(highest, lowest) })
    x += random.between(...LINE_TURN_PX)
    isUp = !isUp
  }
  return traceThrough(corners, penPx, random)
}

/** The shades from darkest to lightest, between two random colours. */
function paletteOf(random: Keystream): Uint8Array {
  const tones = [0, 1, 2].map(() => ({
    dark: random.between(...DARK_TONES),
    light: random.between(...LIGHT_TONES),
  }))
  const shades = Array.from({ length: SHADES }, (_, shade) => shade / (SHADES - 1))
  return Uint8Array.from(
    shades.flatMap((part) => tones.map(({ dark, light }) => dark + part * (light - dark))),
  )
}

function shadesOf({ cover }: Ink, random: Keystream): Uint8Array {
  const paper = new ValueNoise(PAPER, random)
  const pen = new ValueNoise(INK, random)
  const grain = random.bytes(cover.length)
  const shades = new Uint8Array(cover.length)
  for (let y = 0, at = 0; y < CAPTCHA_HEIGHT_PX; y++) {
    for (let x = 0; x < CAPTCHA_WIDTH_PX; x++, at++) {
      const ground = paper.at(x, y)
      const light = cover[at] === 0 ? ground : ground + cover[at]! * (pen.at(x, y) - ground)
      // Random rounding to one of the two nearest shades: no visible edges between shades
      shades[at] = Math.floor(light * (SHADES - 1) + grain[at]! / 256)
    }
  }
  return shades
}

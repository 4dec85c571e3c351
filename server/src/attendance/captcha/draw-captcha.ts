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
/** The pens of the lines across, of the letters' pen. */
const LINE_PENS = [0.9, 0.64] as const
/** How far it is from one turn of a line to the next, along the image; it turns in the upper and the lower part. */
const LINE_TURN_PX = [130, 210] as const
const UPPER_PX = [20, 70] as const
const LOWER_PX = [80, 130] as const

/** As many as the palette of a small PNG has. */
const SHADES = 16
/** How light paper and ink are, from 0 to 1: both change from place to place, but never meet. */
const PAPER = { ...SIZE, lowest: 0.5, highest: 1, cellPx: 60 }
const INK = { ...SIZE, lowest: 0, highest: 0.3, cellPx: 40 }
const DARK_TONES = [0, 70] as const
const LIGHT_TONES = [215, 255] as const

/**
 * A text as a picture that people read and programs should not: a whole PNG of 500 x 150 pixels, always the same for
 * the same text and seed.
 *
 * Nothing of it is a fixed picture. Letters are skeletons (glyphs.ts) whose strokes are bent anew each time; the
 * letter has a size of its own, is turned and leans, stands higher or lower, and all of them wave (letters.ts). So no
 * two drawings of a letter are the same, and there is nothing to look up. Neighbours touch or overlap or do not, and
 * lines of the same ink and like width cross them, so that letters cannot be cut apart; ink and paper are cloudy and
 * grainy.
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

/** From edge to edge, up and down in turns: long and even curves, which an eye follows and leaves aside. */
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

/** From the darkest to the lightest, all between two colours. */
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
      // The grain decides between the two shades next to it: a shade has no visible edge
      shades[at] = Math.floor(light * (SHADES - 1) + grain[at]! / 256)
    }
  }
  return shades
}

import { type Glyph, type Point as GlyphPoint, glyphsOf, type Stroke } from './glyphs.ts'
import type { Keystream } from './keystream.ts'
import { boxOf, movePoints, type Point, type Trace, traceThrough } from './trace.ts'

/** The size of the image, and of the pen. */
export interface Sheet {
  readonly widthPx: number
  readonly heightPx: number
  /** About half of the width of a stroke. */
  readonly penPx: number
}

/** Minimum distance of letters from the edge. */
const MARGIN_PX = 9
/** Distance between the boxes of two letters; slanted letters touch or overlap at small distances. */
const GAP_PX = [-8, 34] as const
/** Height of a letter. It is random, so cutting the image into equal parts does not separate the letters. */
const HEIGHT_PX = [70, 104] as const
const TALLER = [0.88, 1.06] as const
const WIDER = [0.88, 1.08] as const
/** Maximum rotation of a letter in radians; with more, people read N as Z, and E as W. */
const TURN = 0.4
/** Maximum slant: horizontal shift of the upper end, relative to the height. */
const LEAN = 0.3
/** Maximum vertical shift of a letter. */
const JUMP_PX = 30
/** How far each point of a stroke may be moved, in hundredths of the letter. */
const SHAKE_X = 5
const SHAKE_Y = 4

/** Draws the strokes of a text with random changes, on a wavy line, at a random place of the image. */
export function writeLetters(text: string, sheet: Sheet, random: Keystream): Trace[] {
  const traces: Trace[] = []
  let atPx = 0
  for (const character of text) {
    const glyph = random.pick(glyphsOf(character))
    const heightPx = random.between(...HEIGHT_PX)
    const letter = writeGlyph(glyph, { heightPx, penPx: sheet.penPx }, random)
    const { left, right } = boxOf(letter)
    const shift = { x: atPx - left, y: random.around(JUMP_PX) }
    traces.push(
      ...letter.map((trace) => movePoints(trace, ({ x, y }) => ({ x: x + shift.x, y: y + shift.y }))),
    )
    atPx += right - left + random.between(...GAP_PX)
  }
  const waving = wavesOf(random)
  const waved = traces.map((trace) => movePoints(trace, waving))
  return placeOn(sheet, waved, random)
}

interface Size {
  readonly heightPx: number
  readonly penPx: number
}

/** One letter around the origin: with moved points, stretched, slanted and rotated. */
function writeGlyph({ width, strokes }: Glyph, { heightPx, penPx }: Size, random: Keystream): Trace[] {
  const turn = random.around(TURN)
  const lean = random.around(LEAN)
  const tallPx = heightPx * random.between(...TALLER)
  const widePx = heightPx * width * random.between(...WIDER)
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)]
  const placed = ([x, y]: GlyphPoint): Point => {
    const down = (y / 100 - 0.5) * tallPx
    const across = (x / 100 - 0.5) * widePx - lean * down
    return { x: across * cos - down * sin, y: across * sin + down * cos }
  }
  return strokes.map((stroke) => traceThrough(shaken(stroke, random).map(placed), penPx, random))
}

function shaken(stroke: Stroke, random: Keystream): Stroke {
  return stroke.map(([x, y]) => [x + random.around(SHAKE_X), y + random.around(SHAKE_Y)])
}

/** Waves that bend the whole text: long and short ones vertically, and others horizontally. */
function wavesOf(random: Keystream): (point: Point) => Point {
  const longWave = waveOf({ lengthPx: [170, 320], reachPx: 10 }, random)
  const shortWave = waveOf({ lengthPx: [70, 120], reachPx: 3.5 }, random)
  const sideWave = waveOf({ lengthPx: [80, 150], reachPx: 7 }, random)
  const stretch = waveOf({ lengthPx: [150, 260], reachPx: 6 }, random)
  return ({ x, y }) => ({ x: x + sideWave(y) + stretch(x), y: y + longWave(x) + shortWave(x) })
}

interface WaveOptions {
  readonly lengthPx: readonly [number, number]
  readonly reachPx: number
}

function waveOf({ lengthPx, reachPx }: WaveOptions, random: Keystream): (atPx: number) => number {
  const perPx = (2 * Math.PI) / random.between(...lengthPx)
  const start = random.between(0, 2 * Math.PI)
  const sizePx = random.between(0.5, 1) * reachPx
  return (atPx) => sizePx * Math.sin(atPx * perPx + start)
}

/** Shrinks a text that is too large, and moves it to a random place inside the margins. */
function placeOn({ widthPx, heightPx }: Sheet, traces: readonly Trace[], random: Keystream): Trace[] {
  const { left, right, top, bottom } = boxOf(traces)
  const across = placeIn(widthPx, right - left, random)
  const down = placeIn(heightPx, bottom - top, random)
  return traces.map((trace) =>
    movePoints(trace, ({ x, y }) => ({
      x: across.startPx + (x - left) * across.scale,
      y: down.startPx + (y - top) * down.scale,
    })),
  )
}

function placeIn(sidePx: number, lengthPx: number, random: Keystream): { scale: number; startPx: number } {
  const roomPx = sidePx - 2 * MARGIN_PX
  const scale = Math.min(1, roomPx / lengthPx)
  return { scale, startPx: MARGIN_PX + random.between(0, 1) * (roomPx - scale * lengthPx) }
}

import { type Glyph, glyphsOf, type Place, type Stroke } from './glyphs.ts'
import type { Keystream } from './keystream.ts'
import { boxOf, movePoints, type Point, type Trace, traceThrough } from './trace.ts'

/** Where letters are written. */
export interface Sheet {
  readonly widthPx: number
  readonly heightPx: number
  /** Half of a stroke's width, more or less. */
  readonly penPx: number
}

/** No letter comes nearer to the edge. */
const MARGIN_PX = 9
/** How far neighbours stand apart, box from box: leaning as they do, many touch, and some overlap. */
const GAP_PX = [-8, 34] as const
/** Each letter has a size of its own: equal parts of the image are not its letters. */
const HEIGHT_PX = [70, 104] as const
const TALLER = [0.88, 1.06] as const
const WIDER = [0.88, 1.08] as const
/** How far a letter may be turned, in radians; more, and people read N for Z, and E for W. */
const TURN = 0.4
/** How far its upper end may be aside of its lower end, of its height. */
const LEAN = 0.3
/** How far it may stand above or below the line. */
const JUMP_PX = 30
/** How far each place of a stroke may be moved, in hundredths of the letter. */
const SHAKE_X = 5
const SHAKE_Y = 4

/** Writes a text by hand: each stroke anew, in a line that waves, somewhere on the sheet. */
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

/** One letter around the origin: shaken, stretched, leaning and turned. */
function writeGlyph({ width, strokes }: Glyph, { heightPx, penPx }: Size, random: Keystream): Trace[] {
  const turn = random.around(TURN)
  const lean = random.around(LEAN)
  const tallPx = heightPx * random.between(...TALLER)
  const widePx = heightPx * width * random.between(...WIDER)
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)]
  const placed = ([x, y]: Place): Point => {
    const down = (y / 100 - 0.5) * tallPx
    const across = (x / 100 - 0.5) * widePx - lean * down
    return { x: across * cos - down * sin, y: across * sin + down * cos }
  }
  return strokes.map((stroke) => traceThrough(shaken(stroke, random).map(placed), penPx, random))
}

function shaken(stroke: Stroke, random: Keystream): Stroke {
  return stroke.map(([x, y]) => [x + random.around(SHAKE_X), y + random.around(SHAKE_Y)])
}

/** Bends everything that is written: along the line in long and in short waves, and from side to side. */
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

/** Presses together what is too large, and puts it anywhere inside the margins. */
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

/** A point in the box of a glyph: x from 0 (left) to 100 (right), y from 0 (top) to 100 (bottom). */
export type Point = readonly [x: number, y: number]

/** A smooth line through points; at a corner of a letter two strokes meet. */
export type Stroke = readonly Point[]

/** One way to write a character. */
export interface Glyph {
  /** Width of the box, relative to its height. */
  readonly width: number
  readonly strokes: readonly Stroke[]
}

/**
 * The characters of captcha texts. People must recognise each of them when it is bent and crossed by lines, so of
 * characters that look alike at most one is in the alphabet:
 *  - 0 O Q D, 1 I L, 2 Z, 5 S, 6 G, 8 B, U V: only D, 2, S and 6;
 *  - C F P: crossed by a line they look like E, E and R;
 *  - 4 H M V X Y 7: slanted or crossed, people read A, N, N, Y, K, K and T.
 */
export const ALPHABET = 'ADEJKNRSTW2369'

/** Characters that people type by mistake, and the character of the alphabet that each looks like. */
export const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  ['0D', 'OD', 'UJ', 'XK', 'YK', 'HN', 'MN', '4A', 'FE', 'PR', '5S', '7T', 'Z2', 'B6', 'G6', 'Q9'].map(
    ([typed = '', meant = '']) => [typed, meant],
  ),
)

/** Two shapes of each character, which makes recognition by programs harder. */
const SHAPES: readonly (readonly [character: string, width: number, strokes: string])[] = [
  ['A', 0.8, '50,0 0,100 | 50,0 100,100 | 18,64 82,64'],
  ['A', 0.84, '40,0 0,100 | 40,0 100,100 | 10,70 84,66'],
  ['D', 0.78, '4,0 4,100 | 4,0 50,2 90,20 100,50 90,80 50,98 4,100'],
  ['D', 0.72, '8,0 0,100 | 8,0 60,6 98,32 96,66 60,94 0,100'],
  ['E', 0.66, '4,0 4,100 | 4,0 96,0 | 4,49 80,49 | 4,100 100,100'],
  ['E', 0.62, '10,2 0,100 | 10,2 100,0 | 6,52 74,46 | 0,100 96,96'],
  ['J', 0.58, '94,0 96,40 90,76 60,99 24,95 2,64'],
  ['J', 0.54, '86,0 96,45 90,82 54,100 18,92 0,60'],
  ['K', 0.74, '3,0 3,100 | 95,0 3,58 | 30,42 100,100'],
  ['K', 0.72, '3,0 3,100 | 94,2 5,50 | 5,50 100,100'],
  ['N', 0.8, '3,100 3,0 | 3,0 97,100 | 97,100 97,0'],
  ['N', 0.72, '0,100 8,0 | 8,0 92,100 | 92,100 100,0'],
  ['R', 0.7, '4,0 4,100 | 4,0 60,1 92,13 92,38 60,52 4,53 | 42,53 100,100'],
  ['R', 0.72, '8,2 0,100 | 8,2 55,0 98,16 86,42 50,54 6,54 | 40,54 68,72 100,100'],
  ['S', 0.68, '94,16 62,0 24,4 6,24 24,44 72,54 94,76 74,96 36,100 4,84'],
  ['S', 0.64, '100,8 50,0 12,12 14,36 50,50 86,62 90,88 50,100 0,94'],
  ['T', 0.8, '0,0 100,0 | 50,0 50,100'],
  ['T', 0.74, '0,5 50,0 100,5 | 50,0 46,100'],
  ['W', 1.05, '0,0 25,100 | 25,100 50,20 | 50,20 75,100 | 75,100 100,0'],
  ['W', 1, '0,0 20,100 | 20,100 50,34 | 50,34 80,100 | 80,100 100,0'],
  ['2', 0.7, '4,26 20,5 52,0 86,10 92,34 70,60 34,84 4,100 | 4,100 100,100'],
  ['2', 0.68, '0,20 34,0 76,4 94,26 78,54 0,100 | 0,100 50,95 100,100'],
  ['3', 0.64, '4,12 40,0 82,8 90,28 70,46 34,48 | 34,48 80,52 100,74 82,95 42,100 0,86'],
  ['3', 0.66, '4,0 96,0 | 96,0 42,42 | 42,42 86,50 100,72 82,95 42,100 0,87'],
  ['6', 0.68, '6,70 22,48 60,42 92,58 92,84 60,100 22,94 6,70 | 6,70 5,40 20,12 55,0 88,8'],
  ['6', 0.66, '5,70 26,46 66,44 94,62 90,88 54,100 20,94 5,70 | 5,70 16,42 40,16 72,0'],
  ['9', 0.68, '94,30 78,52 40,58 8,42 8,16 40,0 78,6 94,30 | 94,30 95,60 80,88 45,100 12,92'],
  ['9', 0.66, '95,30 74,54 34,56 6,38 10,12 46,0 80,6 95,30 | 95,28 86,100'],
]

/** The shapes of a character of the alphabet. */
export function glyphsOf(character: string): readonly Glyph[] {
  return GLYPHS.get(character)!
}

const GLYPHS: ReadonlyMap<string, readonly Glyph[]> = new Map(
  [...ALPHABET].map((character) => [
    character,
    SHAPES.filter(([of]) => of === character).map(([, width, strokes]) => ({
      width,
      strokes: strokes.split(' | ').map(parseStroke),
    })),
  ]),
)

function parsePoint(text: string): Point {
  const [x = Number.NaN, y = Number.NaN] = text.split(',').map(Number)
  return [x, y]
}

/** A straight stroke gets a point in its middle, so that it bends when its points are moved. */
function parseStroke(text: string): Stroke {
  const points = text.split(' ').map(parsePoint)
  const [from, to, ...others] = points
  if (!from || !to || others.length > 0) return points
  return [from, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], to]
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type CellRange,
  edgePx,
  type Ground,
  gapPx,
  paintOverview,
  paintRange,
  rangeSizePx,
} from './cell-painter.ts'
import { DIMMED } from './inks.ts'
import { FIRST_DIMMED_PIXEL, FIRST_INK_PIXEL } from './map-palette.ts'

const LEFT = 8
const TOP = 16
const CORNER = 32

/** A letter for each colour: the kinds, and then the inks. */
const LETTERS = ' uodrp..-123'
const COLOURS = Uint32Array.from(LETTERS, (_, i) => i)

/** A land of rows from north to south, each of cells from west to east. */
function groundOf(lines: readonly (readonly number[])[], inks?: readonly (readonly number[])[]): Ground {
  const columns = lines[0]!.length
  const byColumn = (values: readonly (readonly number[])[]) =>
    Uint8Array.from({ length: columns * lines.length }, (_, number) => {
      return values[number % lines.length]![Math.floor(number / lines.length)]!
    })
  return { columns, rows: lines.length, cells: byColumn(lines), inks: inks && byColumn(inks) }
}

function painted(ground: Ground, cellPx: number, range: CellRange = all(ground)): string[] {
  const { widthPx, heightPx } = rangeSizePx(range, cellPx)
  const pixels = new Uint32Array(widthPx * heightPx).fill(99)
  paintRange({ ground, range, cellPx, colours: COLOURS, pixels })
  return linesOf(pixels, widthPx)
}

function linesOf(pixels: Uint32Array, widthPx: number): string[] {
  const text = Array.from(pixels, (pixel) => LETTERS[pixel] ?? '?').join('')
  return text.match(new RegExp(`.{${widthPx}}`, 'g')) ?? []
}

function all({ columns, rows }: Ground): CellRange {
  return { column: 0, row: 0, columns, rows }
}

test('parcels that join nothing have gaps in the west and north', () => {
  expect(painted(groundOf([[2, 1]]), 5)).toEqual([
    '          ', //
    ' oooo uuuu',
    ' oooo uuuu',
    ' oooo uuuu',
    ' oooo uuuu',
  ])
})

test('gaps are filled between parcels that join, and the corner where all four do', () => {
  const square = groundOf([
    [4, 4 | LEFT],
    [4 | TOP, 4 | LEFT | TOP | CORNER],
  ])
  const withoutNorthWest = groundOf([
    [2, 4],
    [4, 4 | LEFT | TOP],
  ])

  expect(painted(square, 5)).toEqual(['          ', ...Array(9).fill(' rrrrrrrrr')])
  expect(painted(withoutNorthWest, 5).slice(4, 7)).toEqual([' oooo rrrr', '      rrrr', ' rrrrrrrrr'])
})

test('small parcels have no gaps', () => {
  expect(
    painted(
      groundOf([
        [2, 1],
        [4, 3],
      ]),
      2,
    ),
  ).toEqual(['oouu', 'oouu', 'rrdd', 'rrdd'])
})

test('inks are laid over land, never where no land is', () => {
  expect(painted(groundOf([[2, 0, 3]], [[1, 2, 0]]), 1)).toEqual(['1 d'])
  expect(FIRST_INK_PIXEL + 1).toBe(LETTERS.indexOf('1'))
})

test('dimmed cells have the dimmed colour of what they would have, with and without an ink', () => {
  const ground = groundOf([[2, 2, 0]], [[DIMMED + 1, DIMMED, DIMMED]])
  const colours = Uint32Array.from({ length: 2 * FIRST_DIMMED_PIXEL }, (_, i) => i)
  const pixels = new Uint32Array(3)

  paintOverview(ground, colours, pixels)

  expect([...pixels]).toEqual([FIRST_INK_PIXEL + 1, 2, 0].map((pixel) => FIRST_DIMMED_PIXEL + pixel))
})

test('the overview has a pixel for each parcel', () => {
  const pixels = new Uint32Array(6)
  paintOverview(
    groundOf(
      [
        [2, 0, 3],
        [4, 5, 1],
      ],
      [
        [0, 0, 3],
        [0, 2, 0],
      ],
    ),
    COLOURS,
    pixels,
  )

  expect(linesOf(pixels, 3)).toEqual(['o 3', 'r2u'])
})

test('parts fit together to the whole, at every size of a parcel', () => {
  const cells = fc.uint8Array({ minLength: 42, maxLength: 42, max: 63 })
  const sizes = fc.double({ min: 1, max: 40, noNaN: true })
  fc.assert(
    fc.property(cells, sizes, fc.integer({ min: 1, max: 6 }), (bytes, cellPx, cut) => {
      const ground = {
        columns: 7,
        rows: 6,
        cells: bytes.map((cell) => (cell & 56) | ((cell & 7) % 6)),
        inks: undefined,
      }
      const whole = painted(ground, cellPx)
      const west = painted(ground, cellPx, { column: 0, row: 0, columns: cut, rows: 6 })
      const east = painted(ground, cellPx, { column: cut, row: 0, columns: 7 - cut, rows: 6 })
      expect(west.map((line, i) => line + east[i]!)).toEqual(whole)
      expect(whole.join('')).not.toContain('?')
    }),
    { numRuns: 60 },
  )
})

test('parcels are wider than their gaps, and begin at whole pixels', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 300, noNaN: true }), fc.nat(3000), (cellPx, cell) => {
      expect(edgePx(cell + 1, cellPx) - edgePx(cell, cellPx)).toBeGreaterThan(gapPx(cellPx))
      expect(Number.isInteger(edgePx(cell, cellPx))).toBe(true)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outlineOf } from './outline.ts'

const ROWS = 9

test('a parcel has four lines around it', () => {
  // Column 2, row 3
  const { horizontal, vertical, box } = outlineOf(Uint32Array.of(2 * ROWS + 3), ROWS)

  expect([...horizontal]).toEqual([3, 2, 3, 4, 2, 3])
  expect([...vertical]).toEqual([2, 3, 4, 3, 3, 4])
  expect(box).toEqual({ west: 2, north: 3, east: 3, south: 4 })
})

test('neighbours share one line around both', () => {
  const { horizontal, vertical } = outlineOf(Uint32Array.of(2 * ROWS + 3, 3 * ROWS + 3), ROWS)

  expect([...horizontal]).toEqual([3, 2, 4, 4, 2, 4])
  expect([...vertical]).toEqual([2, 3, 4, 4, 3, 4])
})

test('the last of a column and the first of the next one are no neighbours', () => {
  const { horizontal } = outlineOf(Uint32Array.of(8, 9), ROWS)

  expect([...horizontal]).toEqual([0, 1, 2, 1, 1, 2, 8, 0, 1, 9, 0, 1])
})

test('a line is between a cell that is in and one that is not, and everywhere there', () => {
  const COLUMNS = 7
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(COLUMNS * ROWS - 1), { minLength: 1 }), (cells) => {
      const { horizontal, vertical } = outlineOf(Uint32Array.from(cells), ROWS)
      const isIn = (column: number, row: number) =>
        column >= 0 && row >= 0 && row < ROWS && cells.includes(column * ROWS + row)
      const wanted = new Set<string>()
      for (let column = 0; column <= COLUMNS; column++) {
        for (let row = 0; row <= ROWS; row++) {
          if (isIn(column, row) !== isIn(column, row - 1)) wanted.add(`horizontal ${row} ${column}`)
          if (isIn(column, row) !== isIn(column - 1, row)) wanted.add(`vertical ${column} ${row}`)
        }
      }
      expect(new Set([...piecesOf('horizontal', horizontal), ...piecesOf('vertical', vertical)])).toEqual(
        wanted,
      )
    }),
  )
})

function piecesOf(name: string, lines: Int32Array): string[] {
  const pieces: string[] = []
  for (let i = 0; i < lines.length; i += 3) {
    for (let at = lines[i + 1]!; at < lines[i + 2]!; at++) pieces.push(`${name} ${lines[i]} ${at}`)
  }
  return pieces
}

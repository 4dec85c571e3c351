import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvCell, csvPieces, csvText } from './csv.ts'

/** Texts with characters that could end their cell. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'=+-@＝－"\';,|\t\r\n \u200b\ufeffa1029./:e%€(−'),
      fc.string({ unit: 'grapheme' }),
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))
const value = fc.oneof(
  nasty,
  fc.string({ unit: 'grapheme' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

test('a table is a byte order mark, a header, and rows that end in CRLF', () => {
  expect(
    csvText(
      ['id', 'name'],
      [
        ['x', 'A "good" place'],
        [3, null],
      ],
    ),
  ).toBe('\ufeffid,name\r\nx,"A ""good"" place"\r\n3,\r\n')
})

test('a table in pieces is the same text', async () => {
  async function* batches() {
    yield [{ id: '1,2', name: '=1+1' }]
    yield []
    yield [
      { id: 3, name: null },
      { id: '4', name: 'x' },
    ]
  }
  const pieces: string[] = []
  const written = csvPieces(['id', 'name'], batches(), ({ id, name }) => [id, name])
  for await (const piece of written) pieces.push(piece)

  expect(pieces.join('')).toBe(
    csvText(
      ['id', 'name'],
      [
        ['1,2', '=1+1'],
        [3, null],
        ['4', 'x'],
      ],
    ),
  )
})

test('whatever the values are, parsing gives them back', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value, value), { maxLength: 8 }), (rows) => {
      const text = csvText(['a', 'b', 'c'], rows)

      const [header, ...parsed] = parse(text.slice(1), ',')
      expect(header).toEqual(['a', 'b', 'c'])
      expect(parsed.map((cells) => cells.map(rearmed))).toEqual(rows.map((cells) => cells.map(String)))
    }),
    { numRuns: 1000 },
  )
})

test('no cell begins a formula, whatever the spreadsheet takes for the end of a cell', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(nasty, nasty), { minLength: 1, maxLength: 4 }), (rows) => {
      const text = csvText(['a', 'b'], rows)

      for (const separator of [',', ';', '\t']) {
        // With another separator, one of our lines can be one cell. It begins with our first cell: a number stays a
        // number.
        const cells = parse(text.slice(1), separator)
          .flat()
          .filter((cell) => !/^-?\d+(\.\d+)?(e[+-]?\d+)?,/i.test(cell.trimStart()))
        for (const cell of cells) {
          expect(isFormula(cell), `${JSON.stringify(cell)} between ${JSON.stringify(separator)}`).toBe(false)
        }
      }
    }),
    { numRuns: 1000 },
  )
})

test.each([
  [-12, '-12'],
  ['-12', '-12'],
  ['-0.5', '-0.5'],
  ['123456789012345.000000000000000001', '123456789012345.000000000000000001'],
  ['1234567890123456', "'1234567890123456"],
  [
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    "'115792089237316195423570985008687907853269984665640564039457584007913129639935",
  ],
  ['012345', "'012345"],
  ['1e5', "'1e5"],
  ['-1e21', "'-1e21"],
  ['3/4', "'3/4"],
  ['12:30', "'12:30"],
  ['$5', "'$5"],
  ['5 €', "'5 €"],
  ['(5)', "'(5)"],
  ['−5', "'−5"],
  ['１２', "'１２"],
  ['Land 12', 'Land 12'],
  ['2026-11-28', "'2026-11-28"],
  ['2026-11-28T05:00:00.000Z', '2026-11-28T05:00:00.000Z'],
  ['38,128', `"'38,128"`],
  ["'38,128", `"''38,128"`],
  ["'12", "'12"],
  [-1e21, '-1e+21'],
  ['-12,34', `"'-12,34"`],
  ['-12,34;-12,35', '"-12,34;-12,35"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1+1', "'-1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['＝1+1', "'＝1+1"],
  ['\t=1', `"'\t'=1"`],
  ['\tx', `"'\tx"`],
  ['\rx', `"'\rx"`],
  [' =1', "' =1"],
  ['a;=1', `"a;'=1"`],
  ["'=1", "''=1"],
  ["it's", "it's"],
  ['a=b', 'a=b'],
  ['', ''],
  [null, ''],
  [true, 'true'],
])('%j is written as %j', (given, written) => {
  expect(csvCell(given)).toBe(written)
})

/** As a spreadsheet reads it: quotes count at the start of a cell, and what follows them belongs to it. */
function parse(text: string, separator: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (text[i + 1] === '"') cell += text[++i]
      else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === separator) row.push(take())
    else if (sign === '\n' || (sign === '\r' && (text[i + 1] === '\n' || separator !== ','))) {
      if (text[i + 1] === '\n') i++
      row.push(take())
      rows.push(row)
      row = []
    } else cell += sign
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell])
  return rows

  function take(): string {
    const taken = cell
    cell = ''
    return taken
  }
}

/** Restores the original text, as a program would. */
function rearmed(cell: string): string {
  const isPlain = /^'*-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(cell)
  if (!isPlain && /^'+(?=.*\p{Nd})[\p{Nd}\p{Sc}\p{Zs}()+\-−.,/:%e]+$/iu.test(cell)) return cell.slice(1)
  const starts =
    /((?<=^|[;\t\r\n])'(?=[\s"'\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋⩵⩶﬩]))|(^'(?='*[\t\r\n]))/gu
  return cell.replace(starts, '')
}

function isFormula(cell: string): boolean {
  const seen = cell.normalize('NFKC').replace(/^[\s\p{Cc}\p{Cf}]+/u, '')
  const isHarmless = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell) || /^[-\d,;]*$/.test(cell)
  return /^[=+\-@]/.test(seen) && !isHarmless
}

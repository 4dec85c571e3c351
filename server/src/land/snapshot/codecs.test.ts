import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalText, moneyText } from '../records/decimal.ts'
import { ExactNumber, parseExactJson } from '../records/exact-json.ts'
import { type Line, LineSplitter } from './line-splitter.ts'

test.each([
  ['0', '0'],
  ['-0', '0'],
  ['0.000', '0'],
  ['16787.030', '16787.03'],
  ['25e-2', '0.25'],
  ['1E3', '1000'],
  ['120e-1', '12'],
  ['1e21', '1000000000000000000000'],
  ['0.000000000000000001', '0.000000000000000001'],
  ['1.000000000000000001', '1.000000000000000001'],
  ['1.5e-17', '0.000000000000000015'],
])('the sum %s is written %s', (token, text) => {
  expect(moneyText(token)).toBe(text)
})

test.each(['-1', '1e-19', '1.5e-18', '1e60', '1e999999999999', '1e-999999999999', '', '1.', 'NaN', '0x10'])(
  'there is no sum of %s',
  (token) => {
    expect(moneyText(token)).toBeUndefined()
  },
)

test('a number of megabytes is refused at once', () => {
  expect(decimalText(`1${'0'.repeat(4_000_000)}1`)).toBeUndefined()
})

test('any decimal of up to 60 and 18 digits survives, however it is written', () => {
  const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${max}}$`))
  fc.assert(
    fc.property(digits(60), digits(18), fc.integer({ min: -30, max: 30 }), (whole, fraction, shift) => {
      const plain = `${whole || '0'}.${fraction || '0'}`
      const canonical = plain.replace(/^0+(?=\d)/, '').replace(/\.?0*$/, '') || '0'
      const all = whole + fraction || '0'
      const moved = `${all}e${-fraction.length}`
      const shifted = `${all}${'0'.repeat(Math.max(shift, 0))}e${-fraction.length - Math.max(shift, 0)}`

      for (const token of [plain, moved, shifted]) expect(moneyText(token)).toBe(canonical)
      expect(moneyText(canonical)).toBe(canonical)
    }),
  )
})

test('JSON keeps the numbers that a double would change, and only those', () => {
  expect(parseExactJson('{"a":0.1,"b":[1,2],"c":1000000000000000000000}')).toEqual({
    a: 0.1,
    b: [1, 2],
    c: 1e21,
  })
  expect(parseExactJson('{"a":1.000000000000000001}')).toEqual({ a: new ExactNumber('1.000000000000000001') })
  expect(parseExactJson('[9007199254740993]')).toEqual([new ExactNumber('9007199254740993')])
  expect(parseExactJson('{"a": 1e-400}')).toEqual({ a: new ExactNumber('1e-400') })
  expect(parseExactJson('{"id":"1:12345678901234567890","n":5e2}')).toEqual({
    id: '1:12345678901234567890',
    n: 500,
  })
})

test('a field called __proto__ stays a field on both ways through', () => {
  for (const text of ['{"__proto__":1}', '{"__proto__":1.00000000000000000001}']) {
    expect(Object.keys(parseExactJson(text) as object)).toEqual(['__proto__'])
  }
})

test('of a key that stands twice the last value counts, with and without numbers that a double would change', () => {
  expect(parseExactJson('{"a":1,"a":2}')).toEqual({ a: 2 })
  expect(parseExactJson('{"a":1.000000000000000001,"a":2}')).toEqual({ a: 2 })
})

test('any JSON number comes out as the same decimal', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const [value] = parseExactJson(`[${JSON.stringify(number)}]`) as [number | ExactNumber]
      if (typeof value === 'number') expect(decimalText(String(value))).toBe(decimalText(String(number)))
      else expect(value.text).toBe(JSON.stringify(number))
    }),
  )
})

test('lines are cut at the byte 0x0A alone, wherever the stream is cut', () => {
  const piece = fc.constantFrom('a', '\u2028', '\u2029', '\u0085', '\r', '\v', '\f', '👩‍🚀', '\ufeff', '')
  const line = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(12)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      const splitter = new LineSplitter()

      const found = [...chunksOf(bytes, cuts).flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]

      const expected = lines.map((text, index) => (index === 0 ? text.replace(/^\ufeff/, '') : text))
      expect(found).toEqual(expected.map((text, index) => ({ number: index + 1, text })))
    }),
  )
})

test('a file of nothing but a byte order mark has no lines', () => {
  const splitter = new LineSplitter()
  const mark = Buffer.from('\ufeff')
  expect([
    ...splitter.push(mark.subarray(0, 2)),
    ...splitter.push(mark.subarray(2)),
    ...splitter.end(),
  ]).toEqual([])
})

test('a last line without a line end is a line', () => {
  const splitter = new LineSplitter()
  expect(splitter.push(Buffer.from('a\nb'))).toEqual([{ number: 1, text: 'a' }])
  expect(splitter.end()).toEqual([{ number: 2, text: 'b' }])
})

test('a line that is too long is reported once, and the next one is read', () => {
  const splitter = new LineSplitter(4)
  const lines: Line[] = ['12', '345', '6\nok', 'ay\n', '12345'].flatMap((text) =>
    splitter.push(Buffer.from(text)),
  )
  expect([...lines, ...splitter.end()]).toEqual([
    { number: 1, problem: 'is longer than 4 bytes' },
    { number: 2, text: 'okay' },
    { number: 3, problem: 'is longer than 4 bytes' },
  ])
})

function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let from = 0
  for (const length of cuts) {
    chunks.push(bytes.subarray(from, from + length))
    from += length
  }
  return [...chunks, bytes.subarray(from)]
}

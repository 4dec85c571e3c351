import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_TEXT_LENGTH } from '../records/checks.ts'
import { parseDataText, withText } from './data-text.ts'

const parse = (text: string) => parseDataText(Buffer.from(text))
const data = (name: string, description = '', ipns = '', version = 0) => ({
  version,
  name,
  description,
  ipns,
})

test.each([
  ['four fields', '0,Alice HQ,First plot,ipns:Qm', data('Alice HQ', 'First plot', 'ipns:Qm')],
  ['a comma in quotes', '0,"Twins, the",x,', data('Twins, the', 'x')],
  [
    'quotes and a line break',
    '0,"Quote ""inner""","line1\nline2",i',
    data('Quote "inner"', 'line1\nline2', 'i'),
  ],
  ['a name only', '0,name only', data('name only')],
  ['the version only', '0', data('')],
  ['a field too many', '0,a,b,c,extra', data('a', 'b', 'c')],
  ['spaces around', '0, spaced , d ,x', data(' spaced ', ' d ', 'x')],
  ['only the first record', '0,a\nsecond line,b,c', data('a')],
  ['a record that ends as on Windows', '0,a\r\nsecond line', data('a')],
  ['a version of two digits', '00,weird,x,y', data('weird', 'x', 'y')],
  ['a version that is no number', '0;a;b', data('')],
  ['a version beyond what the column takes', '09999999999,a', data('a')],
  ['a quote inside of a field', '0,say "hi",x', data('say "hi"', 'x')],
  ['an empty field in quotes', '0,"",x', data('', 'x')],
  ['NUL', '0,a\0b,c', data('a\ufffdb', 'c')],
])('an owner who wrote %s is shown so', (_what, text, expected) => {
  expect(parse(text)).toEqual(expected)
})

test.each(['123', '007', '0', '1e3', '0x10', 'Infinity', '-5', 'true', '"123"'])(
  'a name that looks like the number %s stays a text, unlike in the older service',
  (name) => {
    expect(parse(`0,${name},${name},`)).toEqual(data(name.replaceAll('"', ''), name.replaceAll('"', '')))
  },
)

test.each([
  ['nothing', ''],
  ['another version', '1,a,b,c'],
  ['a quote that is never closed', '0,"unterminated,x'],
  ['text after a closing quote', '0,"a"b,c'],
  ['a byte order mark', '\ufeff0,a'],
])('an owner who wrote %s keeps the name from before, and the raw text is new', (_what, text) => {
  const before = {
    data_version: 0,
    name: 'Home',
    description: 'Sweet',
    ipns: '',
    data_text: null,
    updated_at_ms: 1,
  }

  const after = withText(before, Buffer.from(text), 2)

  expect(after).toEqual({ ...before, data_text: `0x${Buffer.from(text).toString('hex')}`, updated_at_ms: 2 })
})

test('bytes that are no UTF-8 are shown as such, and kept as they are', () => {
  const text = Buffer.from([0x30, 0x2c, 0xff, 0x41])
  const before = {
    data_version: 0,
    name: null,
    description: null,
    ipns: null,
    data_text: null,
    updated_at_ms: 1,
  }

  expect(withText(before, text, 2)).toMatchObject({ name: '\ufffdA', data_text: '0x302cff41' })
})

test('a name beyond what records take is cut, but not inside of a character', () => {
  const name = `a${'😀'.repeat(MAX_TEXT_LENGTH)}`

  expect(parse(`0,${name}`)?.name).toBe(name.slice(0, MAX_TEXT_LENGTH - 1))
})

test('any fields survive being written as a record', () => {
  const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`
  const field = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(field, field, field, (name, description, ipns) => {
      expect(parse(`0,${[name, description, ipns].map(quoted).join(',')}`)).toEqual(
        data(name, description, ipns),
      )
    }),
  )
})

test('no bytes whatever break the reader or give a field that the tables refuse', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'0,"\n\r\0a\ud800') }),
  )
  fc.assert(
    fc.property(bytes, (text) => {
      const parsed = parseDataText(Buffer.from(['0'.charCodeAt(0), ...Buffer.from(text)]))
      for (const field of [parsed?.name, parsed?.description, parsed?.ipns])
        expect(field === undefined || (field.isWellFormed() && !field.includes('\0'))).toBe(true)
    }),
  )
})

test('a text gives the same fields each time, also after thousands of others', () => {
  const empty = {
    data_version: 0,
    name: null,
    description: null,
    ipns: null,
    data_text: null,
    updated_at_ms: 0,
  }
  const texts = Array.from({ length: 2_500 }, (_, at) => Buffer.from(`${at % 7 === 0 ? 1 : 0},name ${at},,`))
  const rows = () => texts.map((text) => withText(empty, text, 1))

  const first = rows()

  expect(rows()).toEqual(first)
  expect(first[7]).toMatchObject({ name: null, data_text: `0x${texts[7]!.toString('hex')}` })
  expect(first[8]).toMatchObject({ name: 'name 8', data_text: `0x${texts[8]!.toString('hex')}` })
})

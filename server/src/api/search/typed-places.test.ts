import { encodeTokenId, tokenIdHex } from '@landpass/client/grid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOCALES, readCatalogue } from '../../site/translations.ts'
import { foldText } from '../common/fold.ts'
import { ESTATE_WORDS, typedAddressPart, typedPlaces } from './typed-places.ts'

const typed = (text: string) => typedPlaces(foldText(text))
const parcel = (id: string) => ({ type: 'parcel', id })

test.each([
  ['12,-34', '12,-34'],
  ['12, -34', '12,-34'],
  ['12 , -34', '12,-34'],
  ['12 -34', '12,-34'],
  ['12;-34', '12,-34'],
  [' ( 12, -34 ) ', '12,-34'],
  ['[12 34]', '12,34'],
  ['(−12,–34)', '-12,-34'],
  ['（１２，－３４）', '12,-34'],
  ['12、34', '12,34'],
  ['+1,-0', '1,0'],
  ['007,-08', '7,-8'],
])('%j is the parcel %s', (text, id) => {
  expect(typed(text)).toEqual([parcel(id)])
})

test.each(['#123', '123', ' # 123 ', '0123', '＃１２３', '#0123'])('%j is an estate', (text) => {
  expect(typed(text)).toEqual([{ type: 'estate', id: '123' }])
})

test.each([
  'estate 123',
  'Estate #123',
  'FINCA 123',
  'domaines  0123',
  '에스테이트 123',
  '地产123',
  '地产 ＃123',
])('%j is an estate: the page calls it so', (text) => {
  expect(typed(text)).toEqual([{ type: 'estate', id: '123' }])
})

test('the words for estates are those of the pages, in every language', () => {
  const words = LOCALES.map(readCatalogue).flatMap((texts) => [
    texts['asset.estate']!.toLowerCase(),
    texts['asset.estate.many']!.toLowerCase(),
  ])

  expect(new Set(ESTATE_WORDS)).toEqual(new Set(words))
})

test.each([
  ['0x12aB', '0x12ab', ''],
  [' 0X1 ', '0x1', ''],
  ['0x12ab…', '0x12ab', ''],
  ['0x12ab…CDEF', '0x12ab', 'cdef'],
  ['0x12ab...cdef', '0x12ab', 'cdef'],
])('%j is a part of an address', (text, start, end) => {
  expect(typedAddressPart(foldText(text))).toEqual({ start, end })
})

test.each(['', '0x', '12ab', '0x12g', '0x12 ab', `0x${'a'.repeat(40)}`, '0x12..ab'])(
  '%j is no part of an address',
  (text) => {
    expect(typedAddressPart(foldText(text))).toBeUndefined()
  },
)

test('an address and a district are found in any letter case', () => {
  const address = `0x${'aB'.repeat(20)}`
  const district = 'B2e94d17-8a55-4c39-8f0d-71d6a3e0c902'

  expect(typed(address)).toEqual([{ type: 'address', id: address.toLowerCase() }])
  expect(typed(district)).toEqual([{ type: 'district', id: district.toLowerCase() }])
})

test('every parcel is found by both forms of its token id', () => {
  fc.assert(
    fc.property(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: -150, max: 150 }), (x, y) => {
      fc.pre(x !== 0) // a token id of column 0 may be as short as an estate's id
      const decimal = String(encodeTokenId({ x, y }))

      expect(typed(tokenIdHex({ x, y }))).toEqual([parcel(`${x},${y}`)])
      expect(typed(decimal)).toContainEqual(parcel(`${x},${y}`))
    }),
  )
  expect(typed(tokenIdHex({ x: 0, y: 5 }))).toEqual([parcel('0,5')])
})

test.each([
  'twelve',
  '12-34',
  '1,2,3',
  '1.5,2',
  '1e3,2',
  '1234567,0',
  ',',
  '#',
  '#-1',
  '0x12',
  `0x${'a'.repeat(39)}g`,
  `0x${'f'.repeat(65)}`,
  '9'.repeat(79),
  '',
])('%j names no place', (text) => {
  expect(typed(text)).toEqual([])
})

test('any text is read without an error', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789 ,;-+#()x'), maxLength: 100 }), (text) => {
      for (const { type, id } of typed(text)) expect([type, id.length > 0]).toEqual([type, true])
    }),
  )
})

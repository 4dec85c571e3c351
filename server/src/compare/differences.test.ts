import fc from 'fast-check'
import { expect, test } from 'vitest'
import { comparable, differencesOf } from './differences.ts'

const json = (value: unknown, status = 200) => comparable(status, Buffer.from(JSON.stringify(value)))
/** The first bytes of a PNG, which have its size. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

test('names each field once, however many rows differ in it, and the form of a value counts', () => {
  const there = { ok: true, data: { '1,2': { price: 5, owner: 'a' }, '3,4': { price: 6, owner: 'b' } } }
  const here = {
    ok: true,
    data: { '1,2': { price: '5', owner: 'a' }, '3,4': { price: '6', owner: 'b', tenant: null } },
  }

  expect(differencesOf(json(there), json(here))).toEqual([
    { field: 'data.*.price', there: '5', here: '"5"' },
    { field: 'data.*.tenant', there: 'nothing', here: 'null' },
  ])
})

test('names and values of any length are cut', () => {
  const long = 'a'.repeat(100_000)
  const [{ field, there } = { field: long, there: long }] = differencesOf(json({ [long]: long }), json({}))

  expect(Math.max(field.length, there.length)).toBeLessThan(1_000)
})

test('of lists the length and each row count, of images the size, of other answers the bytes, and another status is all', () => {
  const text = (words: string) => comparable(200, Buffer.from(words))

  expect(differencesOf(json([{ id: 1 }]), json([{ id: 2 }, { id: 3 }]))).toEqual([
    { field: 'length', there: '1', here: '2' },
    { field: '*.id', there: '1', here: '2' },
  ])
  expect(differencesOf(comparable(200, png(500, 150)), comparable(200, png(500, 151)))).toEqual([
    { field: 'image size', there: '"500 x 150"', here: '"500 x 151"' },
  ])
  expect(differencesOf(text('ok'), text('no')).map(({ field }) => field)).toEqual(['bytes'])
  expect(differencesOf(text('ok'), json({})).map(({ field }) => field)).toEqual(['kind'])
  expect(differencesOf(text('ok'), json({}, 404)).map(({ field }) => field)).toEqual(['status'])
  const deep = (depth: number) => text('['.repeat(depth) + ']'.repeat(depth))
  expect(differencesOf(deep(100_000), deep(100_001)).map(({ field }) => field)).toEqual(['bytes'])
  expect(differencesOf(json('x'.repeat(1_000)), json(null))[0]!.there).toHaveLength(61)
})

test('an answer does not differ from itself, and any other JSON differs', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (a, b) => {
      expect(differencesOf(json(a), json(a))).toEqual([])
      const isSame = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
      expect(differencesOf(json(a), json(b)).length === 0).toBe(isSame)
    }),
  )
})

/** The same value with the keys of its objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, sorted(part)])
}

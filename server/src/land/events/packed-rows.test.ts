import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PackedRows } from './packed-rows.ts'

const column = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double({ noNaN: true }),
  fc.maxSafeInteger(),
  fc.string().filter((text) => !text.includes('\0')),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  fc.constantFrom('0xABCD', '0xabc', '0x', ' 0xab', '0xab\n', 'é0xab', '日本'),
)
const row = fc.record({
  key: fc.nat(20),
  one: column,
  other: column,
})

test('rows come back as they were, the last one of each key', () => {
  fc.assert(
    fc.property(fc.array(row), fc.array(fc.nat(20), { maxLength: 3 }), (rows, removed) => {
      const packed = new PackedRows<(typeof rows)[number]>()
      const expected = new Map<number, (typeof rows)[number]>()
      for (const one of rows) {
        // Rows of rules have their columns in one of several orders.
        packed.put(one.one === null ? one : { other: one.other, key: one.key, one: one.one })
        expected.set(one.key, one)
      }
      for (const key of removed) {
        packed.remove(key)
        expected.delete(key)
      }
      expect([...packed.keys()]).toEqual([...expected.keys()].sort((one, other) => one - other))
      for (let key = 0; key <= 20; key++) {
        expect(packed.has(key)).toBe(expected.has(key))
        expect(packed.get(key)).toEqual(expected.get(key))
      }
    }),
    { seed: 15, numRuns: 200 },
  )
})

test('rows of many pages are found, and one that is too long for a page is refused', () => {
  const rows = new PackedRows<{ readonly key: number; readonly text: string }>()
  for (let key = 0; key < 40; key++) rows.put({ key, text: String(key).repeat(50_000) })
  for (let key = 0; key < 40; key++) expect(rows.get(key)?.text).toBe(String(key).repeat(50_000))
  expect(() => rows.put({ key: 40, text: 'x'.repeat(2 ** 20) })).toThrow('cannot be packed')
})

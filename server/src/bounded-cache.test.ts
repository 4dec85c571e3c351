import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

const MAX_BYTES = 12_000
const step = fc.record({
  kind: fc.constantFrom('set', 'set', 'get', 'get', 'clear'),
  name: fc.nat({ max: 15 }).map((n) => `picture ${n}`),
  bytes: fc.oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 10_000 })),
})

test('the cache stays within its limit, and returns the last value of a name, or undefined', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const cache = new BoundedCache<number>(MAX_BYTES)
      const last = new Map<string, number>()
      for (const [i, { kind, name, bytes }] of steps.entries()) {
        if (kind === 'set') {
          cache.set(name, i, bytes)
          last.set(name, i)
        } else if (kind === 'clear') {
          cache.clear()
          last.clear()
        } else expect([undefined, last.get(name)]).toContain(cache.get(name))
        expect(cache.bytes).toBeLessThanOrEqual(MAX_BYTES)
        expect(cache.bytes === 0).toBe(cache.size === 0)
      }
    }),
  )
})

test('a value that is read often stays, and one that is not read is dropped', () => {
  const cache = new BoundedCache<string>(10_000)
  for (const name of ['one', 'two', 'forgotten']) cache.set(name, name, 700)

  for (let i = 0; i < 100; i++) {
    cache.set(`passing ${i}`, 'passing', 700)
    expect([cache.get('one'), cache.get('two')], `after ${i} others`).toEqual(['one', 'two'])
  }

  expect(cache.get('forgotten')).toBeUndefined()
  expect(cache.get('passing 99')).toBe('passing')
})

test('names are counted, and a value larger than half of the limit is not cached and evicts no other', () => {
  const cache = new BoundedCache<string>(6_000)
  cache.set('small', 'value', 100)
  const before = cache.bytes

  cache.set('large', 'value', 3_000)
  cache.set('x'.repeat(3_000), 'value', 0)

  expect([cache.bytes, cache.size, cache.get('small')]).toEqual([before, 1, 'value'])
  cache.set('x'.repeat(1_000), 'value', 100)
  expect(cache.bytes - before).toBe(before + 1_000 - 'small'.length)
})

test('a value that replaces another is counted once', () => {
  const cache = new BoundedCache<string>(6_000)
  for (let i = 0; i < 50; i++) cache.set('same', String(i), i * 10)

  expect([cache.size, cache.get('same')]).toEqual([1, '49'])
  cache.set('same', 'too large', 3_000)
  expect([cache.size, cache.bytes]).toEqual([0, 0])
})

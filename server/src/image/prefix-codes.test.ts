import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeLengths, codesOf } from './prefix-codes.ts'

const count = fc.oneof(
  fc.constant(0),
  fc.nat(60_000),
  // Powers of two make the deepest trees, which exceed the limit most.
  fc.nat(16).map((exponent) => 2 ** exponent),
)
const counts = fc.array(count, { minLength: 2, maxLength: 286 })

function lengthsFor(counts: readonly number[], limit: number): Uint8Array {
  const lengths = new Uint8Array(counts.length)
  codeLengths(Int32Array.from(counts), lengths, limit)
  return lengths
}

/** The bits of a code as text, the first one first. */
function codeTexts(lengths: Uint8Array): string[] {
  const codes = new Int32Array(lengths.length)
  codesOf(lengths, codes)
  return Array.from(codes, (code) =>
    (code & 0xffff)
      .toString(2)
      .padStart(code >> 16, '0')
      .split('')
      .reverse()
      .join(''),
  ).filter((_, symbol) => lengths[symbol]! > 0)
}

test('codes are complete, and none is longer than the limit', () => {
  fc.assert(
    fc.property(counts, fc.integer({ min: 9, max: 15 }), (counts, limit) => {
      const lengths = lengthsFor(counts, limit)
      const used = lengths.filter((length) => length > 0)

      expect(Math.max(...used)).toBeLessThanOrEqual(limit)
      expect(used.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1)
    }),
    { numRuns: 1000 },
  )
})

test('each symbol that occurs has a code, and no code is a prefix of another', () => {
  fc.assert(
    fc.property(counts, (counts) => {
      const lengths = lengthsFor(counts, 15)
      const texts = codeTexts(lengths).sort()

      counts.forEach((count, symbol) => {
        if (count > 0) expect(lengths[symbol]).toBeGreaterThan(0)
      })
      texts.forEach((text, i) => {
        expect(texts[i + 1]?.startsWith(text) ?? false).toBe(false)
      })
    }),
  )
})

test('codes are optimal where none reaches the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 2, maxLength: 30 }), (counts) => {
      const lengths = lengthsFor(counts, 15)
      const cost = counts.reduce((sum, count, symbol) => sum + count * lengths[symbol]!, 0)

      expect(cost).toBe(leastCost(counts))
    }),
  )
})

/** The cost of Huffman's algorithm in its simple form: join the two smallest weights until one is left. */
function leastCost(counts: readonly number[]): number {
  const weights = [...counts]
  let cost = 0
  while (weights.length > 1) {
    weights.sort((a, b) => b - a)
    const joined = weights.pop()! + weights.pop()!
    cost += joined
    weights.push(joined)
  }
  return cost
}

test('weights that need a code of 24 bits get codes within any limit', () => {
  const fibonacci = [1, 1]
  while (fibonacci.length < 25) fibonacci.push(fibonacci.at(-1)! + fibonacci.at(-2)!)

  expect(Math.max(...lengthsFor(fibonacci, 24))).toBe(24)
  for (let limit = 5; limit < 24; limit++) {
    const lengths = lengthsFor(fibonacci, limit)
    expect(Math.max(...lengths)).toBe(limit)
    expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1)
  }
})

test('at least two symbols get a code', () => {
  expect([...lengthsFor([0, 0, 0], 15)]).toEqual([1, 1, 0])
  expect([...lengthsFor([0, 0, 7], 15)]).toEqual([1, 0, 1])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LowestKeys } from './lowest-keys.ts'

test('the lowest keys are kept, of equal ones those that were added first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(-1, 0, 0.5, 1, 2, 3, Infinity)),
      fc.nat({ max: 12 }),
      (keys, size) => {
        const lowest = new LowestKeys(size)
        for (const [number, key] of keys.entries()) lowest.add(key, number)

        const sorted = [...keys.keys()].sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a]! - keys[b]!))
        expect(lowest.list()).toEqual(sorted.slice(0, size))
      },
    ),
  )
})

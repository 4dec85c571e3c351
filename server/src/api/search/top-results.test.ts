import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TopResults } from './top-results.ts'

test('the top results are the first of all results sorted, and all results are counted', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: 1, max: 5 }), (all, limit) => {
      const top = new TopResults<number>(limit, (a, b) => a - b)
      for (const one of all) top.add(one)

      expect(top.list()).toEqual(all.toSorted((a, b) => a - b).slice(0, limit))
      expect(top.total).toBe(all.length)
    }),
  )
})

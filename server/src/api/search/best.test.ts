import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Best } from './best.ts'

test('the best are those that sorting all would put first, and all are counted', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: 1, max: 5 }), (all, limit) => {
      const best = new Best<number>(limit, (a, b) => a - b)
      for (const one of all) best.add(one)

      expect(best.list()).toEqual(all.toSorted((a, b) => a - b).slice(0, limit))
      expect(best.total).toBe(all.length)
    }),
  )
})

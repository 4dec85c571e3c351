import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findChanges } from './change-blocks.ts'

test('every block in which a value changed is found, with few questions', async () => {
  const changes = fc.uniqueArray(fc.integer({ min: 1_001, max: 21_000_000 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(changes, async (blocks) => {
      let questions = 0
      const valueAt = async (block: number) => {
        questions += 1
        return String(blocks.filter((change) => change <= block).length)
      }
      const found = await findChanges(valueAt, { first: 1_000, last: 21_000_000 })
      expect(found).toEqual(blocks.toSorted((a, b) => a - b))
      expect(questions).toBeLessThanOrEqual(2 + 25 * blocks.length)
    }),
  )
})

test('no more changes are looked for than a node should be asked for', async () => {
  expect(await findChanges(async (block) => String(block), { first: 0, last: 1_000 })).toHaveLength(16)
  expect(await findChanges(async () => expect.unreachable(), { first: 5, last: 5 })).toEqual([])
})

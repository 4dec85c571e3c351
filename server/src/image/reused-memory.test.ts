import { expect, test } from 'vitest'
import { reusedBytes } from './reused-memory.ts'

test('each calculation gets as much as it asks for, from the same memory', () => {
  const cells = reusedBytes(1000)
  const first = cells.take(10)
  const second = cells.take(3)

  expect([first.length, second.length]).toEqual([10, 3])
  expect(second.buffer).toBe(first.buffer)
  expect(cells.take(900)).toHaveLength(900)
})

test('memory beyond the limit is not kept', () => {
  const cells = reusedBytes(1000)
  const kept = cells.take(1000).buffer

  expect(cells.take(1001)).toHaveLength(1001)
  expect(cells.take(1001).buffer).not.toBe(kept)
  expect(cells.take(1000).buffer).toBe(kept)
})

import { expect, test } from 'vitest'
import { withTimeLimit } from './clock.ts'

test('work has a time limit: its result within it, another one beyond, and its failure as it is', async () => {
  const never = new Promise<number>(() => {})

  expect(await withTimeLimit(Promise.resolve(1), 60_000, () => undefined)).toBe(1)
  expect(await withTimeLimit<number | undefined>(never, 0, () => undefined)).toBeUndefined()
  await expect(withTimeLimit(Promise.reject(new Error('no')), 60_000, () => 0)).rejects.toThrow('no')
})

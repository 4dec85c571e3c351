import { expect, test, vi } from 'vitest'
import { OneSecondCache } from './one-second-cache.ts'

test('what is older than a second is dropped when another result comes, and the oldest of a thousand', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const cache = new OneSecondCache<string>()
  const read = (name: string) => cache.get(name, async () => name)
  for (let n = 0; n < 600; n++) await read(`early ${n}`)
  now.mockReturnValue(500)
  for (let n = 0; n < 600; n++) await read(`late ${n}`)
  expect(cache.size).toBe(1_000)

  now.mockReturnValue(1_001)
  await read('another')

  expect(cache.size).toBe(601)
  now.mockRestore()
})

import { expect, test } from 'vitest'
import { PromiseCache } from './promise-cache.ts'

test('a result is made once for all callers, and again after a failure', async () => {
  const cache = new PromiseCache<string>(2)
  let made = 0
  const make = async () => {
    made++
    if (made === 1) throw new Error('not yet')
    return `result ${made}`
  }

  await expect(Promise.all([cache.get('a', make), cache.get('a', make)])).rejects.toThrow('not yet')
  expect(made).toBe(1)
  expect(cache.find('a')).toBeUndefined()
  expect(await Promise.all([cache.get('a', make), cache.get('a', make)])).toEqual(['result 2', 'result 2'])
  expect(await cache.find('a')).toBe('result 2')
})

test('the least recently used result is dropped first', async () => {
  const cache = new PromiseCache<string>(2)
  const remake = async () => 'made again'
  await cache.get('a', async () => 'a')
  await cache.get('b', async () => 'b')
  await cache.get('a', remake)
  await cache.get('c', async () => 'c')

  expect(await cache.get('a', remake)).toBe('a')
  expect(await cache.get('b', remake)).toBe('made again')
})

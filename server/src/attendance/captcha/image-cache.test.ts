import { expect, test } from 'vitest'
import { ImageCache } from './image-cache.ts'

test('the most recently requested images are cached, up to the limit', () => {
  const cache = new ImageCache(2)
  const drawn: string[] = []
  const get = (uuid: string) =>
    cache.get(uuid, () => {
      drawn.push(uuid)
      return Buffer.from(uuid)
    })

  for (const uuid of ['a', 'b', 'a', 'c', 'a', 'b']) expect(get(uuid).toString()).toBe(uuid)

  expect(drawn).toEqual(['a', 'b', 'c', 'b'])
  expect(cache.size).toBe(2)
})

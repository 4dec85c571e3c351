import { expect, test } from 'vitest'
import { RandomQueue } from './random-queue.ts'

test('those that wait go on in a random order, not in that of their arrival', async () => {
  const picks = [0.99, 0, 0.5, 0]
  const queue = new RandomQueue(() => picks.shift() ?? 0)
  const order: string[] = []

  const waits = ['a', 'b', 'c', 'd'].map(async (name) => {
    expect(await queue.wait('event', undefined, 1)).toBe(true)
    order.push(name)
  })
  expect([queue.isWaiting('event'), queue.isWaiting('another')]).toEqual([true, false])
  await Promise.all(waits)

  expect([order, queue.isWaiting('event')]).toEqual([['d', 'a', 'c', 'b'], false])
})

test('a hundred wait at most, and three of one network address', async () => {
  const queue = new RandomQueue()
  const ofOne = Array.from({ length: 5 }, () => queue.wait('event', '203.0.113.7', 1))
  const ofMany = Array.from({ length: 200 }, (_, n) => queue.wait('event', `198.51.100.${n}`, 1))

  expect(await Promise.all(ofOne)).toEqual([true, true, true, false, false])
  expect((await Promise.all(ofMany)).filter(Boolean)).toHaveLength(97)
})

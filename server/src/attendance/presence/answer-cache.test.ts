import { expect, test } from 'vitest'
import { testClock } from '../../../test/support/http/land-server.ts'
import { AnswerCache } from './answer-cache.ts'

const clock = testClock()
const always = () => true

function cacheOf(maxWeight: number) {
  return new AnswerCache<readonly string[]>({ clock, maxWeight, weigh: (words) => words.length })
}

test('caches an answer, and passes its age', async () => {
  const cache = cacheOf(10)
  const isYoung = (_value: readonly string[], ageMs: number) => ageMs < 1_000

  expect(cache.find('a', always)).toBeUndefined()
  await cache.ask('a', async () => ['yes'])

  expect(cache.find('a', isYoung)).toEqual(['yes'])
  clock.set(clock.nowMs() + 1_000)
  expect(cache.find('a', isYoung)).toBeUndefined()
  expect(cache.find('a', always), 'a caller that accepts older answers').toEqual(['yes'])
})

test('calls for the same name at the same time share one answer, failures too', async () => {
  const cache = cacheOf(10)
  let asked = 0
  const question = async () => [`answer ${++asked}`]

  const answers = await Promise.all([
    cache.ask('a', question),
    cache.ask('a', question),
    cache.ask('b', question),
  ])

  expect(answers).toEqual([['answer 1'], ['answer 1'], ['answer 2']])
  const fail = async () => Promise.reject(new Error('no'))
  expect(await Promise.allSettled([cache.ask('c', fail), cache.ask('c', question)])).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  expect(await cache.ask('c', question)).toEqual(['answer 3'])
})

test('never exceeds its weight limit: the oldest entries are deleted', async () => {
  const cache = cacheOf(3)
  for (const name of ['a', 'b', 'c']) await cache.ask(name, async () => [name])
  await cache.ask('a', async () => ['a again']) // now the youngest

  await cache.ask('d', async () => ['d', 'd'])

  expect(['a', 'b', 'c', 'd'].filter((name) => cache.find(name, always))).toEqual(['a', 'd'])
  expect(cache.weight).toBe(3)
  await cache.ask('e', async () => ['too', 'much', 'for', 'it'])
  expect(cache.find('e', always)).toBeUndefined()
  expect(cache.weight).toBe(3)
})

test('the age of an answer grows evenly when the clock is set', async () => {
  let [nowMs, steadyMs] = [10_000_000, 0]
  const steady = { nowMs: () => nowMs, steadyMs: () => steadyMs }
  const cache = new AnswerCache<readonly string[]>({ clock: steady, maxWeight: 9, weigh: () => 1 })
  await cache.ask('a', async () => ['yes'])

  nowMs -= 3_600_000
  steadyMs += 700

  const ages: number[] = []
  cache.find('a', (_value, ageMs) => ages.push(ageMs) > 0)
  expect(ages).toEqual([700])
})

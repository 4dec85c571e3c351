import { expect, test } from 'vitest'
import { OneByOne, UNKNOWN_FOR_MS, UnknownEvents } from './unknown-events.ts'

test('an event is unknown for at most a minute, and the answer takes as long as a wrong code', async () => {
  let nowMs = 0
  const events = new UnknownEvents(() => nowMs)
  events.noteWrong(1, true, 20)
  events.noteWrong(2, false, 20)

  expect([1, 2, 3].map((id) => events.has(id))).toEqual([true, false, false])
  const startedMs = performance.now()
  await events.waitAsIfJudged(0)
  expect(performance.now() - startedMs).toBeGreaterThan(18)
  nowMs = UNKNOWN_FOR_MS
  expect(events.has(1)).toBe(false)
  expect(UNKNOWN_FOR_MS).toBeLessThanOrEqual(60_000)
})

test('ten thousand unknown events are cached, the newest', () => {
  const events = new UnknownEvents(() => 0)
  for (let id = 1; id <= 10_001; id++) events.noteWrong(id, true, 0)

  expect([events.has(1), events.has(2), events.has(10_001)]).toEqual([false, true, true])
})

test('works about one event run one after the other, also after a failure', async () => {
  const turns = new OneByOne()
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await new Promise(setImmediate)
    seen.push(`${name} ends`)
    if (name === 'a') throw new Error('a failed')
  }

  const results = await Promise.allSettled([turns.run(1, work('a')), turns.run(1, work('b'))])

  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

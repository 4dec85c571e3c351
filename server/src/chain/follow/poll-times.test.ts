import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PollTimes } from './poll-times.ts'

/** Polls until a time, and answers how late each block was found and how many polls there were. */
function follow(times: PollTimes, arrivalsMs: readonly { timeS: number; atMs: number }[]) {
  const lateMs: number[] = []
  let [nowMs, polls, found] = [0, 0, 0]
  while (found < arrivalsMs.length) {
    polls += 1
    const there = arrivalsMs.filter(({ atMs }) => atMs <= nowMs).length
    if (there > found) lateMs.push(nowMs - arrivalsMs[there - 1]!.atMs)
    found = there
    if (there > 0) times.note({ number: there, timeS: arrivalsMs[there - 1]!.timeS }, nowMs)
    nowMs += times.pauseMs(nowMs)
  }
  return { lateMs, polls }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

test('blocks of 12 seconds are found within half a second, with a few more polls', () => {
  // A block comes up to a second after its time; the clocks of chain and process differ.
  const blocks = Array.from({ length: 50 }, (_, at) => ({
    timeS: 1_700_000_000 + 12 * at,
    atMs: 5_000 + 12_000 * at + (at % 5) * 250,
  }))
  const { lateMs, polls } = follow(new PollTimes(4_000), blocks)
  expect(median(lateMs.slice(3))).toBeLessThanOrEqual(500)
  expect(polls).toBeLessThan(blocks.length * 8)
})

test('after missed slots the next ones are waited for in the rhythm', () => {
  const blocks = Array.from({ length: 40 }, (_, at) => at)
    .filter((at) => at < 5 || at % 4 !== 0)
    .map((at) => ({ timeS: 12 * at, atMs: 12_000 * at + 700 }))
  expect(median(follow(new PollTimes(4_000), blocks).lateMs.slice(3))).toBeLessThanOrEqual(500)
})

test('a pause is never longer than the setting, nor shorter than a tenth of a second or the setting', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 60_000 }),
      fc.array(fc.tuple(fc.nat(40), fc.nat(60_000)), { maxLength: 30 }),
      (pollMs, blocks) => {
        const times = new PollTimes(pollMs)
        let [timeS, nowMs] = [1_700_000_000, 0]
        for (const [number, [seconds, pauseMs]] of blocks.entries()) {
          timeS += seconds
          nowMs += pauseMs
          times.note({ number, timeS }, nowMs)
          const pause = times.pauseMs(nowMs)
          expect(pause).toBeGreaterThan(0)
          expect(pause).toBeLessThanOrEqual(pollMs)
        }
      },
    ),
  )
})

test.each([
  { pollMs: 300, why: 'the setting is shorter', blocks: [0, 12, 24, 36] },
  { pollMs: 12_000, why: 'the setting is the time of a block', blocks: [0, 12, 24, 36] },
  { pollMs: 4_000, why: 'blocks come at the same second', blocks: [0, 1, 1, 2] },
  { pollMs: 4_000, why: 'too few blocks are known', blocks: [0, 12] },
])('polls come every $pollMs ms where $why', ({ pollMs, blocks }) => {
  const times = new PollTimes(pollMs)
  for (const [number, timeS] of blocks.entries()) times.note({ number, timeS }, timeS * 1_000)
  for (const ms of [0, 11_900, 12_100, 20_000]) expect(times.pauseMs(36_000 + ms)).toBe(pollMs)
})

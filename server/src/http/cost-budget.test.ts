import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { CostBudget } from './cost-budget.ts'
import type { Spent } from './worker-group.ts'

const PER_MINUTE = 600
let nowMs = 0
const budgetOf = (perMinute = PER_MINUTE) => new CostBudget(perMinute, () => nowMs)

test('a bucket holds the units of a minute, and refuses more until they have flown in', () => {
  const bucket = budgetOf().bucketOf('192.0.2.7')

  expect(bucket.take(1)).toEqual({ isTaken: true, remaining: 599, resetS: 1, waitS: 0 })
  expect(bucket.take(599)).toEqual({ isTaken: true, remaining: 0, resetS: 60, waitS: 0 })
  expect(bucket.take(25)).toEqual({ isTaken: false, remaining: 0, resetS: 60, waitS: 3 })
  nowMs += 2 * SECOND_MS
  expect(bucket.take(25)).toMatchObject({ isTaken: false, remaining: 20, waitS: 1 })
  nowMs += 1 * SECOND_MS
  expect(bucket.take(25)).toMatchObject({ isTaken: true, remaining: 5 })
})

test('each address has its own bucket, and two requests of one address share it', () => {
  const budget = budgetOf()
  budget.bucketOf('192.0.2.7').take(PER_MINUTE)

  expect(budget.bucketOf('192.0.2.7').take(1).isTaken).toBe(false)
  expect(budget.bucketOf('192.0.2.8').take(1).isTaken).toBe(true)
  expect(budget.size).toBe(2)
})

test('work that cost more than estimated overdraws the bucket', () => {
  const bucket = budgetOf().bucketOf('192.0.2.7')
  bucket.settle(PER_MINUTE + 100)

  expect(bucket.take(1)).toMatchObject({ isTaken: false, remaining: 0, resetS: 70, waitS: 11 })
  nowMs += 11 * SECOND_MS
  expect(bucket.take(1).isTaken).toBe(true)
})

test('an answer that costs more than a whole bucket is given for a full one', () => {
  const bucket = budgetOf().bucketOf('192.0.2.7')

  expect(bucket.take(10 * PER_MINUTE).isTaken).toBe(true)
  expect(bucket.take(1)).toMatchObject({ isTaken: false, waitS: 541 })
})

test('the table of addresses is bounded', () => {
  const budget = budgetOf()
  for (let i = 0; i < 30_000; i++) budget.bucketOf(`address ${i}`)

  expect(budget.size).toBe(20_000)
})

test('whatever an address requests, it gets at most a full bucket and what flows in', () => {
  const request = fc.record({ units: fc.integer({ min: 0, max: 900 }), pauseMs: fc.nat(30_000) })
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
      const startMs = nowMs
      const bucket = budgetOf().bucketOf('192.0.2.7')
      let taken = 0
      for (const { units, pauseMs } of requests) {
        nowMs += pauseMs
        if (bucket.take(units).isTaken) taken += units
      }
      const flown = ((nowMs - startMs) * PER_MINUTE) / MINUTE_MS
      // The last answer may cost more than a bucket holds.
      expect(taken).toBeLessThanOrEqual(PER_MINUTE + flown + 300 + 1e-6)
    }),
  )
})

test('with the default budget a client reads each parcel of the world within a minute', () => {
  const bucket = budgetOf(200_000).bucketOf('192.0.2.7')
  const PARCELS = 90_601
  for (let i = 0; i < PARCELS; i++) {
    nowMs += MINUTE_MS / PARCELS
    if (!bucket.take(1).isTaken) expect.fail(`refused after ${i}`)
  }
})

test('processes that serve together know a moment later what was spent in the others', () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const takes: ((spent: readonly Spent[]) => void)[] = []
  const budgets = [0, 1].map((i) => {
    const budget = budgetOf()
    budget.shareWith({
      metrics: async () => '',
      count: async () => ({ current: 1, ttl: 1 }),
      announceSpent: (spent) => takes[1 - i]?.(spent),
      onSpent: (take) => takes.push(take),
    })
    return budget
  })
  const [one, other] = budgets.map((budget) => budget.bucketOf('192.0.2.7'))

  one?.take(100)
  one?.settle(50)
  expect(other?.take(1).remaining).toBe(599)
  vi.advanceTimersByTime(100)

  expect([one?.take(0).remaining, other?.take(0).remaining]).toEqual([449, 449])
  vi.advanceTimersByTime(1_000)
  expect([one?.take(0).remaining, other?.take(0).remaining]).toEqual([449, 449])
})

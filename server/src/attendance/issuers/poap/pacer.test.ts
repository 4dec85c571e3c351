import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CallClass, Pacer, type Timing, TooManyWaitingError } from './pacer.ts'

/** 100 a minute. */
const SLOW = 100 / 60

test('a few calls start at once, the others one after the other at the given rate, in order', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing })

  const calls = startCalls(pacer, 8)

  expect(calls.done).toEqual([0, 1, 2, 3])
  await timing.advance(249)
  expect(calls.done).toEqual([0, 1, 2, 3])
  await timing.advance(1)
  expect(calls.done).toEqual([0, 1, 2, 3, 4])
  await timing.advance(1_000)
  expect(calls.done).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('within a minute no more calls start than the rate allows, however many wait', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing })
  let begun = 0

  for (let second = 0; second < 60; second++) {
    begun += startCalls(pacer, 6, () => begun++).done.length
    await timing.advance(1_000)
  }

  expect(begun).toBeGreaterThanOrEqual(60 * 4)
  expect(begun).toBeLessThanOrEqual(60 * 4 + 4)
})

test('a later call never starts before a waiting one', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing })
  startCalls(pacer, 4)
  const early = startCalls(pacer, 2)
  timing.jump(250)

  const late = startCalls(pacer, 1)

  expect(late.done).toEqual([])
  await timing.advance(250)
  expect([early.done, late.done]).toEqual([[0, 1], []])
})

test('a call that would wait longer than 15 seconds is refused with the time to wait', () => {
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing: new HandTiming() })

  const calls = startCalls(pacer, 4 + 60 + 1)

  expect(calls.refused).toHaveLength(1)
  expect(calls.refused[0]?.retryAfterMs).toBe(15_250)
})

test('after "too many requests" the rate is low for five minutes, then as before', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 100, slowCallsPerSecond: SLOW, timing })

  pacer.slowDown()
  const slow = startCalls(pacer, 10)
  await timing.advance(3_000)
  expect(slow.done).toHaveLength(5) // 100 a minute
  await timing.advance(300_000)

  expect(startCalls(pacer, 10).done).toHaveLength(10)
})

test('several processes share the low rate, which is never above the usual one', async () => {
  const timing = new HandTiming()
  const [slow, usual] = [1, 0.5].map((callsPerSecond) => {
    const pacer = new Pacer({ callsPerSecond, slowCallsPerSecond: 100 / 60 / 2, timing })
    pacer.slowDown()
    return startCalls(pacer, 10)
  })

  await timing.advance(6_000)

  expect([slow?.done.length, usual?.done.length]).toEqual([5, 3])
})

test('during a pause calls with a short wait are queued, and those with a long wait refused', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 100, slowCallsPerSecond: SLOW, timing })
  startCalls(pacer, 10)
  const waiting = startCalls(pacer, 20)

  pacer.slowDown(2_000)
  await timing.advance(1_999)
  expect(waiting.done).toEqual([])
  await timing.advance(601)
  expect(waiting.done).toEqual([0])
  pacer.slowDown(60_000)
  await timing.advance(0)

  expect(waiting.refused.length).toBe(19)
  expect(waiting.refused.at(-1)?.retryAfterMs).toBeGreaterThan(60_000)
  expect(startCalls(pacer, 1).refused).toHaveLength(1)
})

test('organisers get every fourth call while players wait, and strangers every eighth', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 8, slowCallsPerSecond: SLOW, timing })
  const started: CallClass[] = []
  const start = (callClass: CallClass, count: number) =>
    startCalls(pacer, count, () => started.push(callClass), callClass)
  startCalls(pacer, 4) // the first calls after a pause start at once
  start('claim', 60)
  start('unproven', 8)
  start('organiser', 12)
  const { refused } = start('paid', 4)

  await timing.advance(5_000)

  const count = (of: CallClass) => started.filter((one) => one === of).length
  expect(started).toHaveLength(40)
  // A quarter of 40 and an eighth of 40; each may save up two calls
  expect([count('organiser'), count('paid') + count('unproven'), refused]).toEqual([11, 6, []])
  expect(count('paid'), 'paid before unproven').toBe(4)
  expect(started.slice(0, 4)).toEqual(['organiser', 'organiser', 'paid', 'paid'])
})

test('behind 240 players an organiser waits for half a second at most, also before the first proof', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing })
  startCalls(pacer, 240)
  await timing.advance(3_000)
  startCalls(pacer, 60)

  const organiser = startCalls(pacer, 1, undefined, 'organiser')
  const unproven = startCalls(pacer, 1, undefined, 'unproven')
  await timing.advance(500)

  expect([organiser.done, unproven.done]).toEqual([[0], [0]])
})

test('strangers have a short queue: beyond it they are refused at once, and no other caller is', () => {
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing: new HandTiming() })

  const strangers = startCalls(pacer, 1_000, undefined, 'unproven')

  expect([strangers.done, strangers.refused.length]).toEqual([[0, 1], 1_000 - 2 - 5])
  expect(strangers.refused[0]?.retryAfterMs).toBeCloseTo(12_000)
  expect(startCalls(pacer, 2).done, 'claims').toEqual([0, 1])
  expect(startCalls(pacer, 1, undefined, 'paid').refused).toEqual([])
  expect(() => pacer.waitMs('unproven')).toThrow(TooManyWaitingError)
})

test('of one network address one unproven call waits, and two paid ones', async () => {
  const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: SLOW, timing: new HandTiming() })
  const waits = (callClass: CallClass, from: string) => {
    try {
      void pacer.take(callClass, from)
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(TooManyWaitingError)
      return false
    }
  }
  startCalls(pacer, 2, undefined, 'unproven') // those that start at once

  expect([1, 2, 3].map(() => waits('unproven', 'a'))).toEqual([true, false, false])
  expect(waits('unproven', 'b'), 'another address').toBe(true)
  expect([1, 2, 3].map(() => waits('paid', 'a'))).toEqual([true, true, false])
  expect(waits('paid', 'b')).toBe(true)
  expect([1, 2, 3].map(() => waits('claim', 'a'))).toEqual([true, true, true])
})

test('whatever comes: never more calls than the rate, no class starves, each class in its order', async () => {
  const arrival = fc.record({
    callClass: fc.constantFrom<CallClass>('claim', 'organiser', 'paid', 'unproven'),
    count: fc.integer({ min: 1, max: 20 }),
    afterMs: fc.integer({ min: 0, max: 900 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 4, 7, 50),
      fc.array(arrival, { maxLength: 25 }),
      async (callsPerSecond, arrivals) => {
        const timing = new HandTiming()
        const pacer = new Pacer({ callsPerSecond, slowCallsPerSecond: SLOW, timing })
        const starts: { atMs: number; callClass: CallClass; no: number }[] = []
        const asked = { claim: 0, organiser: 0, paid: 0, unproven: 0 }
        let refused = 0
        for (const { callClass, count, afterMs } of arrivals) {
          await timing.advance(afterMs)
          for (let call = 0; call < count; call++) {
            const no = asked[callClass]++
            const start = () => starts.push({ atMs: timing.nowMs(), callClass, no })
            try {
              const turn = pacer.take(callClass)
              if (turn) void turn.then(start)
              else start()
            } catch {
              refused += 1
            }
          }
        }
        await timing.advance(60_000) // no class waits longer than 15 seconds, whatever the others do

        expect(starts.length + refused).toBe(arrivals.reduce((sum, { count }) => sum + count, 0))
        for (const callClass of ['claim', 'organiser', 'paid', 'unproven'] as const) {
          const order = starts.filter((start) => start.callClass === callClass).map(({ no }) => no)
          expect(order).toEqual(order.toSorted((a, b) => a - b))
        }
        const isStranger = ({ callClass }: { callClass: CallClass }) =>
          callClass === 'paid' || callClass === 'unproven'
        expectRate(starts, callsPerSecond, Math.max(4, callsPerSecond / 10))
        expectRate(starts.filter(isStranger), callsPerSecond / 8, Math.max(2, callsPerSecond / 80))
      },
    ),
    { numRuns: 40 },
  )
})

/** In any span of time there are at most the calls of the rate, and those that were saved up. */
function expectRate(starts: readonly { atMs: number }[], perSecond: number, burst: number): void {
  for (const [from, first] of starts.entries()) {
    for (const [to, last] of starts.entries()) {
      if (to < from) continue
      const most = burst + ((last.atMs - first.atMs) * perSecond) / 1_000
      expect(to - from + 1).toBeLessThanOrEqual(most + 1e-6)
    }
  }
}

interface Calls {
  /** Numbers of the calls that have started, in order. */
  readonly done: number[]
  readonly refused: TooManyWaitingError[]
}

function startCalls(
  pacer: Pacer,
  count: number,
  onTurn: () => void = () => {},
  callClass: CallClass = 'claim',
): Calls {
  const calls: Calls = { done: [], refused: [] }
  for (let call = 0; call < count; call++) {
    try {
      const turn = pacer.take(callClass)
      if (!turn) calls.done.push(call)
      else
        turn.then(
          () => {
            calls.done.push(call)
            onTurn()
          },
          (error) => calls.refused.push(error),
        )
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error
      calls.refused.push(error)
    }
  }
  return calls
}

/** Time that passes only when the test moves it. */
class HandTiming implements Timing {
  private now = 0
  private timers: { atMs: number; then: () => void }[] = []

  nowMs(): number {
    return this.now
  }

  after(delayMs: number, then: () => void): void {
    this.timers.push({ atMs: this.now + delayMs, then })
  }

  /** Moves the time without firing timers, as in a busy process. */
  jump(byMs: number): void {
    this.now += byMs
  }

  async advance(byMs: number): Promise<void> {
    const endMs = this.now + byMs
    for (;;) {
      this.timers.sort((a, b) => a.atMs - b.atMs)
      const next = this.timers[0]
      if (!next || next.atMs > endMs) break
      this.timers.shift()
      this.now = Math.max(this.now, next.atMs)
      next.then()
      await Promise.resolve() // calls that may start do so at this time
      await Promise.resolve()
    }
    this.now = endMs
    await new Promise(setImmediate)
  }
}

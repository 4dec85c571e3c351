import { expect, test } from 'vitest'
import { Pacer, type Timing, TooManyWaitingError } from './pacer.ts'

test('a few calls start at once, the others one after the other at the given rate, in order', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 4, timing })

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
  const pacer = new Pacer({ callsPerSecond: 4, timing })
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
  const pacer = new Pacer({ callsPerSecond: 4, timing })
  startCalls(pacer, 4)
  const early = startCalls(pacer, 2)
  timing.jump(250)

  const late = startCalls(pacer, 1)

  expect(late.done).toEqual([])
  await timing.advance(250)
  expect([early.done, late.done]).toEqual([[0, 1], []])
})

test('a call that would wait longer than 15 seconds is refused with the time to wait', () => {
  const pacer = new Pacer({ callsPerSecond: 4, timing: new HandTiming() })

  const calls = startCalls(pacer, 4 + 60 + 1)

  expect(calls.refused).toHaveLength(1)
  expect(calls.refused[0]?.retryAfterMs).toBe(15_250)
})

test('after "too many requests" the rate is low for five minutes, then as before', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 100, timing })

  pacer.slowDown()
  const slow = startCalls(pacer, 10)
  await timing.advance(3_000)
  expect(slow.done).toHaveLength(5) // 100 a minute
  await timing.advance(300_000)

  expect(startCalls(pacer, 10).done).toHaveLength(10)
})

test('during a pause calls with a short wait are queued, and those with a long wait refused', async () => {
  const timing = new HandTiming()
  const pacer = new Pacer({ callsPerSecond: 100, timing })
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

interface Calls {
  /** Numbers of the calls that have started, in order. */
  readonly done: number[]
  readonly refused: TooManyWaitingError[]
}

function startCalls(pacer: Pacer, count: number, onTurn: () => void = () => {}): Calls {
  const calls: Calls = { done: [], refused: [] }
  for (let call = 0; call < count; call++) {
    try {
      const turn = pacer.take()
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
    }
    this.now = endMs
    await new Promise(setImmediate)
  }
}

import { expect, test } from 'vitest'
import type { State } from '../../state/state.ts'
import { momentsOf } from './land-moment.ts'

/** A state in which something ends at each of these times. */
const stateEnding = (...endsMs: number[]) =>
  ({
    nextExpiry: (nowMs: number) => Math.min(...endsMs.filter((endMs) => endMs > nowMs)),
  }) as unknown as State

test('a moment lasts until something ends, another state is shown, or the clock is set back', () => {
  let state = stateEnding(100, 200)
  let now = 50
  const moment = momentsOf(() => state, { nowMs: () => now })
  const first = moment()
  expect(first).toEqual({ state, nowMs: 50 })
  now = 99
  expect(moment()).toBe(first)
  now = 100
  const second = moment()
  expect(second).toEqual({ state, nowMs: 100 })
  now = 99
  expect(moment()).toEqual({ state, nowMs: 99 })
  now = 1_000
  const last = moment()
  now = Number.MAX_SAFE_INTEGER
  expect(moment()).toBe(last)
  state = stateEnding()
  expect(moment()).not.toBe(last)
  expect(moment().state).toBe(state)
})

test('without a world there is no moment', () => {
  const moment = momentsOf(
    () => {
      throw new Error('not loaded')
    },
    { nowMs: () => 0 },
  )
  expect(moment).toThrow('not loaded')
})

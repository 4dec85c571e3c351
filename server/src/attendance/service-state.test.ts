import { expect, test } from 'vitest'
import { testClock } from '../../test/support/http/land-server.ts'
import { ServiceState } from './service-state.ts'

test('the state of a service has the time of the first call after which it was so', () => {
  const clock = testClock()
  const state = new ServiceState(clock)
  const startMs = clock.nowMs()
  expect(state.current).toBeUndefined()

  state.note(true)
  clock.set(startMs + 1_000)
  state.note(true)
  expect(state.current).toEqual({ isAnswering: true, sinceMs: startMs })

  state.note(false)
  clock.set(startMs + 2_000)
  state.note(false)
  expect(state.current).toEqual({ isAnswering: false, sinceMs: startMs + 1_000 })
})

import { expect, test } from 'vitest'
import { testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS } from '../../clock.ts'
import {
  CircuitBreaker,
  MAX_FAILURES,
  MAX_RUNNING,
  MAX_WAITING,
  NoAnswerError,
  PAUSE_MS,
} from './circuit-breaker.ts'

const yes = async () => 'yes'
const fail = () => Promise.reject(new Error('dead'))

/** Calls that the test ends one by one. */
function openEnded() {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  const call = async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running -= 1
    return 'done'
  }
  return { call, most: () => most, endOne: () => ends.shift()?.() }
}

async function failTimes(breaker: CircuitBreaker, times: number) {
  for (let i = 0; i < times; i++) await breaker.run(fail).catch(() => undefined)
}

test('limits running and waiting calls, and refuses the rest', async () => {
  const breaker = new CircuitBreaker(testClock())
  const { call, most, endOne } = openEnded()
  const accepted = Array.from({ length: MAX_RUNNING + MAX_WAITING }, () => breaker.run(call))

  await expect(breaker.run(call)).rejects.toThrow(NoAnswerError)

  for (let ended = 0; ended < accepted.length; ended++) {
    endOne()
    await accepted[ended]
    await new Promise(setImmediate)
  }
  expect(await Promise.all(accepted)).toEqual(accepted.map(() => 'done'))
  expect(most()).toBe(MAX_RUNNING)
  expect(await breaker.run(yes)).toBe('yes')
})

test('failures in a row open the circuit for a while, then one call is tried', async () => {
  const clock = testClock()
  const breaker = new CircuitBreaker(clock)
  await failTimes(breaker, MAX_FAILURES - 1)
  await breaker.run(yes)
  await failTimes(breaker, MAX_FAILURES - 1)
  expect(await breaker.run(yes), 'not in a row').toBe('yes')

  await failTimes(breaker, MAX_FAILURES)

  await expect(breaker.run(yes)).rejects.toThrow(NoAnswerError)
  clock.set(clock.nowMs() + PAUSE_MS)
  const { call, most, endOne } = openEnded()
  const trial = breaker.run(call)
  await expect(breaker.run(call), 'while the trial call runs').rejects.toThrow(NoAnswerError)
  endOne()
  expect(await trial).toBe('done')
  expect(most()).toBe(1)
  expect(await breaker.run(yes)).toBe('yes')
})

test('a failed trial call opens the circuit again', async () => {
  const clock = testClock()
  const breaker = new CircuitBreaker(clock)
  await failTimes(breaker, MAX_FAILURES)
  clock.set(clock.nowMs() + PAUSE_MS)

  await expect(breaker.run(fail)).rejects.toThrow('dead')

  await expect(breaker.run(yes)).rejects.toThrow(NoAnswerError)
  clock.set(clock.nowMs() + PAUSE_MS)
  expect(await breaker.run(yes)).toBe('yes')
})

test('waiting calls are refused when the circuit opens', async () => {
  const breaker = new CircuitBreaker(testClock())
  let calls = 0
  const failing = async () => {
    calls += 1
    throw new Error('dead')
  }

  const passing = Array.from({ length: MAX_RUNNING * 3 }, () => breaker.run(failing))

  expect((await Promise.allSettled(passing)).every(({ status }) => status === 'rejected')).toBe(true)
  expect(calls).toBe(MAX_RUNNING)
})

test('a provider that answers Retry-After is not called until then', async () => {
  const clock = testClock()
  const breaker = new CircuitBreaker(clock)

  await breaker.run(() => Promise.reject(new NoAnswerError(20_000))).catch(() => undefined)

  clock.set(clock.nowMs() + 19_999)
  await expect(breaker.run(yes)).rejects.toThrow(NoAnswerError)
  clock.set(clock.nowMs() + 1)
  expect(await breaker.run(yes)).toBe('yes')
})

test('a clock that is set back does not lengthen the pause', async () => {
  let [nowMs, steadyMs] = [10 * HOUR_MS, 0]
  const breaker = new CircuitBreaker({ nowMs: () => nowMs, steadyMs: () => steadyMs })
  await failTimes(breaker, MAX_FAILURES)

  nowMs -= HOUR_MS
  steadyMs += PAUSE_MS

  expect(await breaker.run(yes)).toBe('yes')
})

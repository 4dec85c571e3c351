import { LandpassError } from '@landpass/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RepeatedLoad } from './repeated-load.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A server whose answers are taken from a list; an error is a failed request. */
function loadOf(answers: (string | Error)[]) {
  const loaded: string[] = []
  let asked = 0
  const load = new RepeatedLoad<string>(
    async () => {
      const answer = answers[asked++]!
      if (typeof answer !== 'string') throw answer
      return answer
    },
    (text) => loaded.push(text),
  )
  return { load, loaded, asked: () => asked }
}

const offline = new LandpassError('', { code: 'offline' })
const busy = new LandpassError('', { code: 'too_many_requests', status: 429, retryAfterS: 20 })

test('a failed load is repeated after growing pauses, and after the pause that the server asks for', async () => {
  const { load, loaded, asked } = loadOf([offline, busy, 'texts'])

  await load.start()
  expect([load.fault.value, asked()]).toEqual([offline, 1])
  await vi.advanceTimersByTimeAsync(1_999)
  expect(asked()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect([load.fault.value, asked()]).toEqual([busy, 2])
  await vi.advanceTimersByTimeAsync(19_999)
  expect(asked()).toBe(2)
  await vi.advanceTimersByTimeAsync(1)

  expect([load.fault.value, asked(), loaded]).toEqual([undefined, 3, ['texts']])
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(asked()).toBe(3)
})

test('the reader can have it tried at once, and a stopped load tries nothing more', async () => {
  const { load, loaded, asked } = loadOf([busy, offline, offline, 'texts'])

  await load.start()
  await load.start()
  expect([load.fault.value, asked()]).toEqual([offline, 2])
  load.stop()
  await load.start()
  await vi.advanceTimersByTimeAsync(1_000_000)

  expect([asked(), loaded]).toEqual([2, []])
})

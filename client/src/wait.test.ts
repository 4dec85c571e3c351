import { expect, onTestFinished, test, vi } from 'vitest'
import { timerMs, waitFor } from './wait.ts'

test.each([2 ** 31, 1e12, Number.POSITIVE_INFINITY])('a wait of %d ms does not end at once', async (ms) => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const end = new AbortController()
  let isOver = false
  const waiting = waitFor(ms, end.signal).then(() => {
    isOver = true
  })

  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(isOver).toBe(false)

  end.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(vi.getTimerCount()).toBe(0)
})

test('a timer takes at most about 25 days', () => {
  expect(timerMs(Number.POSITIVE_INFINITY)).toBe(2_147_483_647)
  expect(timerMs(1_500)).toBe(1_500)
})

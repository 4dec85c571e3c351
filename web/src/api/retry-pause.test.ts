import { LandpassError } from '@landpass/client'
import { expect, test } from 'vitest'
import { retryPauseMs } from './retry-pause.ts'

const offline = new LandpassError('', { code: 'offline' })
const busy = new LandpassError('', { code: 'too_many_requests', status: 429, retryAfterS: 30 })

test('the pause doubles with each failure, up to a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => retryPauseMs(offline, failures, 0))).toEqual([
    2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
  ])
  expect(retryPauseMs(new Error('anything else'), 1, 0)).toBe(2_000)
})

test('it is as long as the server asks for, and a random part longer, never shorter', () => {
  expect([1, 6].map((failures) => retryPauseMs(busy, failures, 0))).toEqual([30_000, 60_000])
  expect(retryPauseMs(busy, 1, 1)).toBe(37_500)
  expect(retryPauseMs(busy, 1)).toBeGreaterThanOrEqual(30_000)
})

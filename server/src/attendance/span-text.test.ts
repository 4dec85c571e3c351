import { expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../clock.ts'
import { spanText } from './span-text.ts'

test.each([
  [0, '1 minute', '1 minute'],
  [MINUTE_MS, '1 minute', '1 minute'],
  [MINUTE_MS + 1, '2 minutes', '1 minute'],
  [90 * MINUTE_MS, '90 minutes', '90 minutes'],
  [2 * HOUR_MS - 1, '120 minutes', '119 minutes'],
  [2 * HOUR_MS, '2 hours', '2 hours'],
  [2 * HOUR_MS + 1, '3 hours', '2 hours'],
  [48 * HOUR_MS, '2 days', '2 days'],
  [30 * 24 * HOUR_MS + 1, '31 days', '30 days'],
])('%i ms are %s to come, %s that have passed', (ms, toCome, passed) => {
  expect([spanText(ms, Math.ceil), spanText(ms, Math.floor)]).toEqual([toCome, passed])
})

import { expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../clock.ts'
import { spanText } from './span-text.ts'

test.each([
  [0, '1 minute'],
  [MINUTE_MS, '1 minute'],
  [MINUTE_MS + 1, '2 minutes'],
  [90 * MINUTE_MS, '90 minutes'],
  [2 * HOUR_MS, '2 hours'],
  [2 * HOUR_MS + 1, '3 hours'],
  [48 * HOUR_MS, '2 days'],
  [30 * 24 * HOUR_MS, '30 days'],
])('%i ms are %s', (ms, words) => {
  expect(spanText(ms)).toBe(words)
})

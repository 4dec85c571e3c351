import { expect, test } from 'vitest'
import { cacheControlOf } from './freshness.ts'

test('answers may be used for whole seconds without asking, or not at all', () => {
  const times = (maxAgeMs: number, staleMs: number) => cacheControlOf({ maxAgeMs, staleMs })

  expect(times(120_000, 180_000)).toBe('public, max-age=120, stale-while-revalidate=180')
  expect(times(1_999, 0)).toBe('public, max-age=1')
  expect([times(0, 180_000), times(999, 1)]).toEqual(['public, no-cache', 'public, no-cache'])
})

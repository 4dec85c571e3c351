import { expect, test } from 'vitest'
import { newHttpDate } from './http-date.ts'

test('a time is written in whole seconds, whatever was written before', () => {
  const httpDate = newHttpDate()

  for (const [timeMs, text] of [
    [1771070400999, 'Sat, 14 Feb 2026 12:00:00 GMT'],
    [1771070400000, 'Sat, 14 Feb 2026 12:00:00 GMT'],
    [1771070401000, 'Sat, 14 Feb 2026 12:00:01 GMT'],
    [1771070399999, 'Sat, 14 Feb 2026 11:59:59 GMT'],
    [0, 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ] as const)
    expect(httpDate(timeMs)).toBe(text)
})

import { beforeEach, expect, test, vi } from 'vitest'
import { formatDate, formatDateTime } from './format.ts'

beforeEach(() => {
  vi.stubGlobal('navigator', { languages: ['en'] })
})

test('a time that no calendar holds is shown as the last one', () => {
  for (const format of [formatDate, formatDateTime]) {
    const last = format(8.64e15)
    expect(last).toContain('275760')
    expect([format(Number.MAX_SAFE_INTEGER), format('9007199254740991')]).toEqual([last, last])
    expect(format(Date.UTC(2026, 0, 15, 12))).toContain('2026')
  }
})

import { beforeEach, expect, test, vi } from 'vitest'
import {
  formatDate,
  formatDateTime,
  formatDateTimeThere,
  formatOffer,
  formatShortPrice,
  formatWait,
} from './format.ts'

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

test('a time in a zone that the browser does not know is shown on the clock of the reader', () => {
  const atMs = Date.UTC(2026, 0, 15, 12)
  expect(formatDateTimeThere(atMs, 'Mars/Olympus')).toBe(formatDateTime(atMs))
})

test('a wait is rounded up, and shown in hours above two of them', () => {
  expect([120, 7_200, 7_201, 86_399].map(formatWait)).toEqual([
    '2 minutes',
    '120 minutes',
    '3 hours',
    '24 hours',
  ])
})

test('an offer for dollars is not shown as one of 0 MANA', () => {
  expect(formatOffer({ price: '0', price_usd: '99.5' })).toBe('$99.50')
  expect(formatOffer({ price: '1200', price_usd: null })).toBe('1,200 MANA')
  expect([99.5, 1200, 0.004].map((price) => formatShortPrice(price, 'usd'))).toEqual([
    '$99.5',
    '$1.2K',
    '$4E-3',
  ])
  expect([99.5, 1200, 0.004].map((price) => formatShortPrice(price))).toEqual(['99.5', '1.2K', '4E-3'])
})

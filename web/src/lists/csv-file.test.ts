import { expect, test } from 'vitest'
import { csvFileName } from './csv-file.ts'

const DAY = Date.UTC(2026, 10, 21)
const ORDER = { page: 1, sortBy: 'price', sortOrder: 'asc' } as const

test('a file is called after its list, whose it is, and the day', () => {
  const address = `0x${'a'.repeat(40)}`

  expect(csvFileName({ name: 'on_sale', ...ORDER }, DAY)).toBe('landpass-on-sale-2026-11-21.csv')
  expect(csvFileName({ name: 'bids', address, ...ORDER }, DAY)).toBe(
    `landpass-bids-${address}-2026-11-21.csv`,
  )
})

import { expect, test } from 'vitest'
import { csvFileName } from './csv-file.ts'

test('a file is called after its list, whose it is, and the day', () => {
  const address = `0x${'a'.repeat(40)}`

  expect(csvFileName({ name: 'bids', address }, Date.UTC(2026, 10, 21))).toBe(
    `landpass-bids-${address}-2026-11-21.csv`,
  )
})

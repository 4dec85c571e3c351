import { expect, test } from 'vitest'
import { paidPrices } from './paid-prices.ts'

test('prices of runs are laid on their cells, and what was never sold has none', () => {
  const paid = paidPrices({ runs: [1, 2, 4, 1], prices: [900, 0.5] }, 6)

  expect([...paid]).toEqual([Number.NaN, 900, 900, Number.NaN, 0.5, Number.NaN])
})

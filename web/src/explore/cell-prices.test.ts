import { expect, test } from 'vitest'
import { drawGrid } from '../state/drawn-grid.ts'
import { cellPrices } from './cell-prices.ts'

const GRID = drawGrid(['aEE', 'abb'], {
  a: { type: 2 },
  b: { type: 2 },
  E: { type: 2, estate: '7', isOnSale: true },
})

test('a parcel has the price of its offer, an estate once, and land that costs dollars alone has them', () => {
  const offers = {
    parcels: { x: [0], y: [0], price: [900] },
    estates: { id: ['7'], price: [5_000] },
  }
  const inDollars = [
    { x: 2, y: 0, offer: { price_usd: '99.5' } },
    // Both have an offer in MANA by now
    { x: 0, y: 0, offer: { price_usd: '80' } },
    { x: 1, y: 1, offer: { price_usd: '70' } },
    { x: 1, y: 0, offer: null },
  ]

  expect(cellPrices(offers, inDollars, GRID)).toEqual(
    new Map([
      [GRID.cellAt(2, 0), { amount: 99.5, currency: 'usd' }],
      [GRID.cellAt(0, 0), { amount: 900, currency: 'mana' }],
      [GRID.cellAt(1, 1), { amount: 5_000, currency: 'mana' }],
    ]),
  )
})

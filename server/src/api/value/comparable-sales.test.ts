import { expect, test } from 'vitest'
import type { LandAssets } from '../../state/parts/land-assets.ts'
import { NO_SALES, patchSales, type SaleFacts } from '../../state/parts/sales.ts'
import type { SaleColumns } from '../sales/sale-matches.ts'
import { aboveRange, comparableSales, priceRange } from './comparable-sales.ts'

const NOW_MS = Date.parse('2026-03-01T00:00:00.000Z')
const DAY_MS = 86_400_000

/** Parcels in a row: asset n is n parcels away from asset 0, all beside a road but the last. */
const ASSETS = {
  x: Int32Array.from({ length: 40 }, (_, i) => i),
  y: new Int32Array(40),
  plaza: new Int32Array(40).fill(-1),
  road: Int32Array.from({ length: 40 }, (_, i) => (i === 39 ? 9 : 0)),
} as LandAssets

function soldAt(sales: readonly { asset: number; daysAgo: number; price: string }[]): SaleColumns {
  const facts = sales.map(({ asset, daysAgo, price }, key): SaleFacts => {
    const parties = { buyer: '0xb', seller: '0xa', source: 'order' } as const
    const id = { assetType: 'parcel', assetId: `${asset},0`, size: 1 } as const
    return {
      timeMs: NOW_MS - daysAgo * DAY_MS,
      table: 'publication',
      key,
      logIndex: -1,
      price,
      ...id,
      ...parties,
    }
  })
  const columns = patchSales(NO_SALES, facts)
  return {
    sales: columns,
    asset: columns.x,
    size: Int32Array.from(columns.size),
    perParcel: columns.roundedPrice,
    wholePrice: columns.roundedPrice.map((price) => (Number.isInteger(price) ? price : -1)),
  }
}

test('a sale weighs half as much for each half year, for each 15 parcels, and for another distance from a road', () => {
  const columns = soldAt([
    { asset: 0, daysAgo: 180, price: '1' },
    { asset: 15, daysAgo: 1, price: '2' },
    { asset: 39, daysAgo: 180, price: '3' },
    { asset: 1, daysAgo: 0, price: '4' }, // not before now
    { asset: 1, daysAgo: 2_000, price: '5' }, // too old to weigh anything
  ])

  const found = comparableSales(ASSETS, columns, { asset: 0, size: 1 }, NOW_MS)

  expect(found.map(({ sale, weight, why }) => [columns.sales.price[sale], weight.toFixed(3), why])).toEqual([
    ['1', '0.500', 'its own sale, 180 days ago, size 1'],
    ['2', '0.498', '15.0 parcels away, 1 day ago, size 1'],
    [
      '3',
      (0.25 * 2 ** -2.6).toFixed(3),
      '39.0 parcels away, 180 days ago, size 1, at another distance from a road',
    ],
  ])
})

test('the range is of prices below which shares of the weight lie, and of at least five sales', () => {
  const prices = ['10', '20', '30', '40', '50']
  const columns = soldAt(prices.map((price) => ({ asset: 0, daysAgo: 1, price })))
  const found = comparableSales(ASSETS, columns, { asset: 0, size: 1 }, NOW_MS)

  const mana = 10n ** 18n
  expect(priceRange(columns, found)).toEqual({ low: 10n * mana, middle: 30n * mana, high: 50n * mana })
  expect(priceRange(columns, found.slice(1))).toBeUndefined()
})

test('a price is compared with the nearer end of the range', () => {
  const range = { low: 100n, high: 200n }

  expect([224n, 200n, 150n, 75n, 200n].map((price) => aboveRange(price, range))).toEqual([
    0.12, 0, 0, -0.25, 0,
  ])
  const free = { low: 0n, high: 0n }
  expect([aboveRange(0n, free), aboveRange(5n, free)]).toEqual([0, null])
})

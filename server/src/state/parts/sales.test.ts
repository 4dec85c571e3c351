import fc from 'fast-check'
import { expect, test } from 'vitest'
import { salesOf } from '../../../test/support/land/state-answers.ts'
import { SALE_SOURCES, SALE_TABLES } from './parts.ts'
import { NO_SALES, parcelKey, patchSales, placeOfKey, type SaleFacts } from './sales.ts'

const sale: fc.Arbitrary<SaleFacts> = fc
  .record({
    timeMs: fc.nat({ max: 5 }),
    table: fc.constantFrom(...SALE_TABLES),
    key: fc.nat({ max: 20 }),
    logIndex: fc.integer({ min: -1, max: 2 }),
    source: fc.constantFrom(...SALE_SOURCES),
    price: fc.constantFrom('7', '0.5', '12345678901234567890.123456789012345678'),
    size: fc.nat({ max: 3 }),
    asset: fc.constantFrom(
      { assetType: 'parcel' as const, assetId: '3,-4' },
      { assetType: 'estate' as const, assetId: '12' },
      { assetType: 'estate' as const, assetId: '5' },
    ),
    buyer: fc.constantFrom('0xa', '0xb'),
    seller: fc.constantFrom('0xb', '0xc'),
  })
  .map(({ asset, ...facts }) => ({ ...facts, ...asset }))

test('sales that come, change and go are those that a list of them has, oldest first', () => {
  const change = fc.record({
    added: fc.uniqueArray(sale, { maxLength: 5, selector: ({ table, key }) => `${table} ${key}` }),
    gone: fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      let sales = NO_SALES
      const expected = new Map<string, SaleFacts>()
      for (const { added, gone } of changes) {
        const keysOf = (table: SaleFacts['table']) => [
          ...gone,
          ...added.filter((one) => one.table === table).map(({ key }) => key),
        ]

        const [publication, bid, parcel] = SALE_TABLES.map(keysOf) as [number[], number[], number[]]
        sales = patchSales(sales, added, { publication, bid, parcel })

        for (const key of gone) for (const table of SALE_TABLES) expected.delete(`${table} ${key}`)
        for (const one of added) expected.set(`${one.table} ${one.key}`, one)
        const inOrder = [...expected.values()].sort(
          (a, b) =>
            a.timeMs - b.timeMs ||
            a.logIndex - b.logIndex ||
            SALE_TABLES.indexOf(a.table) - SALE_TABLES.indexOf(b.table) ||
            a.key - b.key,
        )
        expect(salesOf(sales)).toEqual(inOrder)
      }
    }),
    { numRuns: 100 },
  )
})

test('the number of a place is in the order of parcels, and gives the place again', () => {
  const places = [-999_999, -3, 0, 7, 999_999].flatMap((x) =>
    [999_999, 2, 0, -4, -999_999].map((y) => ({ x, y })),
  )
  const keys = places.map(parcelKey)

  expect(keys).toEqual(keys.toSorted((a, b) => a - b))
  expect(keys.map(placeOfKey)).toEqual(places)
})

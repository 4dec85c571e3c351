import { expect, test } from 'vitest'
import { readFilter } from './land-filter.ts'
import { otherGroups, saleQuery } from './sale-filter.ts'

test('sales have the filters of kind, size, place and district, and not those of offers, owners and names', () => {
  const of = { asset_type: 'estate', min_size: '2', max_size: '9', max_plaza: '0', nw: '0,9', se: '9,0' }
  const district = '11111111-2222-4333-8444-555555555555'
  const others = {
    status: 'open',
    max_price: '5',
    min_price_per_parcel: '1',
    owner: `0x${'a'.repeat(40)}`,
    q: 'x',
  }
  const values: Readonly<Record<string, string>> = { ...of, in_district: district, ...others }

  const filter = readFilter((name) => values[name])

  expect(saleQuery(filter)).toEqual({ ...of, district, min_size: 2, max_size: 9, max_plaza: 0 })
  expect(otherGroups(filter)).toEqual(['status', 'price', 'price_per_parcel', 'owner', 'q'])
  expect(saleQuery({})).toEqual({})
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  FILTER_NAMES,
  groupsOf,
  isOnePlace,
  onePlace,
  readFilter,
  serverQuery,
  withoutGroup,
} from './land-filter.ts'

const DISTRICT = '11111111-2222-4333-8444-555555555555'
const read = (given: Readonly<Record<string, string>>) => readFilter((name) => given[name])

test.each([
  [{ status: 'open', max_price: '0.000000000000000001' }],
  [{ asset_type: 'estate', min_size: '3', max_road: '0' }],
  [{ nw: '-5,9', se: '5,-9', in_district: DISTRICT }],
])('%j is read as it is', (given) => {
  expect(read(given)).toEqual(given)
})

test.each([
  [{ status: 'sold out', asset_type: 'plot', toString: 'x' }],
  [{ min_price: '-1', max_price: '1e3', max_price_per_parcel: '1,5' }],
  [{ max_road: '1.5', max_plaza: '1234567', min_size: '' }],
  [{ owner: '0x12', in_district: '../secret', q: '  ' }],
  [{ nw: '1,2' }],
  [{ nw: '1', se: '2,2' }],
])('%j has nothing that is valid', (given) => {
  expect(read(given)).toEqual({})
})

test('limits in the wrong order change places, compared by all digits; corners become north-west and south-east', () => {
  const [less, more] = ['123456789012345.000000000000000001', '123456789012345.000000000000000002']

  expect(read({ min_price: more, max_price: less })).toEqual({ min_price: less, max_price: more })
  expect(read({ min_size: '10', max_size: '9' })).toEqual({ min_size: '9', max_size: '10' })
  expect(read({ nw: '5,-9', se: '-5,9' })).toEqual({ nw: '-5,9', se: '5,-9' })
})

test('both limits of a range are one group, and so are the corners', () => {
  const filter = read({ min_price: '1', max_price: '2', nw: '0,1', se: '1,0', max_road: '3' })

  expect(groupsOf(filter)).toEqual(['price', 'road', 'area'])
  expect(withoutGroup(filter, 'price')).toEqual({ nw: '0,1', se: '1,0', max_road: '3' })
  expect(groupsOf(withoutGroup(filter, 'area'))).toEqual(['price', 'road'])
})

test('one place is an area of one parcel, of any kind of land, without other filters', () => {
  const place = onePlace({ x: -3, y: 4 })

  expect(read(place)).toEqual({ nw: '-3,4', se: '-3,4' })
  expect(isOnePlace({ ...place, asset_type: 'estate' })).toBe(true)
  expect(isOnePlace({ ...place, status: 'open' })).toBe(false)
  expect(isOnePlace({ ...place, se: '-2,4' })).toBe(false)
  expect(isOnePlace({})).toBe(false)
})

test('the server is asked with its own names, and with places', () => {
  expect(serverQuery(read({ in_district: DISTRICT, nw: '0,1', se: '1,0', status: 'open' }))).toEqual({
    district: DISTRICT,
    nw: { x: 0, y: 1 },
    se: { x: 1, y: 0 },
    status: 'open',
  })
})

test('whatever is read: the same filters are read from it again, and without its groups nothing is left', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.nat().map(String),
    fc.tuple(fc.integer(), fc.integer()).map(String),
  )
  const given = fc.dictionary(fc.constantFrom<string>(...FILTER_NAMES), texts)
  fc.assert(
    fc.property(given, (some) => {
      const filter = read(some)

      expect(readFilter((name) => filter[name])).toEqual(filter)
      expect(groupsOf(filter).reduce((rest, group) => withoutGroup(rest, group), filter)).toEqual({})
    }),
  )
})

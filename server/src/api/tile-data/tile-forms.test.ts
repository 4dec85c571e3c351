import { describe, expect, test } from 'vitest'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import { JOINS_LEFT, JOINS_TOP, JOINS_TOP_LEFT } from '../../state/parts/tile-cells.ts'
import {
  ADDRESS_TYPES,
  ALL_FIELDS,
  legacyTileForm,
  type TileField,
  tileForm,
  writeAddressTile,
} from './tile-forms.ts'
import type { Tile } from './tile-source.ts'

const REGISTRIES = { land: '0x1a', estate: '0xe5' }

const FULL: Tile = {
  x: -48,
  y: -29,
  kind: 'owned',
  joins: JOINS_TOP | JOINS_TOP_LEFT,
  updatedAtS: 1_548_000_000,
  name: 'a "b"\n',
  districtId: 'fedabce2-3ba5-46fd-a4d2-d42ebc9545b1',
  districtName: undefined,
  estateId: '1140',
  owner: `0x${'a'.repeat(40)}`,
  price: '16787.030000000000000003',
  expiresAtS: 1_900_000_000,
  rental: undefined,
  registries: REGISTRIES,
}
const BARE: Tile = {
  x: 0,
  y: 1,
  kind: 'road',
  joins: 0,
  updatedAtS: 7,
  name: undefined,
  districtId: undefined,
  districtName: undefined,
  estateId: undefined,
  owner: undefined,
  price: undefined,
  expiresAtS: undefined,
  rental: undefined,
  registries: REGISTRIES,
}
const fields = (...names: TileField[]) => new Set(names)

describe('a tile', () => {
  test('has its fields in the documented order, every digit of its price and token id', () => {
    expect(tileForm(ALL_FIELDS).write(FULL)).toBe(
      '"-48,-29":{"id":"-48,-29","x":-48,"y":-29,"updatedAt":1548000000000,"type":"owned","top":true,"left":false,' +
        `"topLeft":true,"name":"a \\"b\\"\\n","estateId":"1140","district_id":"${FULL.districtId}","owner":"${FULL.owner}",` +
        '"price":16787.030000000000000003,"expiresAt":1900000000,' +
        `"tokenId":"${((2n ** 128n - 48n) << 128n) + 2n ** 128n - 29n}","nftId":"estate-0xe5-1140"},`,
    )
  })

  test('leaves out unknown fields', () => {
    expect(tileForm(ALL_FIELDS).write(BARE)).toBe(
      '"0,1":{"id":"0,1","x":0,"y":1,"updatedAt":7000,"type":"road","top":false,"left":false,"topLeft":false,"tokenId":"1","nftId":"parcel-0x1a-1"},',
    )
  })

  test('has an offer to rent it after all fields, with prices in wei', () => {
    const periods = [
      { minDays: 1, maxDays: 7, pricePerDay: '20000000000000000000' },
      { minDays: 8, maxDays: 30, pricePerDay: '15000000000000000000' },
    ]
    const rental: UnlistedOffer = {
      ...{ kind: 'rental', assetType: 'parcel', assetId: '0,1', price: '15', periods },
      ...{ madeAtMs: 1_700_000_000_000, expiresAtMs: 1_900_000_000_000, hash: '0x1' },
    }
    const tile = { ...BARE, rental }
    const listing = { expiration: 1_900_000_000_000, updatedAt: 1_700_000_000_000, periods }
    expect(tileForm(ALL_FIELDS).write(tile)).toContain(
      `"nftId":"parcel-0x1a-1","rentalListing":${JSON.stringify(listing)}},`,
    )
    expect(tileForm(fields('nftId')).write(tile)).not.toContain('rentalListing')
    expect(legacyTileForm(ALL_FIELDS).write(tile)).toContain('"rentalPricePerDay":"20000000000000000000"}')
  })

  test('has only the requested fields, in the same order', () => {
    expect(tileForm(fields('price', 'left', 'x')).write({ ...FULL, joins: JOINS_LEFT })).toBe(
      '"-48,-29":{"x":-48,"left":true,"price":16787.030000000000000003},',
    )
    expect(tileForm(fields('price', 'name')).write(BARE)).toBe('"0,1":{},')
    expect(tileForm(fields()).write(FULL)).toBe('"-48,-29":{},')
  })

  test('shows offers only if it has a price or an expiry', () => {
    const shows = (...names: TileField[]) => tileForm(fields(...names)).showsOffers

    expect([shows('price'), shows('expiresAt'), shows('type', 'name', 'updatedAt')]).toEqual([
      true,
      true,
      false,
    ])
  })
})

describe('a tile in the older form', () => {
  const legacy = legacyTileForm(ALL_FIELDS)

  test('has numbers for types, and 1 for a join', () => {
    expect(legacy.write(FULL)).toBe(
      `"-48,-29":{"type":10,"x":-48,"y":-29,"top":1,"topLeft":1,"owner":"${FULL.owner}","name":"a \\"b\\"\\n",` +
        `"estate_id":"1140","district_id":"${FULL.districtId}","price":16787.030000000000000003},`,
    )
    expect(legacy.write(BARE)).toBe('"0,1":{"type":7,"x":0,"y":1},')
  })

  test.each([
    ['district', 5],
    ['road', 7],
    ['plaza', 8],
    ['owned', 9],
    ['unowned', 11],
  ] as const)('has for %s the number %i, and 10 where it is for sale', (kind, number) => {
    expect(legacy.write({ ...BARE, kind })).toContain(`"type":${number},`)
    expect(legacy.write({ ...BARE, kind, price: '0' })).toContain('"type":10,')
  })

  test('in a district has the name of the district, on a road or plaza its own name', () => {
    const inDistrict = { ...FULL, districtName: 'Museum', name: 'an estate', price: undefined }

    expect(legacy.write({ ...inDistrict, kind: 'district' })).toContain('"name":"Museum"')
    for (const kind of ['road', 'plaza'] as const)
      expect(legacy.write({ ...inDistrict, kind })).toContain('"name":"an estate"')
    expect(legacyTileForm(fields('type')).write({ ...inDistrict, kind: 'district' })).toBe(
      '"-48,-29":{"type":5},',
    )
  })

  test('is made of the requested fields: without the price, no tile has the type on sale', () => {
    const form = legacyTileForm(fields('type', 'top', 'estateId', 'tokenId', 'expiresAt'))

    expect(form.write(FULL)).toBe('"-48,-29":{"type":9,"top":1,"estate_id":"1140"},')
    expect([form.showsOffers, legacyTileForm(fields('price')).showsOffers]).toEqual([false, true])
  })
})

describe('a tile for an address', () => {
  test('has its type, 1 for a join, its price as text, and no owner', () => {
    expect(writeAddressTile(FULL, ADDRESS_TYPES.ownEstateOnSale)).toBe(
      '"-48,-29":{"type":3,"x":-48,"y":-29,"top":1,"topLeft":1,"name":"a \\"b\\"\\n",' +
        '"estate_id":"1140","price":"16787.030000000000000003"},',
    )
    expect(writeAddressTile(BARE, ADDRESS_TYPES.operated)).toBe('"0,1":{"type":4,"x":0,"y":1},')
  })

  test('has the name of the district to which the address contributed', () => {
    const tile = { ...BARE, name: 'a shop', districtName: 'Museum' }

    expect(writeAddressTile(tile, ADDRESS_TYPES.contributed)).toBe(
      '"0,1":{"type":6,"x":0,"y":1,"name":"Museum"},',
    )
    expect(writeAddressTile(tile, ADDRESS_TYPES.ownParcel)).toBe(
      '"0,1":{"type":0,"x":0,"y":1,"name":"a shop"},',
    )
  })
})

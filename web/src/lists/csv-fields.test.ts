import { expect, test } from 'vitest'
import { csvRow } from './csv-fields.ts'

test('inner fields are found, missing ones are empty, and parcels are a list of places', () => {
  const estate = {
    id: '7',
    data: {
      parcels: [
        { x: -1, y: 2 },
        { x: 0, y: 2 },
      ],
    },
    publication: null,
    update_managers: ['0xa', '0xb'],
  }

  expect(
    csvRow(['id', 'data.parcels', 'update_managers', 'data.name', 'publication.price', 'toString'], estate),
  ).toEqual(['7', '-1,2;0,2', '0xa;0xb', undefined, undefined, undefined])
})

test('the place of an asset stands beside its id, for parcels and for estates', () => {
  const fields = ['asset_id', 'x', 'y', 'estate_id']

  expect(csvRow(fields, { asset_id: '-38,128', asset_type: 'parcel' })).toEqual([
    '-38,128',
    -38,
    128,
    undefined,
  ])
  expect(csvRow(fields, { asset_id: '37', asset_type: 'estate' })).toEqual(['37', undefined, undefined, '37'])
})

test('what is for sale has its place, and a parcel the estate that holds it', () => {
  const fields = ['id', 'x', 'y', 'estate_id']
  const estate = { id: '37', publication: { asset_id: '37', asset_type: 'estate' } }
  const parcel = { id: '-38,128', x: -38, y: 128, estate_id: '9', publication: null }

  expect(csvRow(fields, estate)).toEqual(['37', undefined, undefined, '37'])
  expect(csvRow(fields, parcel)).toEqual(['-38,128', -38, 128, '9'])
})

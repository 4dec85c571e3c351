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

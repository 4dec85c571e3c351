import { expect, test } from 'vitest'
import type { EstateRow, ParcelRow } from './land-rows.ts'
import { emptyEstate, emptyParcel } from './new-rows.ts'
import { overwriteEstate, overwriteParcel } from './overwrite-rows.ts'

const AT = { blockNumber: 0, timeMs: 0, txHash: '', logIndex: 0 }

/** Another value in each column. */
function changed<Row extends object>(row: Row, kept: readonly string[]): Row {
  const entries = Object.entries(row).map(([column, value], at) => [
    column,
    kept.includes(column) ? value : `${at}`,
  ])
  return Object.fromEntries(entries) as Row
}

test('every column of a parcel and of an estate is taken over, and the row stays the same object', () => {
  const [parcel, estate] = [emptyParcel({ x: 1, y: 2 }, 3), emptyEstate('7', AT)]
  const [nextParcel, nextEstate] = [changed<ParcelRow>(parcel, ['x', 'y']), changed<EstateRow>(estate, [])]

  overwriteParcel(parcel, nextParcel)
  overwriteEstate(estate, nextEstate)

  expect(parcel).toEqual(nextParcel)
  expect(estate).toEqual(nextEstate)
})

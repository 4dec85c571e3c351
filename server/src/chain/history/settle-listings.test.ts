import { expect, test } from 'vitest'
import type { StoredListing } from '../../land/snapshot/stored-listings.ts'
import { settledOf } from './settle-listings.ts'

const [ANN, BOB] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const idOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
const nothing = { id: idOf(0), seller: idOf(0).slice(0, 42) }
const stored = (number: number) => ({ id: idOf(number), seller: ANN })

function listing(key: number, facts: Partial<StoredListing> = {}): StoredListing {
  return {
    key,
    contract_id: idOf(key),
    marketplace_address: 'market',
    owner: ANN,
    holder: ANN,
    status: 'open',
    closed_by: null,
    ...facts,
  }
}
const moved = { status: 'cancelled', closed_by: 'moved' } as const
const unknown = { status: 'cancelled', closed_by: null } as const

test('a listing that the marketplace stores stays as it is', () => {
  expect(settledOf([listing(1)], stored(1))).toEqual([])
  expect(settledOf([listing(1, { ...moved, holder: BOB })], stored(1))).toEqual([])
})

test('one that it does not store is closed: nothing is stored, or another one', () => {
  expect(settledOf([listing(1)], nothing)).toEqual([{ key: 1, status: 'cancelled', closed_by: 'event' }])
  expect(settledOf([listing(1, moved)], stored(9))).toEqual([
    { key: 1, status: 'cancelled', closed_by: 'replaced' },
  ])
  expect(settledOf([listing(1), listing(2)], stored(2))).toEqual([
    { key: 1, status: 'cancelled', closed_by: 'replaced' },
  ])
})

test('one that is stored is open while its seller holds the asset, and opens again when the asset returns', () => {
  expect(settledOf([listing(1, { holder: BOB })], stored(1))).toEqual([{ key: 1, ...moved }])
  expect(settledOf([listing(1, { ...unknown, holder: BOB })], stored(1))).toEqual([{ key: 1, ...moved }])
  expect(settledOf([listing(1, unknown), listing(2)], stored(1))).toEqual([
    { key: 1, status: 'open', closed_by: null },
    { key: 2, status: 'cancelled', closed_by: 'replaced' },
  ])
})

test('why a cancelled one is closed that is not stored stays unknown', () => {
  expect(settledOf([listing(1, unknown), listing(2, unknown)], nothing)).toEqual([])
})

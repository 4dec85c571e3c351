import { encodeTokenId } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { ESTATE_REGISTRY } from '../../../test/support/registries.ts'
import {
  address,
  BOB,
  hash,
  type Records,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '../../../test/support/tiny-world.ts'
import { checkSnapshot } from './import.ts'

/** What contracts allow and other sources of snapshots do not have. */

const CHAIN = { chain_id: 1, block_number: 18_000_000, block_hash: hash(0xb10c) }
const OUTSIDE = { x: 3, y: -999_999 }
const OUTSIDE_ID = '3,-999999'

/** Checks records of which the manifest says that they come from a chain, and as if it did not. */
async function checked(records: Records, source: object = { chain: CHAIN }) {
  const folder = tinySnapshot({ records, manifest: (manifest) => Object.assign(manifest, source) })
  const other = tinySnapshot({ records })
  const options = { world: TINY_WORLD }
  return {
    fromChain: await checkSnapshot(folder, options),
    fromOthers: (await checkSnapshot(other, options)).errors.map(({ field, reason }) => [field, reason]),
  }
}

/** The tiny world with a parcel far away, and all that can name it. */
function recordsWithOutside(): Records {
  const records = tinyRecords()
  const [parcel] = records.parcels.filter(({ id }) => id === '2,0')
  const id = OUTSIDE_ID
  const token_id = encodeTokenId(OUTSIDE).toString()
  records.parcels.push({ ...parcel!, ...OUTSIDE, id, token_id })
  records.publications.push({
    ...records.publications.at(-1)!,
    asset_id: id,
    asset_type: 'parcel',
    owner: BOB,
  })
  records.bids.push({ ...records.bids[0]!, id: hash(0x3ff), asset_id: id, token_id })
  records.mortgages.push({ ...records.mortgages[0]!, loan_id: 700, mortgage_id: 70, asset_id: id })
  return records
}

test.each([{ chain: CHAIN }, { from_chain: true }])(
  'parcels outside of WORLD, and what names them, are taken where the manifest has %j',
  async (source) => {
    const { fromChain, fromOthers } = await checked(recordsWithOutside(), source)

    expect(fromChain.errors).toEqual([])
    expect(fromChain.warnings).toEqual([expect.stringMatching(/^Parcels outside of WORLD: 1\./)])
    expect(fromOthers).toEqual([
      ['id', 'must lie in the world'],
      ...Array(3).fill(['asset_id', 'is the id of no parcel of the snapshot']),
    ])
  },
)

test('an estate can have parcels outside of WORLD; all else about them is checked as about others', async () => {
  const records = recordsWithOutside()
  const [estate] = records.estates
  const outside = records.parcels.at(-1)!
  estate!.data.parcels.push(OUTSIDE)
  Object.assign(outside, { estate_id: '1', owner: ESTATE_REGISTRY })
  expect((await checked(records)).fromChain.errors).toEqual([])

  outside.estate_id = '2'
  records.publications[0]!.asset_id = '3,3'
  expect((await checked(records)).fromChain.errors.map(({ field, reason }) => [field, reason])).toEqual([
    ['data.parcels[2]', 'has the estate_id "2" (line 26 of the parcels)'],
    ['asset_id', 'is the id of no parcel of the snapshot'],
  ])

  outside.estate_id = '1'
  records.parcels.push({ ...outside })
  expect((await checked(records)).fromChain.errors).toMatchObject([
    { field: 'id', reason: 'is the parcel of line 26 as well' },
  ])
})

test('a snapshot that covers part of WORLD is not made whole by parcels outside of it', async () => {
  const records = recordsWithOutside()
  records.parcels = records.parcels.filter(({ id }) => id !== '-1,2')

  const { fromChain } = await checked(records)

  expect(fromChain.warnings).toEqual([
    expect.stringContaining('24 of 25 parcels'),
    expect.stringContaining('outside of WORLD: 1.'),
  ])
})

test('mortgages are as the contracts allow them', async () => {
  const records = tinyRecords()
  const [pending, cancelled, ongoing, , defaulted] = records.mortgages
  // The loan was lent and paid without the mortgage, as versions before wrote it; and its terms were never read.
  Object.assign(pending!, { amount: 0, paid: 5, block_time_updated_at: '1551398400000' })
  // A contract of mortgages without one of loans
  Object.assign(ongoing!, { lender: null, amount: 0 })
  // The loan of a cancelled mortgage is named by another one.
  defaulted!.loan_id = cancelled!.loan_id

  const { fromChain, fromOthers } = await checked(records)

  expect(fromChain.errors).toEqual([])
  expect(fromOthers.map(([field]) => field)).toEqual([
    'amount',
    'block_time_updated_at',
    'amount',
    'lender',
    'loan_id',
  ])
})

test('mortgages that no contract makes are refused all the same', async () => {
  const records = tinyRecords()
  const [pending, cancelled, ongoing, paid] = records.mortgages
  pending!.lender = BOB
  cancelled!.block_time_updated_at = null
  ongoing!.mortgage_id = paid!.mortgage_id

  const { fromChain } = await checked(records)

  expect(fromChain.errors.map(({ field }) => field)).toEqual([
    'lender',
    'block_time_updated_at',
    'mortgage_id',
  ])
})

test('a bid that is cancelled and placed again in one block has its id twice, with two logs', async () => {
  const records = tinyRecords()
  const placed = (log_index: number) => ({ tx_hash: hash(0x77), log_index, contract_address: address('d') })
  const [bid] = records.bids
  records.bids.push(
    { ...bid!, id: hash(0x3ff), ...placed(1), status: 'cancelled', closed_by: 'event' },
    { ...bid!, id: hash(0x3ff), ...placed(4) },
  )
  expect((await checked(records)).fromChain.errors).toEqual([])

  records.bids.push({ ...bid!, id: hash(0x3ff), ...placed(4) })
  expect((await checked(records)).fromChain.errors).toMatchObject([
    { line: 7, field: 'id', reason: 'is the id of line 6 as well' },
  ])
})

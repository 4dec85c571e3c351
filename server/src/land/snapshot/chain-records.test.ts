import { encodeTokenId } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { ESTATE_REGISTRY } from '../../../test/support/land/registries.ts'
import {
  address,
  BOB,
  hash,
  type Records,
  TINY_WORLD,
  type TinyManifest,
  tinyRecords,
  tinySnapshot,
} from '../../../test/support/land/tiny-world.ts'
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
  // The loan was lent and paid without the mortgage, and its terms were never read.
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

const RIGHT = { kind: 'approval', registry: 'parcel', owner: address('a'), operator: address('b') } as const
const SIGNATURE = {
  marketplace: address('e'),
  signer: address('a'),
  signature_key: hash(1),
  is_cancelled: false,
  uses: 2,
}
const INDEX = { marketplace: address('e'), signer: null, value: '0', is_paused: true }
const CHAIN_RECORDS = {
  rights: [RIGHT, { ...RIGHT, registry: 'parcel', operator: address('c') }, { ...RIGHT, kind: 'manager' }],
  trade_signatures: [SIGNATURE, { ...SIGNATURE, signer: address('b'), is_cancelled: true }],
  trade_indexes: [INDEX, { ...INDEX, signer: address('a'), value: (2n ** 256n - 1n).toString() }],
} as const

function checkChainRecords(change: object, manifest: (manifest: TinyManifest) => void = () => undefined) {
  const chainRecords = { ...CHAIN_RECORDS, ...change }
  return checkSnapshot(tinySnapshot({ chainRecords, manifest }), { world: TINY_WORLD })
}

test('rights, signatures and indexes are counted where a snapshot has them, and may be left out', async () => {
  const { errors, counts } = await checkChainRecords({})
  expect(errors).toEqual([])
  expect(counts).toMatchObject({ rights: 3, trade_signatures: 2, trade_indexes: 2 })

  const without = await checkSnapshot(tinySnapshot(), { world: TINY_WORLD })
  expect(without.errors).toEqual([])
  expect(without.counts).not.toHaveProperty('rights')
})

test.each([
  ['rights', [{ ...RIGHT, kind: 'other' }], 1, 'kind', /"approval" or "manager"/],
  ['rights', [{ ...RIGHT, registry: 'boat' }], 1, 'registry', /"parcel" or "estate"/],
  ['rights', [{ ...RIGHT, owner: null }], 1, 'owner', /address/],
  ['rights', [RIGHT, RIGHT], 2, null, /after the line above/],
  ['rights', [{ ...RIGHT, operator: address('c') }, RIGHT], 2, null, /after the line above/],
  ['trade_signatures', [{ ...SIGNATURE, uses: -1 }], 1, 'uses', /whole number/],
  ['trade_signatures', [{ ...SIGNATURE, signature_key: '0x1' }], 1, 'signature_key', /hash/],
  ['trade_signatures', [SIGNATURE, { ...SIGNATURE, uses: 3 }], 2, null, /after the line above/],
  ['trade_indexes', [{ ...INDEX, signer: '' }], 1, 'signer', /address/],
  ['trade_indexes', [{ ...INDEX, value: 7 }], 1, 'value', /decimal digits/],
  ['trade_indexes', [{ ...INDEX, value: (2n ** 256n).toString() }], 1, 'value', /256 bits/],
] as const)('%s with %j: an error in line %i', async (set, records, line, field, reason) => {
  const { errors } = await checkChainRecords({ [set]: records })

  const file = `${set}.ndjson.gz`
  expect(errors).toMatchObject([{ file, line, field, reason: expect.stringMatching(reason) }])
})

test('such a file must be there, complete and listed, where the manifest has one of the two', async () => {
  const errorsOf = async (change: object, manifest: (manifest: TinyManifest) => void) =>
    (await checkChainRecords(change, manifest)).errors.map(({ file, field, reason }) => [file, field, reason])
  const file = 'rights.ndjson.gz'
  const counted = ({ counts }: TinyManifest) => Object.assign(counts, { rights: 3 })
  const unlisted = ({ counts, files }: TinyManifest) => {
    delete counts.rights
    delete files[file]
  }
  const uncounted = ({ counts }: TinyManifest) => void delete counts.rights

  expect(await errorsOf({ rights: undefined }, counted)).toEqual([[file, null, 'is missing']])
  expect(await errorsOf({}, unlisted)).toEqual([['manifest.json', `files["${file}"]`, 'is missing']])
  expect(await errorsOf({}, uncounted)).toContainEqual([
    'manifest.json',
    'counts.rights',
    'must be a count of records',
  ])
})

import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  address,
  type Break,
  jsonLine,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '../../../test/support/land/tiny-world.ts'
import { ExactNumber } from '../records/exact-json.ts'
import { checkSnapshot } from './import.ts'

/** What is broken, and the one error that it must give. */
interface Case extends Break {
  readonly field: string | null
  readonly reason: RegExp
  /** Where the error shows up, if not in the broken line itself. */
  readonly at?: { readonly set: Break['set']; readonly line: number }
}

const district = (change: Break['with'], field: string | null, reason: RegExp, at?: Case['at']): Case => ({
  set: 'districts',
  line: 1,
  with: change,
  field,
  reason,
  ...(at && { at }),
})
const of =
  (set: Break['set'], line: number) =>
  (change: Break['with'], field: string | null, reason: RegExp, at?: Case['at']): Case => ({
    ...district(change, field, reason, at),
    set,
    line,
  })
/** -1,0: near a plaza and a road, with a price and a strange name. */
const parcel = of('parcels', 8)
/** 1,0: in estate 1. */
const estateParcel = of('parcels', 18)
const estate = of('estates', 1)
const open = of('publications', 1)
const sold = of('publications', 3)
const bid = of('bids', 1)
const estateBid = of('bids', 2)
const pending = of('mortgages', 1)
const ongoing = of('mortgages', 3)
const contribution = of('contributions', 2)

/** A good line with more fields before its own. */
function lineWithStart(set: Break['set'], line: number, start: string): string {
  return jsonLine(tinyRecords()[set][line - 1]!).replace('{', `{${start}`)
}

const CASES: readonly Case[] = [
  district('{"id": nothing}', null, /^is no JSON$/),
  district('', null, /^is no JSON$/),
  district('[1]', null, /^must be an object$/),
  district({ id: 'F77140F9-C7B4-4787-89C9-9FA0E219B079' }, 'id', /UUID in lower case/),
  district({ name: 'half a \ud83d' }, 'name', /lone surrogate/),
  district({ name: 'no\0thing' }, 'name', /NUL/),
  district({ description: 'x'.repeat(20_001) }, 'description', /at most 20000/),
  district({ link: 'javascript:alert(1)' }, 'link', /http or https/),
  district({ public: 'yes' }, 'public', /true or false/),
  district({ parcel_count: 3 }, 'parcel_count', /length of parcels, 2/),
  district({ center: '0,0' }, 'center', /one of parcels/),
  district({ center: '-2,-02' }, 'center', /coordinates/),
  district({ parcels: ['-2,-1', '-2,-2', '-2,-1'], parcel_count: 3 }, 'parcels[2]', /already/),
  district({ parcels: ['-2,-1', '-2,-2', '-2,9'], parcel_count: 3 }, 'parcels[2]', /in the world/),
  district({ colour: 'red' }, 'colour', /no field of the format/),
  of('districts', 2)({ id: '11111111-2222-4333-8444-555555555555' }, 'id', /line 1 as well/),

  parcel({ id: '-1, 0' }, 'id', /coordinates/),
  parcel({ id: '-1,1' }, 'id', /must be "-1,0"/),
  parcel({ x: 0.5 }, 'x', /whole number/),
  parcel({ y: new ExactNumber('0.0000000000000001') }, 'y', /whole number/),
  parcel({ token_id: '0340' }, 'token_id', /no leading zeros/),
  parcel({ token_id: '340282366920938463463374607431768211458' }, 'token_id', /token id of -1,0/),
  parcel({ owner: '0xBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' }, 'owner', /lower-case/),
  parcel({ operator: 7 }, 'operator', /address/),
  parcel({ data: { name: 'x' } }, 'data.version', /missing/),
  parcel({ data: { version: 0, ipns: null } }, 'data.ipns', /string/),
  parcel({ data: { version: 0, parcels: [] } }, 'data.parcels', /no field/),
  parcel({ tags: { proximity: {} } }, 'tags.proximity', /plaza or a road/),
  parcel(
    { tags: { proximity: { road: { district_id: '11111111-2222-4333-8444-555555555555', distance: 10 } } } },
    'tags.proximity.road.distance',
    /from 0 to 9/,
  ),
  parcel(
    { tags: { proximity: { road: { district_id: '11111111-2222-4333-8444-666666666666', distance: 1 } } } },
    'tags.proximity.road.district_id',
    /no district/,
  ),
  parcel({ district_id: '11111111-2222-4333-8444-555555555555' }, 'district_id', /does not list this parcel/),
  parcel({ district_id: '11111111-2222-4333-8444-666666666666' }, 'district_id', /no district/),
  of('parcels', 1)({ district_id: null }, 'district_id', /which lists this parcel/),
  parcel({ auction_price: null }, 'auction_owner', /exactly when auction_price/),
  parcel({ auction_price: '1000' }, 'auction_price', /must be a number/),
  parcel({ auction_timestamp: 0 }, 'auction_timestamp', /null/),
  parcel({ last_transferred_at: 1551398400000 }, 'last_transferred_at', /string of decimal digits/),
  parcel({ approvals_for_all: null }, 'approvals_for_all', /must be an array/),
  parcel({ approvals_for_all: ['ann'] }, 'approvals_for_all[0]', /address/),
  parcel(
    { update_managers: [address('a'), address('b'), address('a')] },
    'update_managers[2]',
    /listed twice/,
  ),
  parcel(
    { update_managers: Array.from({ length: 1001 }, (_, i) => `0x${String(i).padStart(40, '0')}`) },
    'update_managers',
    /at most 1000 addresses/,
  ),
  parcel({ created_at: '2019-02-30T00:00:00.000Z' }, 'created_at', /time like/),
  parcel({ updated_at: '2019-02-03T00:00:00Z' }, 'updated_at', /time like/),
  estateParcel({ owner: `0x${'b'.repeat(40)}` }, 'owner', /estate registry/),
  estateParcel({ estate_id: null }, 'data.parcels[1]', /estate_id null \(line 18/, {
    set: 'estates',
    line: 1,
  }),
  estateParcel({ estate_id: '2' }, 'data.parcels[1]', /estate_id "2"/, { set: 'estates', line: 1 }),
  parcel({ estate_id: '3', owner: '0x959e104e1a4db6317fa58f8295f586e1a978c297' }, 'estate_id', /no estate/),
  parcel(
    { estate_id: '10', owner: '0x959e104e1a4db6317fa58f8295f586e1a978c297' },
    'estate_id',
    /does not list/,
  ),

  estate(
    lineWithStart('estates', 1, '').replace('"x":1,"y":0', '"x":1,"y":0,"x":1'),
    'data.parcels[1].x',
    /twice/,
  ),
  estate({ id: '01' }, 'id', /estate id/),
  estate({ token_id: '7' }, 'token_id', /same as id/),
  estate({ tx_hash: `0x${'A'.repeat(64)}` }, 'tx_hash', /hash/),
  estate({ owner: null }, 'owner', /address/),
  estate({ district_id: 'f77140f9-c7b4-4787-89c9-9fa0e219b079' }, 'district_id', /null/),
  estate({ approvals_for_all: [address('A')] }, 'approvals_for_all[0]', /lower-case/),
  estate({ data: { version: 0, parcels: [{ x: 1, y: '1' }] } }, 'data.parcels[0].y', /whole number/),
  of('estates', 2)({ id: '1', token_id: '1' }, 'id', /line 1 as well/),

  open({ tx_status: 'pending' }, 'tx_status', /"confirmed"/),
  open({ price: 0 }, 'price', /above 0/),
  open({ price: -1 }, 'price', /above 0/),
  open({ price: '5' }, 'price', /number/),
  open({ expires_at: '1583020800000' }, 'expires_at', /whole number/),
  open({ status: 'closed' }, 'status', /"open" or "sold" or "cancelled"/),
  open({ buyer: `0x${'c'.repeat(40)}` }, 'buyer', /exactly when sold/),
  open({ block_time_updated_at: 1551398400000 }, 'block_time_updated_at', /exactly when open/),
  sold({ buyer: null }, 'buyer', /exactly when sold/),
  sold({ block_time_updated_at: null }, 'block_time_updated_at', /exactly when open/),
  open({ asset_id: '2,3' }, 'asset_id', /no parcel/),
  open({ asset_id: '1', asset_type: 'parcel' }, 'asset_id', /no parcel/),
  open({ asset_type: 'estate' }, 'asset_id', /no estate/),
  open({ asset_type: 'boat' }, 'asset_type', /"parcel" or "estate"/),
  open({ block_number: 1.5 }, 'block_number', /whole number/),

  open(lineWithStart('publications', 1, '"price":1,'), 'price', /twice/),
  sold(
    { block_time_created_at: 1551398400000 },
    'block_time_created_at',
    /not be before .* above, 1551484800000/,
  ),

  bid(lineWithStart('bids', 1, '"id" :"0x",'), 'id', /twice/),
  bid({ id: '0x1' }, 'id', /hash/),
  of('bids', 2)({ id: `0x${(0x300).toString(16).padStart(64, '0')}` }, 'id', /line 1 as well/),
  bid({ token_address: '0x959e104e1a4db6317fa58f8295f586e1a978c297' }, 'token_address', /0xf87e/),
  bid({ token_id: '1' }, 'token_id', /token id of its asset/),
  estateBid({ token_id: '2' }, 'token_id', /token id of its asset/),
  estateBid({ fingerprint: '0x' }, 'fingerprint', /hash for an estate/),
  bid({ expires_at: '-1' }, 'expires_at', /decimal digits/),
  bid({ log_index: -1 }, 'log_index', /whole number/),
  bid({ contract_address: null }, 'contract_address', /address/),

  pending({ asset_type: 'estate' }, 'asset_type', /"parcel"/),
  pending({ lender: `0x${'c'.repeat(40)}` }, 'lender', /pending or cancelled/),
  pending({ is_due_at: '5' }, 'is_due_at', /never started/),
  pending({ started_at: '5' }, 'started_at', /never started/),
  pending({ block_time_updated_at: '5' }, 'block_time_updated_at', /exactly when pending/),
  pending({ outstanding_amount: 1 }, 'outstanding_amount', /0 unless/),
  pending({ amount: 0 }, 'amount', /above 0/),
  ongoing({ lender: null }, 'lender', /pending or cancelled/),
  ongoing({ loan_id: 600 }, 'loan_id', /line 1 as well/),
  ongoing({ mortgage_id: 1 }, 'mortgage_id', /line 1 as well/),
  ongoing({ interest_rate: -1 }, 'interest_rate', /whole number/),
  ongoing({ asset_id: 'x' }, 'asset_id', /no parcel/),

  contribution({ district_id: '11111111-2222-4333-8444-666666666666' }, 'district_id', /no district/),
  contribution({ land_count: 0 }, 'land_count', /from 1/),
  contribution({ timestamp: 1506903986808 }, 'timestamp', /string/),
  contribution({ address: 'ann' }, 'address', /address/),
]

test.each(CASES)('$set line $line with $with: one error, in $field', async (broken) => {
  const folder = tinySnapshot({ breakRecord: broken })

  const report = await checkSnapshot(folder, { world: TINY_WORLD })

  const { set, line } = broken.at ?? broken
  expect(report.errors).toEqual([
    {
      file: `${set}.ndjson.gz`,
      line,
      field: broken.field,
      value: report.errors[0]?.value,
      reason: expect.stringMatching(broken.reason),
    },
  ])
  expect(report).toMatchObject({ ok: false, errorCount: 1, errorsByFile: { [`${set}.ndjson.gz`]: 1 } })
  rmSync(folder, { recursive: true })
})

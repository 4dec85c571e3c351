import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encodeTokenId, parseWorld } from '@landpass/client/grid'
import type { BidRecord } from '../../../src/land/records/bid.ts'
import type { ContributionRecord } from '../../../src/land/records/contribution.ts'
import type { DistrictRecord } from '../../../src/land/records/district.ts'
import type { EstateRecord } from '../../../src/land/records/estate.ts'
import { ExactNumber } from '../../../src/land/records/exact-json.ts'
import type { MortgageRecord } from '../../../src/land/records/mortgage.ts'
import type { ParcelRecord } from '../../../src/land/records/parcel.ts'
import type { PublicationRecord } from '../../../src/land/records/publication.ts'
import {
  ALL_SETS,
  type ChainSetName,
  DATA_SETS,
  type DataSetName,
  type RecordOf,
} from '../../../src/land/snapshot/format.ts'
import { ESTATE_REGISTRY, LAND_REGISTRY } from './registries.ts'

/** A world of 5 × 5 parcels around 0,0, with two of everything that can go wrong when there are two of it. */
export const TINY_WORLD = parseWorld('-2,-2,2,2')!

export type Records = { [Name in DataSetName]: RecordOf[Name][] }

export const ANN = address('a')
export const BOB = address('b')
export const CLEO = address('c')
export const ROAD = 'f77140f9-c7b4-4787-89c9-9fa0e219b079'
export const MUSEUM = '11111111-2222-4333-8444-555555555555'

const MARCH = Date.parse('2019-03-01T00:00:00.000Z')
const DAY = 86_400_000

/** Replaces one record: fields put over it, or a whole line of text in its place. */
export interface Break {
  readonly set: DataSetName
  /** Counted from 1, as errors count. */
  readonly line: number
  readonly with: Readonly<Record<string, unknown>> | string
}

export interface TinySnapshotOptions {
  /** Records other than those of {@link tinyRecords}. */
  readonly records?: Records
  /** Records of the data sets that may be left out. */
  readonly chainRecords?: { readonly [Name in ChainSetName]?: readonly RecordOf[Name][] }
  readonly breakRecord?: Break
  /** false writes plain .ndjson files. */
  readonly packed?: boolean
  /** true starts every file, the manifest too, with a byte order mark. */
  readonly byteOrderMark?: boolean
  /** Changes the manifest before it is written. */
  readonly manifest?: (manifest: TinyManifest) => void
  /** Where to write; a new temporary folder without. */
  readonly folder?: string
}

export interface TinyManifest {
  [field: string]: unknown
  counts: Record<string, number>
  files: Record<string, Record<string, unknown>>
}

/**
 * Writes a small snapshot, valid by default, with a manifest that fits it.
 *
 * @returns its folder
 * @example
 * tinySnapshot({ breakRecord: { set: 'parcels', line: 3, with: { owner: 'nobody' } } })
 */
export function tinySnapshot(options: TinySnapshotOptions = {}): string {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'landpass-tiny-'))
  mkdirSync(folder, { recursive: true })
  const lines: { [set: string]: string[] } = linesOf(options.records ?? tinyRecords())
  for (const [set, records] of Object.entries(options.chainRecords ?? {}))
    if (records) lines[set] = records.map(jsonLine)
  const { breakRecord, packed = true } = options
  const start = options.byteOrderMark ? '\ufeff' : ''
  if (breakRecord) breakLine(lines[breakRecord.set]!, breakRecord)
  const manifest: TinyManifest = {
    format: 'land-snapshot',
    version: 1,
    reference_time: '2020-01-01T00:00:00.000Z',
    counts: {},
    files: {},
  }
  for (const set of ALL_SETS) {
    const ofSet = lines[set]
    if (!ofSet) continue
    const name = packed ? `${set}.ndjson.gz` : `${set}.ndjson`
    const content = Buffer.from(start + ofSet.map((line) => `${line}\n`).join(''))
    const file = packed ? gzipSync(content) : content
    writeFileSync(join(folder, name), file)
    manifest.counts[set] = ofSet.length
    manifest.files[name] = {
      records: ofSet.length,
      bytes: file.length,
      sha256: sha256(file),
      content_bytes: content.length,
      content_sha256: sha256(content),
    }
  }
  options.manifest?.(manifest)
  writeFileSync(join(folder, 'manifest.json'), start + JSON.stringify(manifest))
  return folder
}

export function tinyRecords(): Records {
  return {
    districts: districts(),
    parcels: parcels(),
    estates: estates(),
    publications: publications(),
    bids: bids(),
    mortgages: mortgages(),
    contributions: contributions(),
  }
}

/** A record as a line of a snapshot. Numbers given as ExactNumber keep every digit. */
export function jsonLine(record: object): string {
  const mark = '\u{f0000}'
  const json = JSON.stringify(record, (_key, value: unknown) =>
    value instanceof ExactNumber ? `${mark}${value.text}${mark}` : value,
  )
  return json.replaceAll(`"${mark}`, '').replaceAll(`${mark}"`, '')
}

export function address(digit: string): string {
  return `0x${digit.repeat(40)}`
}

export function hash(seed: number): string {
  return `0x${seed.toString(16).padStart(64, '0')}`
}

export function iso(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

function linesOf(records: Records): Record<DataSetName, string[]> {
  return Object.fromEntries(DATA_SETS.map((set) => [set, records[set].map(jsonLine)])) as Record<
    DataSetName,
    string[]
  >
}

function breakLine(lines: string[], { line, with: change }: Break): void {
  const old = lines[line - 1]
  if (old === undefined) throw new Error(`There is no line ${line} to break`)
  // Through plain JSON: the broken record need not keep its digits
  lines[line - 1] = typeof change === 'string' ? change : jsonLine({ ...JSON.parse(old), ...change })
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function districts(): DistrictRecord[] {
  const common = { public: true, disabled: false }
  return [
    {
      id: MUSEUM,
      name: 'Museum\u2028of lines',
      description: 'Two parcels, not in the order of the grid',
      link: 'https://districts.example.org/museum',
      ...common,
      parcel_count: 2,
      center: '-2,-2',
      parcels: ['-2,-1', '-2,-2'],
    },
    {
      id: ROAD,
      name: 'Road',
      description: '',
      link: 'https://districts.example.org/road',
      ...common,
      public: false,
      parcel_count: 3,
      center: '0,-1',
      parcels: ['0,-2', '0,-1', '0,0'],
    },
  ]
}

/** In estates: 1,0 1,1 (estate 1) and 2,1 2,2 1,2 (estate 2). */
function parcels(): ParcelRecord[] {
  const estateOf: Record<string, string> = { '1,0': '1', '1,1': '1', '2,1': '2', '2,2': '2', '1,2': '2' }
  const list = districts()
  const records: ParcelRecord[] = []
  for (let x = -2; x <= 2; x++) {
    for (let y = -2; y <= 2; y++) {
      const id = `${x},${y}`
      const district = list.find((one) => one.parcels.includes(id))?.id ?? null
      const estate = estateOf[id] ?? null
      const free = district === null && estate === null
      records.push({
        id,
        x,
        y,
        token_id: encodeTokenId({ x, y }).toString(),
        owner: estate ? ESTATE_REGISTRY : district === ROAD ? null : free ? BOB : ANN,
        operator: null,
        update_operator: id === '2,0' ? address('0') : null,
        data: { version: 0 },
        district_id: district,
        estate_id: estate,
        tags: {},
        auction_price: free ? 1000 : null,
        auction_owner: free ? ANN : null,
        auction_timestamp: null,
        last_transferred_at: free ? '1551398400000' : null,
        created_at: iso(MARCH - DAY + records.length),
        updated_at: iso(MARCH),
      })
    }
  }
  const near = { district_id: ROAD, distance: 0 }
  Object.assign(recordOf(records, '1,-1'), {
    data: { version: 0, name: '\ufeffmark first', description: '', ipns: 'ipns:Qm123' },
    tags: { proximity: { road: near } },
  })
  Object.assign(recordOf(records, '-1,0'), {
    data: { version: 0, name: '__proto__', description: '"\\<b>\u2028\u2029\u0085\u0007 👩‍🚀 العربية' },
    tags: { proximity: { plaza: { district_id: MUSEUM, distance: 9 }, road: near } },
    auction_price: new ExactNumber('1234567890123456789.000000000000000001'),
  })
  return records
}

function recordOf(records: ParcelRecord[], id: string): ParcelRecord {
  return records.find((record) => record.id === id)!
}

/** Ids 2 and 10 are in the order of numbers; 10 is dissolved. */
function estates(): EstateRecord[] {
  return ['1', '2', '10'].map((id, index) => ({
    id,
    tx_hash: hash(100 + index),
    token_id: id,
    owner: [ANN, BOB, CLEO][index]!,
    operator: index === 0 ? CLEO : null,
    update_operator: null,
    data: {
      version: 0,
      name: `Estate ${id}`,
      description: '',
      ipns: '',
      parcels: [
        [
          { x: 1, y: 1 },
          { x: 1, y: 0 },
        ],
        [
          { x: 2, y: 2 },
          { x: 1, y: 2 },
          { x: 2, y: 1 },
        ],
        [],
      ][index]!,
    },
    last_transferred_at: '1551398400000',
    district_id: null,
    created_at: iso(MARCH + index),
    updated_at: iso(MARCH + DAY),
  }))
}

/** The first two share a transaction and a contract id, and 2,0 is for sale twice: real history does so. */
function publications(): PublicationRecord[] {
  const sale = (index: number, change: Partial<PublicationRecord>): PublicationRecord => ({
    tx_hash: hash(Math.max(index, 1)),
    tx_status: 'confirmed',
    owner: BOB,
    price: 1000,
    expires_at: MARCH + 365 * DAY,
    status: 'open',
    buyer: null,
    contract_id: hash(0x200 + Math.max(index, 1)),
    block_number: 7_000_000 + index,
    block_time_created_at: MARCH + index * DAY,
    block_time_updated_at: null,
    asset_id: '2,0',
    asset_type: 'parcel',
    marketplace_address: '0x8e5660b4ab70168b5a6feea0e0315cb49c8cd539',
    created_at: iso(MARCH + index * DAY + 3000),
    updated_at: iso(MARCH + index * DAY + 3000),
    ...change,
  })
  return [
    sale(0, { price: new ExactNumber('0.000000000000000001') }),
    sale(1, { price: new ExactNumber('16787.030000000000000003') }),
    sale(2, { status: 'sold', buyer: CLEO, block_time_updated_at: MARCH + 3 * DAY, asset_id: '2,-1' }),
    sale(3, { status: 'cancelled', block_time_updated_at: MARCH + 4 * DAY, price: 16787.03 }),
    sale(4, { asset_id: '10', asset_type: 'estate', owner: CLEO }),
  ]
}

function bids(): BidRecord[] {
  const bid = (index: number, change: Partial<BidRecord>): BidRecord => ({
    id: hash(0x300 + index),
    token_address: LAND_REGISTRY,
    token_id: encodeTokenId({ x: -1, y: 0 }).toString(),
    bidder: CLEO,
    seller: BOB,
    price: 250.5,
    expires_at: String(MARCH + 90 * DAY),
    fingerprint: '0x',
    status: 'open',
    asset_id: '-1,0',
    asset_type: 'parcel',
    block_number: 7_100_000 + index,
    block_time_created_at: String(MARCH + index * DAY),
    block_time_updated_at: String(MARCH + index * DAY),
    created_at: iso(MARCH + index * DAY + 5000),
    updated_at: iso(MARCH + index * DAY + 5000),
    ...change,
  })
  const estate = {
    token_address: ESTATE_REGISTRY,
    token_id: '1',
    asset_id: '1',
    asset_type: 'estate',
  } as const
  return [
    bid(0, {}),
    bid(1, { ...estate, seller: ANN, fingerprint: hash(0x999) }),
    bid(2, { status: 'sold', tx_hash: hash(0x400), log_index: 0, contract_address: address('d') }),
    bid(3, { status: 'cancelled', price: new ExactNumber('12345678901234567890') }),
  ]
}

function mortgages(): MortgageRecord[] {
  const states = ['pending', 'cancelled', 'ongoing', 'paid', 'defaulted', 'claimed'] as const
  return states.map((status, index) => {
    const started = index >= 2
    return {
      tx_hash: hash(0x500 + index),
      tx_status: 'confirmed',
      block_number: 7_200_000 + index,
      status,
      asset_id: '2,-2',
      asset_type: 'parcel',
      borrower: BOB,
      lender: started ? CLEO : null,
      loan_id: 600 + index,
      mortgage_id: index + 1,
      amount: 29536,
      is_due_at: started ? '1583020800' : '0',
      expires_at: String(MARCH + 30 * DAY),
      block_time_created_at: String(MARCH + index * DAY),
      block_time_updated_at: status === 'pending' ? null : String(MARCH + index * DAY + 1),
      created_at: iso(MARCH + index * DAY + 7000),
      updated_at: iso(MARCH + index * DAY + 7001),
      outstanding_amount: status === 'ongoing' || status === 'defaulted' ? 12.25 : 0,
      payable_at: '1555200',
      interest_rate: 8_185_235_328_000,
      punitory_interest_rate: 5_868_671_616_000,
      paid: 0,
      started_at: started ? String(MARCH + index * DAY) : null,
    }
  })
}

/** One address twice for one district, as in the real list. */
function contributions(): ContributionRecord[] {
  return [ANN, BOB, ANN].map((who, index) => ({
    address: who,
    district_id: MUSEUM,
    land_count: index + 1,
    timestamp: String(1_506_903_986_808 + index),
  }))
}

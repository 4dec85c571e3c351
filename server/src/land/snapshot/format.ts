import { CHAIN_RECORDS, type ChainLines, type ChainRows, type ChainTable } from '../records/chain-records.ts'
import type { LandRecord } from '../records/record.ts'
import { type LandLines, type LandTable, type LandTables, RECORDS } from '../records/tables.ts'

/** The snapshot format, version 1: which files there are. land/records defines their lines. */
export const FORMAT = 'land-snapshot'
export const FORMAT_VERSION = 1

/** The data sets, in the order in which an import reads them: each refers only to those before it. */
export const DATA_SETS = [
  'districts',
  'parcels',
  'estates',
  'publications',
  'bids',
  'mortgages',
  'contributions',
] as const

export type DataSetName = (typeof DATA_SETS)[number]

/** The table that holds the records of a data set. */
export const TABLE_OF = {
  districts: 'district',
  parcels: 'parcel',
  estates: 'estate',
  publications: 'publication',
  bids: 'bid',
  mortgages: 'mortgage',
  contributions: 'contribution',
} as const satisfies Record<DataSetName, LandTable>

/**
 * Data sets that only worlds from a chain have: a snapshot may leave them out. Their lines stand in the order of
 * {@link nameOfLine}.
 */
export const CHAIN_SETS = ['rights', 'trade_signatures', 'trade_indexes'] as const
export type ChainSetName = (typeof CHAIN_SETS)[number]

export const CHAIN_TABLE_OF = {
  rights: 'land_right',
  trade_signatures: 'trade_signature',
  trade_indexes: 'trade_index',
} as const satisfies Record<ChainSetName, ChainTable>

export type SetName = DataSetName | ChainSetName
export const ALL_SETS: readonly SetName[] = [...DATA_SETS, ...CHAIN_SETS]

export function isChainSet(set: SetName): set is ChainSetName {
  return CHAIN_SETS.some((name) => name === set)
}

/** How many records each data set has; those that may be left out only where they are there. */
export type Counts = Record<DataSetName, number> & Partial<Record<ChainSetName, number>>

/** A record of each data set, as it stands on a line. */
export type RecordOf = { [Name in DataSetName]: LandLines[(typeof TABLE_OF)[Name]] } & {
  [Name in ChainSetName]: ChainLines[(typeof CHAIN_TABLE_OF)[Name]]
}

type RowOf = { [Name in DataSetName]: LandTables[(typeof TABLE_OF)[Name]] } & {
  [Name in ChainSetName]: ChainRows[(typeof CHAIN_TABLE_OF)[Name]]
}

type SnapshotRecords = {
  readonly [Name in SetName]: Pick<
    LandRecord<RowOf[Name], RecordOf[Name], never, never>,
    'check' | 'toRow' | 'line'
  >
}

/** What the records of each data set are. */
export const RECORD_OF: SnapshotRecords = {
  districts: RECORDS.district,
  parcels: RECORDS.parcel,
  estates: RECORDS.estate,
  publications: RECORDS.publication,
  bids: RECORDS.bid,
  mortgages: RECORDS.mortgage,
  contributions: RECORDS.contribution,
  rights: CHAIN_RECORDS.land_right,
  trade_signatures: CHAIN_RECORDS.trade_signature,
  trade_indexes: CHAIN_RECORDS.trade_index,
}

/**
 * Of a row or line of these data sets, what names it. No two have the same.
 *
 * @example
 * nameOfLine.trade_indexes({ marketplace: '0xab', signer: null, value: '7' }) // '0xab '
 */
export const nameOfLine: {
  readonly [Name in ChainSetName]: (
    line: Omit<ChainLines[(typeof CHAIN_TABLE_OF)[Name]], 'world_id'>,
  ) => string
} = {
  rights: ({ kind, registry, owner, operator }) => `${kind} ${registry} ${owner} ${operator}`,
  trade_signatures: ({ marketplace, signer, signature_key }) => `${marketplace} ${signer} ${signature_key}`,
  trade_indexes: ({ marketplace, signer }) => `${marketplace} ${signer ?? ''}`,
}

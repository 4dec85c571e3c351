import type { LandLines, LandTable } from '../records/tables.ts'

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

/** A record of each data set, as it stands on a line. */
export type RecordOf = { [Name in DataSetName]: LandLines[(typeof TABLE_OF)[Name]] }

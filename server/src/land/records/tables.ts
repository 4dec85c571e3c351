import { BID, type BidRecord, type BidTable } from './bid.ts'
import { CONTRIBUTION, type ContributionRecord, type ContributionTable } from './contribution.ts'
import { DISTRICT, type DistrictRecord, type DistrictTable } from './district.ts'
import { ESTATE, type EstateRecord, type EstateTable } from './estate.ts'
import { MORTGAGE, type MortgageRecord, type MortgageTable } from './mortgage.ts'
import { PARCEL, type ParcelRecord, type ParcelTable } from './parcel.ts'
import { PUBLICATION, type PublicationRecord, type PublicationTable } from './publication.ts'
import type { LandRecord } from './record.ts'

/** The tables of the records, as rows come out of the database. Each of them is partitioned by `world_id`. */
export interface LandTables {
  district: DistrictTable
  parcel: ParcelTable
  estate: EstateTable
  publication: PublicationTable
  bid: BidTable
  mortgage: MortgageTable
  contribution: ContributionTable
}

export type LandTable = keyof LandTables

// The folder db declares the type of the database without the records, and this file adds their tables to it.
declare module '../../db/schema.ts' {
  interface Database extends LandTables {}
}

/** The records as they stand on the lines of a snapshot, by their tables. */
export interface LandLines {
  district: DistrictRecord
  parcel: ParcelRecord
  estate: EstateRecord
  publication: PublicationRecord
  bid: BidRecord
  mortgage: MortgageRecord
  contribution: ContributionRecord
}

/** The records by their tables, in the order in which an import fills these. */
export const RECORDS: {
  readonly [Table in LandTable]: LandRecord<LandTables[Table], LandLines[Table], never, never>
} = {
  district: DISTRICT,
  parcel: PARCEL,
  estate: ESTATE,
  publication: PUBLICATION,
  bid: BID,
  mortgage: MORTGAGE,
  contribution: CONTRIBUTION,
}

export const LAND_TABLES = Object.keys(RECORDS) as readonly LandTable[]

/** Columns that no answer has: the raw text of an owner can be long. */
export const NOT_IN_ANSWERS: ReadonlySet<string> = new Set(['data_text'])

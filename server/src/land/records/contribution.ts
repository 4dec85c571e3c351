import * as is from './checks.ts'
import { address, derived, integer, timeMsDigits, uuid } from './fields.ts'
import { digitsJson } from './json.ts'
import { defineRecord, type Line, type Row } from './record.ts'

export const CONTRIBUTION = defineRecord({
  description: 'How many parcels an address gave to a district.',
  fields: {
    address: address(),
    district_id: uuid(),
    land_count: integer(is.isPositiveCount),
    timestamp: timeMsDigits(),
  },
  places: {
    /** Our own number, in order of time. */
    key: (_record, index) => index + 1,
  },
  derived: {
    // The sum of all contributions of the address to the district.
    land_count: derived(
      ({ digitsText }) => digitsText(),
      (row: { land_count: number }) => digitsJson(row.land_count),
    ),
  },
  answer: ['address', 'district_id', 'land_count'],
  notAnswered: ['timestamp'],
})

export interface ContributionTable extends Row<typeof CONTRIBUTION> {}
/** A contribution as it stands on a line of a snapshot. */
export interface ContributionRecord extends Line<typeof CONTRIBUTION> {}

/** What an address contributed to a district, as it is answered (docs/land.md, Contribution). */
export const contributionJson = CONTRIBUTION.json

import type { ContributionRecord } from '@landpass/server/land/records/contribution'
import type { DistrictRecord } from '@landpass/server/land/records/district'
import type { Random } from '../random.ts'
import { DAY_S, dateS } from './chain-time.ts'

const ROWS = 2000
const START_S = dateS('2017-10-02')
const SPAN_S = 106 * DAY_S

/** Who pledged land to which district, in time order. What is pledged to a district adds up to its parcels. */
export function contributionsOf(
  districts: readonly DistrictRecord[],
  people: readonly string[],
  random: Random,
): ContributionRecord[] {
  const open = districts.filter((district) => district.public)
  const land = open.reduce((sum, district) => sum + district.parcel_count, 0)
  const rows = open.flatMap((district) => {
    const count = Math.max(2, Math.floor((Math.min(ROWS, land) * district.parcel_count) / land))
    return pledgesTo(district, Math.min(count, district.parcel_count), people, random)
  })
  return rows.sort((one, other) => Number(one.timestamp) - Number(other.timestamp))
}

function pledgesTo(
  { id, parcel_count }: DistrictRecord,
  count: number,
  people: readonly string[],
  random: Random,
): ContributionRecord[] {
  let left = parcel_count
  let last = random.pick(people)
  return Array.from({ length: count }, (_, at) => {
    const fair = Math.floor(left / (count - at))
    const isLast = at === count - 1
    const landCount = isLast
      ? left
      : random.between(1, Math.max(1, Math.min(2 * fair - 1, left - (count - at - 1))))
    left -= landCount
    // One row in seven is of an address that pledged to this district before.
    if (!random.chance(14)) last = random.chance(40) ? random.pick(people) : random.address()
    const timestamp = String((START_S + random.below(SPAN_S)) * 1000 + random.below(1000))
    return { address: last, district_id: id, land_count: landCount, timestamp }
  })
}

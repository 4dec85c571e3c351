import type { Contracts } from '../contracts/contracts.ts'
import type { Address, Word } from '../encoding/words.ts'
import type { DeedKind } from './deeds.ts'

/** How many there are of what players add and remove. */
export interface Counts {
  /** Orders that can be executed. */
  readonly offers: number
  /** Bids that have not expired. */
  readonly bids: number
  /** Estates, also those without parcels: they never go away. */
  readonly estates: number
  readonly estatesWithParcels: number
  readonly parcelsInEstates: number
  /** Assets that the contract of rentals has. */
  readonly rentals: number
}

/** Which deeds raise a count, and which lower it. The others do what they do: what is missing or too many is made up for by these. */
const RAISE: Readonly<Partial<Record<DeedKind, keyof Counts>>> = {
  listing: 'offers',
  bid: 'bids',
  estate_made: 'estates',
  estate_grown: 'parcelsInEstates',
  rent: 'rentals',
}
const LOWER: Readonly<Partial<Record<DeedKind, keyof Counts>>> = {
  listing_cancelled: 'offers',
  bid_cancelled: 'bids',
  estate_dissolved: 'estatesWithParcels',
  estate_shrunk: 'parcelsInEstates',
}
/** A twentieth more than at the beginning, and nothing is added; a twentieth less, and nothing is removed. */
const GAIN = 20
const MOST = 4
/** Where a world begins with fewer rentals, there may be this many. */
const RENTALS_AT_LEAST = 40

/** How much more often than usual players do this, from 0 to {@link MOST}, so that the counts stay near those of the beginning. */
export function balanceOf(kind: DeedKind, now: Counts, atStart: Counts): number {
  const raised = RAISE[kind]
  const lowered = LOWER[kind]
  const count = raised ?? lowered
  if (count === undefined) return 1
  const start = Math.max(count === 'rentals' ? RENTALS_AT_LEAST : 1, atStart[count])
  const surplus = (GAIN * (now[count] - start)) / start
  return Math.min(MOST, Math.max(0, raised === undefined ? 1 + surplus : 1 - surplus))
}

/** Counts what there is at a time, in seconds since 1970. */
export function countOf(contracts: Contracts, timeS: number): Counts {
  const { land, estates, market, legacyMarket, bids, rentals } = contracts
  const now = BigInt(timeS)
  const counts = {
    ...{ offers: 0, bids: 0, rentals: 0 },
    ...{ estates: estates.total(), estatesWithParcels: 0, parcelsInEstates: 0 },
  }
  for (const { orders } of [market, legacyMarket])
    orders.forEach((key, { seller, expiresAt }) => {
      if (expiresAt <= now) return
      const [address, id] = key.split(' ') as [Address, Word]
      if ((address === land.address ? land : estates).ownerOf(id) === seller) counts.offers += 1
    })
  bids.bids.forEach((_, active) => {
    for (const { expiresAtS } of active) if (expiresAtS >= now) counts.bids += 1
  })
  estates.parcels.forEach((_, { length }) => {
    if (length > 0) counts.estatesWithParcels += 1
    counts.parcelsInEstates += length
  })
  rentals.rentals.forEach(() => {
    counts.rentals += 1
  })
  return counts
}

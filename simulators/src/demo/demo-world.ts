import type { World } from '@landpass/client/grid'
import type { BidRecord } from '@landpass/server/land/records/bid'
import { MAINNET_REGISTRIES, type Registries } from '@landpass/server/land/records/contracts'
import type { ContributionRecord } from '@landpass/server/land/records/contribution'
import type { DistrictRecord } from '@landpass/server/land/records/district'
import type { EstateRecord } from '@landpass/server/land/records/estate'
import type { MortgageRecord } from '@landpass/server/land/records/mortgage'
import type { ParcelRecord } from '@landpass/server/land/records/parcel'
import type { PublicationRecord } from '@landpass/server/land/records/publication'
import { Random } from '../random.ts'
import { assetsOf } from './assets.ts'
import { bidsOf } from './bids.ts'
import { iso, PRESENT_S } from './chain-time.ts'
import { planCity } from './city-plan.ts'
import { contributionsOf } from './contributions.ts'
import { PLAZA_DISTRICT_ID, ROAD_DISTRICT_ID } from './district-names.ts'
import { shareOut } from './holdings.ts'
import { districtRecords, estateRecords, parcelRecords } from './land-records.ts'
import { loansOf } from './loans.ts'
import { listingsOf } from './market.ts'
import {
  type CityShape,
  DEFAULT_RADIUS,
  LARGEST_RADIUS,
  SMALLEST_RADIUS,
  squareShape,
  worldShape,
} from './shape.ts'
import { tellStories } from './stories.ts'

/** What is true of every demo world, whatever its seed. */
export const demoWorldInfo = {
  format: 'land-snapshot',
  version: 1,
  /** The world's present: nothing is dated later, but for expiry and due dates. */
  referenceTime: iso(PRESENT_S * 1000),
  defaultSeed: 1,
  defaultRadius: DEFAULT_RADIUS,
  smallestRadius: SMALLEST_RADIUS,
  largestRadius: LARGEST_RADIUS,
  plazaDistrictId: PLAZA_DISTRICT_ID,
  roadDistrictId: ROAD_DISTRICT_ID,
} as const

/** What a demo world covers; the square of radius 150 if neither is given. */
export interface DemoWorldOptions {
  /** The world reaches from -radius to radius on both axes; from 8 to 400. */
  readonly radius?: number
  /** The rectangles that the world covers, instead of a radius: `worldShape` says how the city is fitted to them. */
  readonly world?: World
  /** Contracts of the network that the world is made for; mainnet by default. */
  readonly registries?: Registries | undefined
}

/** The data sets of a snapshot, in its order. Each can be read as often as you like. */
export interface DemoWorld {
  readonly seed: number
  readonly shape: CityShape
  readonly referenceTime: string
  readonly districts: readonly DistrictRecord[]
  readonly contributions: readonly ContributionRecord[]
  /** Generated while they are read, so that not all are in memory at once. */
  readonly parcels: Iterable<ParcelRecord>
  readonly estates: readonly EstateRecord[]
  readonly publications: readonly PublicationRecord[]
  readonly bids: readonly BidRecord[]
  readonly mortgages: readonly MortgageRecord[]
}

/**
 * A made-up city, its owners and their trade. The same seed and options give the same world on every machine.
 *
 * @param seed a whole number from 0 to 4294967295
 * @throws {RangeError} for a seed or radius out of range
 * @example
 * demoWorld(1, { radius: 8 }).parcels // 289 parcels, from -8,-8 to 8,8
 */
export function demoWorld(seed: number, options: DemoWorldOptions = {}): DemoWorld {
  const { radius = DEFAULT_RADIUS, registries = MAINNET_REGISTRIES } = options
  checkRange('seed', seed, 0, 0xffff_ffff)
  checkRange('radius', radius, SMALLEST_RADIUS, LARGEST_RADIUS)
  const random = new Random(seed)
  const shape = options.world ? worldShape(options.world) : squareShape(radius)
  const plan = planCity(shape, random.fork('plan'))
  const holdings = shareOut(plan, random.fork('holdings'))
  const assets = assetsOf(plan, holdings, random.fork('assets'))
  tellStories(assets, holdings.people, random.fork('stories'))
  const listings = listingsOf(assets, random.fork('market'))
  const districts = districtRecords(plan, random.fork('districts'))
  return {
    seed,
    shape,
    referenceTime: demoWorldInfo.referenceTime,
    districts,
    contributions: contributionsOf(districts, holdings.people, random.fork('contributions')),
    parcels: {
      [Symbol.iterator]: () =>
        parcelRecords({ plan, districts, byCell: assets.byCell, registries }, random.fork('parcels')),
    },
    estates: estateRecords(assets.estates, plan, random.fork('estate records')),
    publications: listings.map(({ record }) => record),
    bids: bidsOf(
      { assets, people: holdings.people, listings, registries, grid: plan.grid },
      random.fork('bids'),
    ),
    mortgages: loansOf(listings, holdings.people, random.fork('loans')),
  }
}

function checkRange(name: string, value: number, low: number, high: number): void {
  if (Number.isInteger(value) && value >= low && value <= high) return
  throw new RangeError(`The ${name} of a demo world is a whole number from ${low} to ${high}, not ${value}.`)
}

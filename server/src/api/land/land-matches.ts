import { cellOf, parseCoord } from '@landpass/client/grid'
import { invalidParameter } from '../../http/validation.ts'
import { manaText, weiOf } from '../../land/events/amounts.ts'
import { type AssetName, ZERO_ADDRESS } from '../../land/records/assets.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import { rowsOfOwner } from '../../state/parts/owner-index.ts'
import { findParcelRow } from '../../state/parts/parcel-rows.ts'
import type { AssetRents, OwnerIndex } from '../../state/parts/parts.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import { type PriceList, rankFrom } from '../../state/parts/price-ranks.ts'
import type { Range } from '../common/land-filters.ts'
import { assetsOfCircle, assetsOfColumns } from './area-sets.ts'
import { assetDistricts, assetsInRange, statusSets } from './asset-sets.ts'
import type { LandQuery } from './land-query.ts'
import { type LandView, newestOfferMs, offeredAssets } from './land-view.ts'

/**
 * Which assets a query keeps. Each filter is a set of numbers, and all of them are joined: some 5 µs each for 92,000 assets. Filters of
 * offers and of times look at each of the few assets that are left.
 */

/** Up to so many assets each is compared with a range; with more there is a set of all within it. */
const FEW = 2_000
const NONE = new Uint32Array(0)

/**
 * The assets that a query keeps, whatever their text is.
 *
 * @param among the only ones that are looked at
 * @throws {AppError} `invalid_parameter` where `neighbours_of` is no asset on the map
 */
export function matchingAssets(view: LandView, query: LandQuery, among?: NumberSet): NumberSet {
  const { assets, offers, unlisted, lastSales } = view
  const { currencies, sources, listedSinceMs, endsBeforeMs, soldSinceMs } = query
  const kept = (query.withParcelsOfEstates ? assets.all : assets.standing).copy()
  if (among) kept.keep(among)
  // What is offered in dollars has no price to compare.
  if (query.price || query.pricePerParcel) kept.keep(statusSets(view).priced)

  const keepSets = () => {
    for (const set of setsOf(view, query)) {
      kept.keep(set)
      if (kept.isEmpty && !query.neighboursOf) return
    }
  }
  // Ranges keep none of a few assets, mostly, and then no set has to be made.
  if (!among) keepSets()

  for (const name of ['size', 'width', 'height', 'plaza', 'road'] as const) {
    const range = query[name]
    if (!range) continue
    // Numbers below 0 are unknown.
    const { min = 0, max = Infinity } = range
    const column = assets[name]
    if (kept.count() > FEW) kept.keep(assetsInRange(assets, name, min, max))
    else kept.filter((asset) => column[asset]! >= min && column[asset]! <= max)
  }

  const ofPrice = (range: Range<bigint> | undefined, ranks: Uint32Array, prices: PriceList) => {
    if (!range) return
    const [from, to] = rankRange(range, prices)
    kept.filter((asset) => {
      const rank = ranks[offers.placeOf[asset]!]!
      return rank >= from && rank < to
    })
  }
  ofPrice(query.price, offers.price, offers.prices)
  ofPrice(query.pricePerParcel, offers.pricePerParcel, offers.pricesPerParcel)
  if (currencies || sources || endsBeforeMs !== undefined) {
    const { placeOf, isInDollars, isTrade, expiresAtMs } = offeredAssets(view)
    const filter = (keeps: (place: number) => boolean) => kept.filter((asset) => keeps(placeOf[asset]!))
    kept.keep(statusSets(view).open)
    if (currencies) filter((place) => currencies.includes(isInDollars[place] === 1 ? 'usd' : 'mana'))
    if (sources) filter((place) => sources.includes(isTrade[place] === 1 ? 'trade' : 'order'))
    if (endsBeforeMs !== undefined) filter((place) => expiresAtMs[place]! < endsBeforeMs)
  }
  if (listedSinceMs !== undefined)
    kept.keep(statusSets(view).offered).filter((asset) => newestOfferMs(view, asset) >= listedSinceMs)
  const { rent } = query
  if (rent)
    kept
      .keep(statusSets(view).for_rent)
      .filter((asset) => isWithin(weiOf(unlisted.rentals.get(asset)!.price), rent))
  if (soldSinceMs !== undefined)
    kept.keep(statusSets(view).sold).filter((asset) => lastSales.timeMs[asset]! >= soldSinceMs)
  if (among) keepSets()
  return kept
}

function isWithin(value: bigint, { min, max }: Range<bigint>): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

/** The ranks of the prices within a range: from the first, to before the second. */
function rankRange({ min, max }: Range<bigint>, prices: PriceList): readonly [number, number] {
  const from = min === undefined ? 0 : rankFrom(prices, manaText(min))
  return [from, max === undefined ? prices.length : rankFrom(prices, manaText(max + 1n))]
}

/** The assets that are meant by each of the filters that name statuses, kinds, places or addresses. */
function* setsOf(view: LandView, query: LandQuery): Generator<NumberSet> {
  const { statuses, area, center, radius, assetTypes } = query
  const { estates, count } = view.assets
  if (statuses) yield assetsOfStatus(view, statuses)
  if (query.owner !== undefined) yield ownedAssets(view, query.owner)
  if (query.lessor !== undefined) yield ownedAssets(view, query.lessor).keep(rentedAssets(view))
  if (query.tenant !== undefined) yield rentedAssets(view, query.tenant)
  if (query.mayUpdate !== undefined) yield updatableAssets(view, query.mayUpdate)
  if (query.neighboursOf) yield neighbours(view, query.neighboursOf)
  if (area) yield assetsOfColumns(view, area, () => area)
  if (center && radius !== undefined) yield assetsOfCircle(view, center, radius)
  if (query.districts) yield assetsOfDistricts(view, query.districts)
  if (assetTypes?.length === 1) {
    const set = new NumberSet(count)
    if (assetTypes[0] === 'estate') set.addRange(0, estates)
    else set.addRange(estates, count)
    yield set
  }
}

/** Adds a parcel in the world, and the estate that holds it. */
function addParcel({ assets, parcels }: LandView, set: NumberSet, row: number): void {
  if (row >= parcels.inWorld) return
  set.add(assets.estates + row)
  const estate = parcels.estate[row]!
  if (estate >= 0) set.add(estate)
}

/** Adds an estate and its parcels. */
function addEstate({ assets, parcels }: LandView, set: NumberSet, estate: number): void {
  set.add(estate)
  for (const row of rowsOfEstate(parcels.estate, estate))
    if (row < parcels.inWorld) set.add(assets.estates + row)
}

function rowsOf(index: OwnerIndex, address: string): Uint32Array {
  const place = positionsOf(index.addresses).get(address)
  return place === undefined ? NONE : rowsOfOwner(index, place)
}

function ownedAssets(view: LandView, address: string): NumberSet {
  const { assets, parcels, estates } = view
  const set = new NumberSet(assets.count)
  // The contract that holds the parcels of estates is their owner in the tables alone.
  for (const row of rowsOf(parcels.owners, address)) if (parcels.estate[row]! < 0) addParcel(view, set, row)
  for (const row of rowsOf(estates.owners, address)) addEstate(view, set, row)
  return set
}

/** What is rented now, of all tenants or of one, with the parcels of rented estates. */
function rentedAssets(view: LandView, tenant?: string): NumberSet {
  return assetsOfRents(
    view,
    ({ untilMs, tenants }, place) =>
      untilMs[place]! > view.nowMs && (tenant === undefined || tenants[place] === tenant),
  )
}

function assetsOfRents(view: LandView, isMeant: (rents: AssetRents, place: number) => boolean): NumberSet {
  const { assets, parcels, estates } = view
  const set = new NumberSet(assets.count)
  const add = (rents: AssetRents, addRow: (row: number) => void) => {
    for (const [place, row] of rents.rows.entries()) if (isMeant(rents, place)) addRow(row)
  }
  add(parcels.rents, (row) => {
    if (row < parcels.inWorld) set.add(assets.estates + row)
  })
  add(estates.rents, (row) => addEstate(view, set, row))
  return set
}

/**
 * Who may deploy: the owner, or of rented land the tenant, of land whose rent has ended neither until the lessor claims it, and those
 * to whom they gave rights. An estate's rights are also those of its parcels; a parcel's own are not those of its estate.
 */
function updatableAssets(view: LandView, address: string): NumberSet {
  const { assets, parcels, estates } = view
  if (address === ZERO_ADDRESS) return new NumberSet(assets.count)
  const rented = assetsOfRents(
    view,
    ({ untilMs, isHeld }, place) => untilMs[place]! > view.nowMs || isHeld[place] === 1,
  )
  const set = ownedAssets(view, address).deleteAll(rented).addAll(rentedAssets(view, address))
  for (const row of rowsOf(parcels.operators, address))
    if (row < parcels.inWorld) set.add(assets.estates + row)
  for (const row of rowsOf(estates.operators, address)) addEstate(view, set, row)
  return set
}

const SIDES = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const

function neighbours(view: LandView, { type, id }: AssetName): NumberSet {
  const { assets, parcels, estates, bounds } = view
  const set = new NumberSet(assets.count)
  const place = parseCoord(id)
  const estate = type === 'estate' ? (positionsOf(estates.ids).get(id) ?? -1) : -1
  const own = place ? findParcelRow(bounds, parcels, place) : -1
  const members = place ? Uint32Array.of(own) : estate < 0 ? NONE : rowsOfEstate(parcels.estate, estate)
  if ((members[0] ?? Infinity) >= parcels.inWorld)
    throw invalidParameter('neighbours_of', place ? id : `estate:${id}`, 'a parcel or an estate on the map')
  for (const row of members) {
    for (const [dx, dy] of SIDES) {
      const side = parcels.rowAt[cellOf(bounds, { x: parcels.x[row]! + dx, y: parcels.y[row]! + dy })] ?? -1
      if (side >= 0) addParcel(view, set, side)
    }
  }
  for (const row of members) set.delete(assets.estates + row)
  const holder = place ? parcels.estate[own]! : estate
  if (holder >= 0) set.delete(holder)
  return set
}

function assetsOfDistricts(view: LandView, ids: readonly string[]): NumberSet {
  const places = positionsOf(view.districtIds)
  const wanted = new Set(ids.map((id) => places.get(id)))
  const { inSome, of } = assetDistricts(view)
  return inSome.copy().filter((asset) => of(asset).some((district) => wanted.has(district)))
}

function assetsOfStatus(view: LandView, statuses: NonNullable<LandQuery['statuses']>): NumberSet {
  const { open, for_rent, sold } = statusSets(view)
  const { all } = view.assets
  const sets = {
    open: () => open,
    for_rent: () => for_rent,
    none: () => all.copy().deleteAll(open).deleteAll(for_rent),
    sold: () => sold,
    never_sold: () => all.copy().deleteAll(sold),
    rented: () => rentedAssets(view),
  }
  const set = new NumberSet(view.assets.count)
  for (const status of statuses) set.addAll(sets[status]())
  return set
}

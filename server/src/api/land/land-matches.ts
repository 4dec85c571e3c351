import { type Area, type Coord, cellOf, parseCoord } from '@landpass/client/grid'
import { invalidParameter } from '../../http/validation.ts'
import { manaText, weiOf } from '../../land/events/amounts.ts'
import type { AssetName } from '../../land/records/assets.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { rowsOfOwner } from '../../state/parts/owner-index.ts'
import { findParcelRow } from '../../state/parts/parcel-rows.ts'
import type { AssetRents, OwnerIndex } from '../../state/parts/parts.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import { type PriceList, rankFrom } from '../../state/parts/price-ranks.ts'
import type { Range } from '../common/land-filters.ts'
import type { LandQuery } from './land-query.ts'
import { type LandView, type OfferOfAsset, offeredAssets, offerOfAsset } from './land-view.ts'

/**
 * Which assets a query keeps. Each filter goes once through what the filters before it have kept, over a column of numbers or a mark
 * per asset: all of them together take some 2 ms for 92,000 assets.
 */

/** A byte per asset: 1 where it is meant. */
export type Marks = Uint8Array

/**
 * The numbers of the assets that a query keeps, ascending.
 *
 * @param withText the assets that have the words of the query, where it has some
 * @param among only these are looked at
 * @throws {AppError} `invalid_parameter` where `neighbours_of` is no asset on the map
 */
export function matchingAssets(
  view: LandView,
  query: LandQuery,
  withText: Marks | undefined,
  among?: Uint32Array,
): Uint32Array {
  const { assets, offers, parcels, unlisted, lastSales } = view
  const { currencies, sources, listedSinceMs, endsBeforeMs, soldSinceMs } = query
  const needsOffer = currencies || sources || listedSinceMs !== undefined || endsBeforeMs !== undefined
  // What is offered in dollars has no price to compare.
  const needsPrice = query.price || query.pricePerParcel
  const isRow = (asset: number) => {
    if (needsPrice) return offers.placeOf[asset]! >= 0
    if (needsOffer) return offerOfAsset(view, asset) !== undefined
    if (assets.size[asset]! === 0) return false
    return query.withParcelsOfEstates || asset < assets.estates || parcels.estate[asset - assets.estates]! < 0
  }
  const standing = query.withParcelsOfEstates ? assets.all : assets.standing
  const rows = needsPrice ? offers.assets : needsOffer ? offeredAssets(view) : standing
  const places = placesOf(view, query)
  // A place is mostly a small part of the world: then only its assets are looked at.
  const place: Uint32Array | undefined = among ? undefined : places.next().value
  const candidates = among ?? (place && place.length < rows.length ? place : undefined)
  let kept = candidates ? keep(candidates, isRow) : place ? keepMarked(rows, marked(view, place)) : rows

  const keepAllMarked = () => {
    for (const marks of marksOf(view, query, withText, places)) {
      kept = keepMarked(kept, marks)
      if (kept.length === 0 && !query.neighboursOf) return
    }
    if (query.statuses) kept = keep(kept, isOfStatus(view, query.statuses))
  }
  // Of a few assets the ranges keep none, mostly, and then neither places nor marks have to be found.
  if (!among) keepAllMarked()

  const inRange = (range: Range<number> | undefined, column: Int32Array) => {
    if (range) kept = keepRange(kept, column, range)
  }
  inRange(query.size, assets.size)
  inRange(query.width, assets.width)
  inRange(query.height, assets.height)
  inRange(query.plaza, assets.plaza)
  inRange(query.road, assets.road)

  const ofOffer = (keeps: (offer: OfferOfAsset) => boolean) => {
    kept = keep(kept, (asset) => keeps(offerOfAsset(view, asset)!))
  }
  const ofPrice = (range: Range<bigint> | undefined, ranks: Uint32Array, prices: PriceList) => {
    if (!range) return
    const [from, to] = rankRange(range, prices)
    kept = keep(kept, (asset) => {
      const rank = ranks[offers.placeOf[asset]!]!
      return rank >= from && rank < to
    })
  }
  ofPrice(query.price, offers.price, offers.prices)
  ofPrice(query.pricePerParcel, offers.pricePerParcel, offers.pricesPerParcel)
  if (currencies) ofOffer(({ currency }) => currencies.includes(currency))
  if (sources) ofOffer(({ source }) => sources.includes(source))
  if (listedSinceMs !== undefined) ofOffer(({ newestAtMs }) => newestAtMs >= listedSinceMs)
  if (endsBeforeMs !== undefined) ofOffer(({ expiresAtMs }) => expiresAtMs < endsBeforeMs)
  const { rent } = query
  if (rent)
    kept = keep(kept, (asset) => {
      const offer = unlisted.rentals.get(asset)
      return offer !== undefined && isWithin(weiOf(offer.price), rent)
    })
  if (soldSinceMs !== undefined)
    kept = keep(kept, (asset) => lastSales.timeMs[asset]! >= Math.max(0, soldSinceMs))
  if (among) keepAllMarked()
  return kept
}

const NONE = new Uint32Array(0)

function keep(assets: Uint32Array, keeps: (asset: number) => boolean): Uint32Array {
  const kept = new Uint32Array(assets.length)
  let count = 0
  for (const asset of assets) if (keeps(asset)) kept[count++] = asset
  return kept.subarray(0, count)
}

// The next two are loops of their own, without a call for each asset, because they may go over the whole world several times.

function keepMarked(assets: Uint32Array, marks: Marks): Uint32Array {
  const kept = new Uint32Array(assets.length)
  let count = 0
  for (let i = 0; i < assets.length; i++) {
    const asset = assets[i]!
    if (marks[asset] === 1) kept[count++] = asset
  }
  return kept.subarray(0, count)
}

/** Numbers below 0 are unknown: no range has them. */
function keepRange(assets: Uint32Array, column: Int32Array, { min = 0, max = Infinity }: Range<number>) {
  const kept = new Uint32Array(assets.length)
  let count = 0
  for (let i = 0; i < assets.length; i++) {
    const asset = assets[i]!
    const value = column[asset]!
    if (value >= min && value <= max) kept[count++] = asset
  }
  return kept.subarray(0, count)
}

function isWithin(value: bigint, { min, max }: Range<bigint>): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

/** The ranks of the prices within a range: from the first, to before the second. */
function rankRange({ min, max }: Range<bigint>, prices: PriceList): readonly [number, number] {
  const from = min === undefined ? 0 : rankFrom(prices, manaText(min))
  return [from, max === undefined ? prices.length : rankFrom(prices, manaText(max + 1n))]
}

/** The assets that are meant by each of the filters that name assets, places or addresses. */
function* marksOf(
  view: LandView,
  query: LandQuery,
  withText: Marks | undefined,
  places: Iterable<Uint32Array>,
): Generator<Marks> {
  const { assets } = view
  if (withText) yield withText
  if (query.owner !== undefined) yield marksOfOwned(view, query.owner)
  if (query.lessor !== undefined) yield both(marksOfOwned(view, query.lessor), rentedMarks(view))
  if (query.tenant !== undefined) yield rentedMarks(view, query.tenant)
  if (query.mayUpdate !== undefined) yield marksOfUpdatable(view, query.mayUpdate)
  if (query.neighboursOf) yield marksOfNeighbours(view, query.neighboursOf)
  for (const place of places) yield marked(view, place)
  if (query.districts) yield marksOfDistricts(view, query.districts)
  if (query.assetTypes?.length === 1) {
    const marks = new Uint8Array(assets.count)
    yield query.assetTypes[0] === 'estate' ? marks.fill(1, 0, assets.estates) : marks.fill(1, assets.estates)
  }
}

/** The assets of each place that is asked for, ascending. */
function* placesOf(view: LandView, { area, center, radius }: LandQuery): Generator<Uint32Array, undefined> {
  if (area) yield assetsOfColumns(view, area, () => area)
  if (center && radius !== undefined) yield assetsOfCircle(view, center, radius)
}

function marked({ assets }: LandView, some: Uint32Array): Marks {
  const marks = new Uint8Array(assets.count)
  for (let i = 0; i < some.length; i++) marks[some[i]!] = 1
  return marks
}

/** Writes into the first ones. */
function both(some: Marks, others: Marks): Marks {
  for (let asset = 0; asset < some.length; asset++) some[asset]! &= others[asset]!
  return some
}

/** Marks a parcel in the world, and the estate that holds it. */
function markParcel({ assets, parcels }: LandView, marks: Marks, row: number): void {
  if (row >= parcels.inWorld) return
  marks[assets.estates + row] = 1
  const estate = parcels.estate[row]!
  if (estate >= 0) marks[estate] = 1
}

/** Marks, or unmarks, an estate and its parcels. */
function markEstate({ assets, parcels }: LandView, marks: Marks, estate: number, mark = 1): void {
  marks[estate] = mark
  for (const row of rowsOfEstate(parcels.estate, estate))
    if (row < parcels.inWorld) marks[assets.estates + row] = mark
}

function rowsOf(index: OwnerIndex, address: string): Uint32Array {
  const place = positionsOf(index.addresses).get(address)
  return place === undefined ? NONE : rowsOfOwner(index, place)
}

function marksOfOwned(view: LandView, address: string): Marks {
  const { assets, parcels, estates } = view
  const marks = new Uint8Array(assets.count)
  // The contract that holds the parcels of estates is their owner in the tables alone.
  for (const row of rowsOf(parcels.owners, address))
    if (parcels.estate[row]! < 0) markParcel(view, marks, row)
  for (const row of rowsOf(estates.owners, address)) markEstate(view, marks, row)
  return marks
}

/** What is rented now, of all tenants or of one, with the parcels of rented estates. */
function rentedMarks(view: LandView, tenant?: string): Marks {
  return marksOfRents(
    view,
    ({ untilMs, tenants }, place) =>
      untilMs[place]! > view.nowMs && (tenant === undefined || tenants[place] === tenant),
  )
}

function marksOfRents(view: LandView, isMeant: (rents: AssetRents, place: number) => boolean): Marks {
  const { assets, parcels, estates } = view
  const marks = new Uint8Array(assets.count)
  const mark = (rents: AssetRents, markRow: (row: number) => void) => {
    for (const [place, row] of rents.rows.entries()) if (isMeant(rents, place)) markRow(row)
  }
  mark(parcels.rents, (row) => {
    if (row < parcels.inWorld) marks[assets.estates + row] = 1
  })
  mark(estates.rents, (row) => markEstate(view, marks, row))
  return marks
}

/**
 * Who may deploy: the owner, or of rented land the tenant, of land whose rent has ended neither until the lessor claims it, and those to whom they gave rights. An estate's rights are also
 * those of its parcels; a parcel's own are not those of its estate.
 */
function marksOfUpdatable(view: LandView, address: string): Marks {
  const { assets, parcels, estates } = view
  const marks = marksOfOwned(view, address)
  const rented = marksOfRents(
    view,
    ({ untilMs, isHeld }, place) => untilMs[place]! > view.nowMs || isHeld[place] === 1,
  )
  const ofTenant = rentedMarks(view, address)
  for (let asset = 0; asset < assets.count; asset++) if (rented[asset] === 1) marks[asset] = ofTenant[asset]!
  for (const row of rowsOf(parcels.operators, address))
    if (row < parcels.inWorld) marks[assets.estates + row] = 1
  for (const row of rowsOf(estates.operators, address)) markEstate(view, marks, row)
  return marks
}

const SIDES = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const

function marksOfNeighbours(view: LandView, { type, id }: AssetName): Marks {
  const { assets, parcels, estates, bounds } = view
  const marks = new Uint8Array(assets.count)
  const place = parseCoord(id)
  const estate = type === 'estate' ? (positionsOf(estates.ids).get(id) ?? -1) : -1
  const own = place ? findParcelRow(bounds, parcels, place) : -1
  const members = place ? Uint32Array.of(own) : estate < 0 ? NONE : rowsOfEstate(parcels.estate, estate)
  if ((members[0] ?? Infinity) >= parcels.inWorld)
    throw invalidParameter('neighbours_of', place ? id : `estate:${id}`, 'a parcel or an estate on the map')
  for (const row of members) {
    for (const [dx, dy] of SIDES) {
      const side = parcels.rowAt[cellOf(bounds, { x: parcels.x[row]! + dx, y: parcels.y[row]! + dy })] ?? -1
      if (side >= 0) markParcel(view, marks, side)
    }
  }
  if (estate >= 0) markEstate(view, marks, estate, 0)
  else {
    marks[assets.estates + own] = 0
    if (parcels.estate[own]! >= 0) marks[parcels.estate[own]!] = 0
  }
  return marks
}

function assetsOfCircle(view: LandView, { x, y }: Coord, radius: number): Uint32Array {
  const reach = Math.floor(radius)
  return assetsOfColumns(view, { minX: x - reach, maxX: x + reach }, (column) => {
    const left = radius * radius - (column - x) ** 2
    let up = Math.floor(Math.sqrt(left))
    // The root of a large number may be rounded to the next whole one.
    if (up * up > left) up -= 1
    return { minY: y - up, maxY: y + up }
  })
}

/** The parcels of columns, each from one row of parcels to another, and the estates that hold them. */
function assetsOfColumns(
  { assets, parcels, bounds }: LandView,
  { minX, maxX }: Pick<Area, 'minX' | 'maxX'>,
  rowsAt: (x: number) => Pick<Area, 'minY' | 'maxY'>,
): Uint32Array {
  const { rowAt, estate } = parcels
  const height = bounds.maxY - bounds.minY + 1
  const [west, east] = [Math.max(bounds.minX, minX), Math.min(bounds.maxX, maxX)]
  const found = new Uint32Array(Math.max(0, east - west + 1) * height)
  let count = 0
  const estates = new Set<number>()
  for (let x = west; x <= east; x++) {
    const { minY, maxY } = rowsAt(x)
    const column = (x - bounds.minX) * height + bounds.maxY
    const last = column - Math.max(bounds.minY, minY)
    for (let cell = column - Math.min(bounds.maxY, maxY); cell <= last; cell++) {
      const row = rowAt[cell]!
      if (row < 0) continue
      found[count++] = assets.estates + row
      if (estate[row]! >= 0) estates.add(estate[row]!)
    }
  }
  const all = new Uint32Array(estates.size + count)
  all.set([...estates].sort((a, b) => a - b))
  all.set(found.subarray(0, count), estates.size)
  return all
}

function marksOfDistricts(view: LandView, ids: readonly string[]): Marks {
  const { assets, parcels, districtIds } = view
  const marks = new Uint8Array(assets.count)
  const wanted = new Uint8Array(districtIds.length)
  for (const id of ids) {
    const district = positionsOf(districtIds).get(id)
    if (district !== undefined) wanted[district] = 1
  }
  for (let row = 0; row < parcels.inWorld; row++)
    if (wanted[parcels.district[row]!] === 1) markParcel(view, marks, row)
  return marks
}

/** Whether an asset has one of the statuses. */
function isOfStatus(
  view: LandView,
  statuses: NonNullable<LandQuery['statuses']>,
): (asset: number) => boolean {
  const { offers, unlisted, lastSales } = view
  const { dollars, rentals } = unlisted
  const wants = (status: (typeof statuses)[number]) => statuses.includes(status)
  const rented = wants('rented') ? rentedMarks(view) : undefined
  const [open, forRent, none] = [wants('open'), wants('for_rent'), wants('none')]
  const [sold, never] = [wants('sold'), wants('never_sold')]
  return (asset) => {
    if (rented?.[asset] === 1) return true
    if (lastSales.timeMs[asset]! < 0 ? never : sold) return true
    if (!open && !forRent && !none) return false
    const isOpen = offers.placeOf[asset]! >= 0 || dollars.has(asset)
    const isForRent = rentals.has(asset)
    return (isOpen && open) || (isForRent && forRent) || (none && !isOpen && !isForRent)
  }
}

import { type Area, type Coord, cellOf, parseCoord } from '@landpass/client/grid'
import { invalidParameter } from '../../http/validation.ts'
import { manaText } from '../../land/events/amounts.ts'
import type { AssetName } from '../../land/records/assets.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { rowsOfOwner } from '../../state/parts/owner-index.ts'
import { findParcelRow } from '../../state/parts/parcel-rows.ts'
import type { AssetRents, OwnerIndex } from '../../state/parts/parts.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { PriceList } from '../../state/parts/price-ranks.ts'
import type { Range } from '../common/land-filters.ts'
import type { LandQuery } from './land-query.ts'
import { rankFrom } from './land-sorts.ts'
import type { LandView } from './land-view.ts'

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
 * @throws {AppError} `invalid_parameter` where `neighbours_of` is no asset on the map
 */
export function matchingAssets(view: LandView, query: LandQuery, withText: Marks | undefined): Uint32Array {
  const { assets, offers, lastSales, publications } = view
  const needsOffer =
    query.price ||
    query.pricePerParcel ||
    query.currencies ||
    query.sources ||
    query.listedSinceMs !== undefined ||
    query.endsBeforeMs !== undefined
  let kept = needsOffer ? offers.assets : query.withParcelsOfEstates ? assets.all : assets.standing
  // There are no rental offers, and all open offers are orders in MANA.
  if (query.rent || isWithout(query.currencies, 'mana') || isWithout(query.sources, 'order')) return NONE
  for (const marks of marksOf(view, query, withText)) kept = keep(kept, (asset) => marks[asset] === 1)

  const inRange = (range: Range<number> | undefined, column: Int32Array) => {
    if (range) kept = keepRange(kept, column, range)
  }
  inRange(query.size, assets.size)
  inRange(query.width, assets.width)
  inRange(query.height, assets.height)
  inRange(query.plaza, assets.plaza)
  inRange(query.road, assets.road)

  const ofOffer = (keeps: (place: number) => boolean) => {
    kept = keep(kept, (asset) => keeps(offers.placeOf[asset]!))
  }
  const ofPrice = (range: Range<bigint> | undefined, ranks: Uint32Array, prices: PriceList) => {
    if (!range) return
    const [from, to] = rankRange(range, prices)
    ofOffer((place) => ranks[place]! >= from && ranks[place]! < to)
  }
  ofPrice(query.price, offers.price, offers.prices)
  ofPrice(query.pricePerParcel, offers.pricePerParcel, offers.pricesPerParcel)
  const { listedSinceMs, endsBeforeMs, soldSinceMs } = query
  if (listedSinceMs !== undefined) ofOffer((place) => offers.listedAtMs[place]! >= listedSinceMs)
  if (endsBeforeMs !== undefined) ofOffer((place) => offers.expiresAtMs[place]! < endsBeforeMs)
  // Of an asset that was never sold there is no time, which no comparison holds for.
  if (soldSinceMs !== undefined)
    kept = keep(kept, (asset) => publications.updatedAtMs[lastSales[asset]!]! >= soldSinceMs)
  return kept
}

const NONE = new Uint32Array(0)

function isWithout<Word>(words: readonly Word[] | undefined, word: Word): boolean {
  return words !== undefined && !words.includes(word)
}

function keep(assets: Uint32Array, keeps: (asset: number) => boolean): Uint32Array {
  const kept = new Uint32Array(assets.length)
  let count = 0
  for (const asset of assets) if (keeps(asset)) kept[count++] = asset
  return kept.subarray(0, count)
}

/** Numbers below 0 are unknown: no range has them. */
function keepRange(assets: Uint32Array, column: Int32Array, { min = 0, max = Infinity }: Range<number>) {
  return keep(assets, (asset) => column[asset]! >= min && column[asset]! <= max)
}

/** The ranks of the prices within a range: from the first, to before the second. */
function rankRange({ min, max }: Range<bigint>, prices: PriceList): readonly [number, number] {
  const from = min === undefined ? 0 : rankFrom(prices, manaText(min))
  return [from, max === undefined ? prices.length : rankFrom(prices, manaText(max + 1n))]
}

/** The assets that are meant by each of the filters that name assets, places or addresses. */
function* marksOf(view: LandView, query: LandQuery, withText: Marks | undefined): Generator<Marks> {
  const { assets } = view
  if (withText) yield withText
  if (query.owner !== undefined) yield marksOfOwned(view, query.owner)
  if (query.lessor !== undefined) yield both(marksOfOwned(view, query.lessor), rentedMarks(view))
  if (query.tenant !== undefined) yield rentedMarks(view, query.tenant)
  if (query.mayUpdate !== undefined) yield marksOfUpdatable(view, query.mayUpdate)
  if (query.neighboursOf) yield marksOfNeighbours(view, query.neighboursOf)
  if (query.area) yield marksOfArea(view, query.area, () => true)
  const { center, radius } = query
  if (center && radius !== undefined) yield marksOfCircle(view, center, radius)
  if (query.districts) yield marksOfDistricts(view, query.districts)
  if (query.assetTypes?.length === 1) {
    const marks = new Uint8Array(assets.count)
    yield query.assetTypes[0] === 'estate' ? marks.fill(1, 0, assets.estates) : marks.fill(1, assets.estates)
  }
  if (query.statuses) yield marksOfStatuses(view, query.statuses)
}

function both(some: Marks, others: Marks): Marks {
  return some.map((mark, asset) => mark & others[asset]!)
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
  const { assets, parcels, estates, nowMs } = view
  const marks = new Uint8Array(assets.count)
  const mark = ({ rows, untilMs, tenants }: AssetRents, markRow: (row: number) => void) => {
    for (const [place, row] of rows.entries())
      if (untilMs[place]! > nowMs && (tenant === undefined || tenants[place] === tenant)) markRow(row)
  }
  mark(parcels.rents, (row) => {
    if (row < parcels.inWorld) marks[assets.estates + row] = 1
  })
  mark(estates.rents, (row) => markEstate(view, marks, row))
  return marks
}

/**
 * Who may deploy: the owner, or of rented land the tenant, and those to whom they gave rights. An estate's rights are also
 * those of its parcels; a parcel's own are not those of its estate.
 */
function marksOfUpdatable(view: LandView, address: string): Marks {
  const { assets, parcels, estates } = view
  const rented = rentedMarks(view)
  const marks = marksOfOwned(view, address).map((mark, asset) => mark & (1 - rented[asset]!))
  for (const [asset, mark] of rentedMarks(view, address).entries()) marks[asset]! |= mark
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

function marksOfArea(view: LandView, area: Area, isMeant: (x: number, y: number) => boolean): Marks {
  const { assets, parcels, bounds } = view
  const marks = new Uint8Array(assets.count)
  const height = bounds.maxY - bounds.minY + 1
  const [north, south] = [Math.min(bounds.maxY, area.maxY), Math.max(bounds.minY, area.minY)]
  for (let x = Math.max(bounds.minX, area.minX); x <= Math.min(bounds.maxX, area.maxX); x++) {
    const column = (x - bounds.minX) * height + bounds.maxY
    for (let y = north; y >= south; y--) {
      const row = parcels.rowAt[column - y]!
      if (row >= 0 && isMeant(x, y)) markParcel(view, marks, row)
    }
  }
  return marks
}

function marksOfCircle(view: LandView, { x, y }: Coord, radius: number): Marks {
  const reach = Math.floor(radius)
  const box = { minX: x - reach, maxX: x + reach, minY: y - reach, maxY: y + reach }
  return marksOfArea(view, box, (otherX, otherY) => (otherX - x) ** 2 + (otherY - y) ** 2 <= radius * radius)
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

function marksOfStatuses(view: LandView, statuses: NonNullable<LandQuery['statuses']>): Marks {
  const { assets, offers, lastSales } = view
  const marks = new Uint8Array(assets.count)
  const markWhere = (isMeant: (asset: number) => boolean) => {
    for (let asset = 0; asset < assets.count; asset++) if (isMeant(asset)) marks[asset] = 1
  }
  for (const status of statuses) {
    if (status === 'open') for (const asset of offers.assets) marks[asset] = 1
    else if (status === 'sold') markWhere((asset) => lastSales[asset]! >= 0)
    else if (status === 'never_sold') markWhere((asset) => lastSales[asset]! < 0)
    else if (status === 'none') markWhere((asset) => offers.placeOf[asset]! < 0)
    else if (status === 'rented') {
      const rented = rentedMarks(view)
      markWhere((asset) => rented[asset] === 1)
    }
    // for_rent: there are no rental offers.
  }
  return marks
}

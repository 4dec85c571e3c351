import { type Area, cellOf, parseCoord } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import type { Registries } from '../../land/records/contracts.ts'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import { valueAt } from '../../state/parts/columns.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import { ownerAt } from '../../state/parts/owner-index.ts'
import { findParcelRow } from '../../state/parts/parcel-rows.ts'
import type { DistrictParts, EstateParts, ParcelParts, StateParts } from '../../state/parts/parts.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import { KIND_MASK, KINDS, type Kind } from '../../state/parts/tile-cells.ts'

/**
 * The data of which the tiles of one revision are made, between two expiries: flat arrays of the state, and offers. It
 * has none of the state's JSON, so that a slow client holds a few megabytes in memory, not the whole state.
 */
export interface TileSource {
  readonly bounds: Area
  readonly cells: Uint8Array
  readonly parcels: Omit<ParcelParts, 'json' | 'operators'>
  readonly estates: Omit<EstateParts, 'json' | 'operators'>
  readonly districts: Pick<DistrictParts, 'ids' | 'names'>
  readonly registries: Registries
  readonly openPrice: readonly string[]
  readonly openExpiresAtMs: Float64Array
  /** Per parcel, the number of the offer that is shown for it, or -1. */
  readonly offers: Int32Array
  readonly rentals: RentalTiles
}

/** Open offers to rent, by the rows of parcels and estates. Expired ones are in it too. */
export interface RentalTiles {
  readonly ofParcel: ReadonlyMap<number, UnlistedOffer>
  readonly ofEstate: ReadonlyMap<number, UnlistedOffer>
}

/** The tile data of a parcel. Unknown fields are undefined. */
export interface Tile {
  readonly x: number
  readonly y: number
  readonly kind: Kind
  /** Bits: see tile-cells.ts. */
  readonly joins: number
  /** The last change of the parcel or its estate, in seconds since 1970. */
  readonly updatedAtS: number
  /** The name of the estate, or else of the parcel. */
  readonly name: string | undefined
  /** Roads and plazas are districts, too. */
  readonly districtId: string | undefined
  readonly districtName: string | undefined
  readonly estateId: string | undefined
  /** The owner of the estate, or else of the parcel; never the contract that holds the parcels of estates. */
  readonly owner: string | undefined
  /** In MANA, as decimal text with every digit. */
  readonly price: string | undefined
  readonly expiresAtS: number | undefined
  /** The newest offer to rent it, or its estate; its end may have passed. */
  readonly rental: UnlistedOffer | undefined
  /** The contracts of its token and of its estate's. */
  readonly registries: Registries
}

export function tileSource(
  { bounds, cells, ...parts }: StateParts,
  { offers }: OpenOffers,
  registries: Registries,
): TileSource {
  const { json: _parcels, operators: _ofParcels, ...parcels } = parts.parcels
  const { json: _estates, operators: _ofEstates, ...estates } = parts.estates
  const { openPrice, openExpiresAtMs } = parts.publications
  const { ids, names } = parts.districts
  const offered = { openPrice, openExpiresAtMs, offers, rentals: rentalTiles({ ...parts, bounds }) }
  return { bounds, cells, parcels, estates, districts: { ids, names }, registries, ...offered }
}

const rentalsOf = new WeakMap<readonly UnlistedOffer[], { ids: readonly string[]; tiles: RentalTiles }>()

/** Cached until such an offer, or the rows of estates change. */
function rentalTiles({
  bounds,
  parcels,
  estates,
  unlisted,
}: Pick<StateParts, 'bounds' | 'parcels' | 'estates' | 'unlisted'>): RentalTiles {
  const known = rentalsOf.get(unlisted)
  if (known?.ids === estates.ids) return known.tiles
  const tiles = { ofParcel: new Map<number, UnlistedOffer>(), ofEstate: new Map<number, UnlistedOffer>() }
  const oldestFirst = unlisted.filter(({ kind }) => kind === 'rental').sort((a, b) => a.madeAtMs - b.madeAtMs)
  for (const offer of oldestFirst) {
    const at = parseCoord(offer.assetId)
    if (offer.assetType === 'estate')
      tiles.ofEstate.set(positionsOf(estates.ids).get(offer.assetId) ?? -1, offer)
    else if (at) tiles.ofParcel.set(findParcelRow(bounds, parcels, at), offer)
  }
  rentalsOf.set(unlisted, { ids: estates.ids, tiles })
  return tiles
}

export function tileAt(source: TileSource, row: number): Tile {
  const { parcels, estates } = source
  const estate = parcels.estate[row]!
  const offer = source.offers[row]!
  const inEstate = estate >= 0
  const rental = rentalOf(source, row)
  const cell = source.cells[cellOfRow(source, row)]!
  return {
    x: parcels.x[row]!,
    y: parcels.y[row]!,
    kind: KIND_NAMES[cell & KIND_MASK]!,
    joins: cell & ~KIND_MASK,
    updatedAtS: Math.max(
      valueAt(parcels.updatedAtS, row)!,
      inEstate ? valueAt(estates.updatedAtS, estate)! : 0,
      rental ? Math.floor(rental.madeAtMs / SECOND_MS) : 0,
    ),
    name: (inEstate ? estates.names[estate] : undefined) ?? parcels.names[row],
    districtId: source.districts.ids[parcels.district[row]!],
    districtName: source.districts.names[parcels.district[row]!],
    estateId: inEstate ? estates.ids[estate] : undefined,
    owner: inEstate ? ownerAt(estates, estate) : ownerAt(parcels, row),
    price: offer < 0 ? undefined : source.openPrice[offer],
    expiresAtS: offer < 0 ? undefined : Math.floor(source.openExpiresAtMs[offer]! / SECOND_MS),
    rental,
    registries: source.registries,
  }
}

function rentalOf({ rentals, parcels }: TileSource, row: number): UnlistedOffer | undefined {
  const estate = parcels.estate[row]!
  return estate >= 0 ? rentals.ofEstate.get(estate) : rentals.ofParcel.get(row)
}

const KIND_NAMES = Object.keys(KINDS).sort((a, b) => KINDS[a as Kind] - KINDS[b as Kind]) as readonly Kind[]

/** Whether a row is the same tile in two sources. Compares values, without writing the tile. */
export function isSameTile(a: TileSource, b: TileSource, row: number): boolean {
  return (
    a.parcels.x[row] === b.parcels.x[row] &&
    a.parcels.y[row] === b.parcels.y[row] &&
    a.cells[cellOfRow(a, row)] === b.cells[cellOfRow(b, row)] &&
    valueAt(a.parcels.updatedAtS, row) === valueAt(b.parcels.updatedAtS, row) &&
    a.parcels.names[row] === b.parcels.names[row] &&
    a.districts.ids[a.parcels.district[row]!] === b.districts.ids[b.parcels.district[row]!] &&
    isSameOffer(a, a.offers[row]!, b, b.offers[row]!) &&
    rentalOf(a, row)?.hash === rentalOf(b, row)?.hash &&
    isSameHolder(a, b, row)
  )
}

function isSameOffer(a: TileSource, offerOfA: number, b: TileSource, offerOfB: number): boolean {
  if (offerOfA < 0 || offerOfB < 0) return offerOfA < 0 && offerOfB < 0
  return (
    a.openPrice[offerOfA] === b.openPrice[offerOfB] &&
    a.openExpiresAtMs[offerOfA] === b.openExpiresAtMs[offerOfB]
  )
}

/** Whether the row has the same owner, or the same estate with equal fields. */
function isSameHolder(a: TileSource, b: TileSource, row: number): boolean {
  const estateOfA = a.parcels.estate[row]!
  const estateOfB = b.parcels.estate[row]!
  if (estateOfA < 0 || estateOfB < 0) {
    return estateOfA === estateOfB && ownerAt(a.parcels, row) === ownerAt(b.parcels, row)
  }
  return (
    a.estates.ids[estateOfA] === b.estates.ids[estateOfB] &&
    valueAt(a.estates.updatedAtS, estateOfA) === valueAt(b.estates.updatedAtS, estateOfB) &&
    a.estates.names[estateOfA] === b.estates.names[estateOfB] &&
    ownerAt(a.estates, estateOfA) === ownerAt(b.estates, estateOfB)
  )
}

function cellOfRow({ bounds, parcels }: TileSource, row: number): number {
  return cellOf(bounds, { x: parcels.x[row]!, y: parcels.y[row]! })
}

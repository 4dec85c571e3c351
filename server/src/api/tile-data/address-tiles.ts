import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { State } from '../../state/state.ts'
import { ADDRESS_TYPES, type AddressType, writeAddressTile } from './tile-forms.ts'
import { type TileSource, tileAt } from './tile-source.ts'

/** Tiles of one piece. */
const PIECE_ROWS = 256

/** A parcel whose tile has another type for one address. */
export interface AddressTile {
  readonly row: number
  readonly type: AddressType
}

/**
 * The tiles that have another type for an address, by x ascending, then y descending. If several types apply, owning
 * comes before operating, and operating before a contribution.
 *
 * @param districtIds the districts to which the address contributed
 */
export function findAddressTiles(
  state: State,
  openOffers: OpenOffers,
  address: string,
  districtIds: readonly string[],
): AddressTile[] {
  const { parcels } = state.parts
  const types = new Map<number, AddressType>()
  const isOnSale = (row: number) => openOffers.offers[row]! >= 0
  // Later entries replace earlier ones.
  for (const row of rowsOfDistricts(state, districtIds)) types.set(row, ADDRESS_TYPES.contributed)
  for (const row of state.parcelsOperatedBy(address)) types.set(row, ADDRESS_TYPES.operated)
  for (const row of rowsOfEstates(state, state.estatesOperatedBy(address)))
    types.set(row, ADDRESS_TYPES.operated)
  for (const row of state.parcelsOf(address)) {
    // The contract that holds the parcels of estates is not their owner: the estate's owner is.
    if (parcels.estate[row]! >= 0) continue
    types.set(row, isOnSale(row) ? ADDRESS_TYPES.ownParcelOnSale : ADDRESS_TYPES.ownParcel)
  }
  for (const row of rowsOfEstates(state, state.estatesOf(address)))
    types.set(row, isOnSale(row) ? ADDRESS_TYPES.ownEstateOnSale : ADDRESS_TYPES.ownEstate)
  return Array.from(types, ([row, type]) => ({ row, type })).sort((a, b) => a.row - b.row)
}

/** The tiles as members of a JSON object, each followed by a comma. */
export function* addressTilePieces(source: TileSource, tiles: readonly AddressTile[]): Generator<Uint8Array> {
  for (let from = 0; from < tiles.length; from += PIECE_ROWS) {
    let text = ''
    for (const { row, type } of tiles.slice(from, from + PIECE_ROWS))
      text += writeAddressTile(tileAt(source, row), type)
    yield Buffer.from(text)
  }
}

function* rowsOfEstates({ parts }: State, estates: Uint32Array): Generator<number> {
  for (const estate of estates) yield* rowsOfEstate(parts.parcels.estate, estate)
}

function* rowsOfDistricts({ parts }: State, ids: readonly string[]): Generator<number> {
  if (ids.length === 0) return
  const places = positionsOf(parts.districts.ids)
  const wanted = new Set(ids.map((id) => places.get(id)))
  const { district } = parts.parcels
  for (let row = 0; row < district.length; row++) {
    if (district[row]! >= 0 && wanted.has(district[row])) yield row
  }
}

import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { State } from '../../state/state.ts'
import { ADDRESS_TYPES, type AddressType, writeAddressTile } from './tile-forms.ts'
import { type TileSource, tileAt } from './tile-source.ts'

/** So many tiles are written at once. */
const PIECE_ROWS = 256

/** A parcel whose tile looks otherwise to one address than to everybody. */
export interface AddressTile {
  readonly row: number
  readonly type: AddressType
}

/**
 * The tiles that look otherwise to an address than to everybody, by x ascending, then y descending. Where several
 * reasons hold, owning counts before operating, and operating before a contribution.
 *
 * @param districtIds the districts to which the address contributed
 */
export function findAddressTiles(
  state: State,
  sales: OpenOffers,
  address: string,
  districtIds: readonly string[],
): AddressTile[] {
  const { parcels } = state.parts
  const types = new Map<number, AddressType>()
  const isOnSale = (row: number) => sales.offers[row]! >= 0
  // The later ones replace the earlier ones.
  for (const row of rowsOfDistricts(state, districtIds)) types.set(row, ADDRESS_TYPES.contributed)
  for (const row of state.parcelsOperatedBy(address)) types.set(row, ADDRESS_TYPES.operated)
  for (const row of rowsOfEstates(state, state.estatesOperatedBy(address)))
    types.set(row, ADDRESS_TYPES.operated)
  for (const row of state.parcelsOf(address)) {
    // The contract that holds the parcels of estates owns none of them: their owner is that of the estate.
    if (parcels.estate[row]! >= 0) continue
    types.set(row, isOnSale(row) ? ADDRESS_TYPES.ownParcelOnSale : ADDRESS_TYPES.ownParcel)
  }
  for (const row of rowsOfEstates(state, state.estatesOf(address)))
    types.set(row, isOnSale(row) ? ADDRESS_TYPES.ownEstateOnSale : ADDRESS_TYPES.ownEstate)
  return Array.from(types, ([row, type]) => ({ row, type })).sort((a, b) => a.row - b.row)
}

/** The tiles as pieces of members of a JSON object, each member with a comma after it. */
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

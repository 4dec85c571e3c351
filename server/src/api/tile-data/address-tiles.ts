import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { State } from '../../state/state.ts'
import { ADDRESS_TYPES, type AddressType, writeAddressTile } from './tile-forms.ts'
import { type TileSource, tileAt } from './tile-source.ts'

/** Tiles of one piece. */
const PIECE_ROWS = 256

/** For each row of the parcels of the world its {@link AddressType} plus 1; 0 if the tile has its usual type. */
export type AddressTypes = Uint8Array

/**
 * The types that tiles have for an address. If several types apply, owning comes before operating, and operating before a
 * contribution.
 *
 * @param districtIds the districts to which the address contributed
 */
export function findAddressTypes(
  state: State,
  openOffers: OpenOffers,
  address: string,
  districtIds: readonly string[],
): AddressTypes {
  const { parcels } = state.parts
  const types = new Uint8Array(parcels.inWorld)
  const set = (row: number, type: AddressType) => {
    if (row < types.length) types[row] = type + 1
  }
  const isOnSale = (row: number) => openOffers.offers[row]! >= 0
  // Later entries replace earlier ones.
  for (const row of rowsOfDistricts(state, districtIds)) set(row, ADDRESS_TYPES.contributed)
  for (const row of state.parcelsOperatedBy(address)) set(row, ADDRESS_TYPES.operated)
  for (const row of rowsOfEstates(state, state.estatesOperatedBy(address))) set(row, ADDRESS_TYPES.operated)
  for (const row of state.parcelsOf(address)) {
    // The contract that holds the parcels of estates is not their owner: the estate's owner is.
    if (parcels.estate[row]! >= 0) continue
    set(row, isOnSale(row) ? ADDRESS_TYPES.ownParcelOnSale : ADDRESS_TYPES.ownParcel)
  }
  for (const row of rowsOfEstates(state, state.estatesOf(address)))
    set(row, isOnSale(row) ? ADDRESS_TYPES.ownEstateOnSale : ADDRESS_TYPES.ownEstate)
  return types
}

/** How many tiles have another type for the address. */
export function countTiles(types: AddressTypes): number {
  let count = 0
  for (const type of types) if (type > 0) count++
  return count
}

/**
 * The tiles that have another type for the address, by x ascending, then y descending, as members of a JSON object, each
 * followed by a comma.
 */
export function* addressTilePieces(source: TileSource, types: AddressTypes): Generator<Uint8Array> {
  let text = ''
  let rows = 0
  for (let row = 0; row < types.length; row++) {
    if (types[row] === 0) continue
    text += writeAddressTile(tileAt(source, row), (types[row]! - 1) as AddressType)
    if (++rows % PIECE_ROWS > 0) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text) yield Buffer.from(text)
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

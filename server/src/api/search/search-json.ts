import { type Coord, coordText, parseCoord } from '@landpass/client/grid'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { ownerAt } from '../../state/parts/owner-index.ts'
import type { State } from '../../state/state.ts'
import type { PlaceType } from './place-types.ts'
import type { Found, SearchOutcome } from './search.ts'
import type { SearchNames } from './search-names.ts'

/** A result as it is answered. Every type has all fields; those that do not apply to it are null. */
interface SearchResult {
  readonly type: PlaceType
  readonly id: string
  readonly name: string | null
  /** Coordinates of one of its parcels, to show on a map. */
  readonly x: number | null
  readonly y: number | null
  readonly parcels: number
  readonly estates: number | null
  readonly owner: string | null
}

/** The `data` of a search. */
export function searchJson(
  state: State,
  names: SearchNames,
  { found, total }: SearchOutcome,
  limit: number,
): string {
  return JSON.stringify({ results: found.map((one) => resultOf(state, names, one)), total, limit })
}

function resultOf(state: State, names: SearchNames, found: Found): SearchResult {
  switch (found.type) {
    case 'parcel':
      return parcelResult(state, found.row)
    case 'estate':
      return estateResult(state, found.row)
    case 'district':
      return districtResult(names, found.row)
    case 'address':
      return addressResult(state, found.address)
  }
}

function parcelResult({ parts: { parcels, estates } }: State, row: number): SearchResult {
  const place = { x: parcels.x[row]!, y: parcels.y[row]! }
  const estate = parcels.estate[row]!
  return {
    type: 'parcel',
    id: coordText(place),
    name: parcels.names[row] ?? null,
    ...place,
    parcels: 1,
    estates: null,
    // Parcels of an estate are owned by a contract: the estate's owner is answered instead.
    owner: (estate < 0 ? ownerAt(parcels, row) : ownerAt(estates, estate)) ?? null,
  }
}

function estateResult(state: State, row: number): SearchResult {
  const { estates } = state.parts
  return {
    type: 'estate',
    id: estates.ids[row]!,
    name: estates.names[row] ?? null,
    ...centreOf(state, row),
    parcels: estates.size[row]!,
    estates: null,
    owner: ownerAt(estates, row) ?? null,
  }
}

function districtResult({ districts }: SearchNames, row: number): SearchResult {
  const { id, name, center, parcel_count } = districts[row]!
  return {
    type: 'district',
    id,
    name,
    ...(parseCoord(center) ?? NOWHERE),
    parcels: Number(parcel_count),
    estates: null,
    owner: null,
  }
}

/** An address that owns nothing is found, too: it may have bids. */
function addressResult(state: State, address: string): SearchResult {
  const { x, y, inWorld } = state.parts.parcels
  const parcels = state.parcelsOf(address)
  const estates = state.estatesOf(address).filter((row) => !state.isDissolved(row))
  const first = parcels.find((row) => row < inWorld)
  const shown = estates.find((row) => state.isOnMap({ type: 'estate', row }))
  const place = first === undefined ? undefined : { x: x[first]!, y: y[first]! }
  return {
    type: 'address',
    id: address,
    name: null,
    ...(place ?? (shown === undefined ? NOWHERE : centreOf(state, shown))),
    parcels: parcels.length,
    estates: estates.length,
    owner: address,
  }
}

const NOWHERE = { x: null, y: null }

/** The parcel of an estate in the world that is nearest to the middle of these, which itself may lie outside the estate. */
function centreOf({ parts: { parcels } }: State, estate: number): Coord {
  const rows = rowsOfEstate(parcels.estate, estate).filter((row) => row < parcels.inWorld)
  let [sumX, sumY] = [0, 0]
  for (const row of rows) {
    sumX += parcels.x[row]!
    sumY += parcels.y[row]!
  }
  const distanceOf = (row: number) =>
    (parcels.x[row]! - sumX / rows.length) ** 2 + (parcels.y[row]! - sumY / rows.length) ** 2
  const nearest = rows.reduce((best, row) => (distanceOf(row) < distanceOf(best) ? row : best))
  return { x: parcels.x[nearest]!, y: parcels.y[nearest]! }
}

import type { Coord } from '@landpass/client/grid'
import type { ListedDistrict } from '../../land/records/district.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { State } from '../../state/state.ts'
import { geometryJson } from '../common/outlines.ts'
import { filePieces, GEOJSON_FRAME, gridLines, type RowFormat } from '../common/row-files.ts'
import { WorkSlice } from '../common/work-slice.ts'

/** The outlines of districts as GeoJSON (RFC 7946), exactly where the image tiles show them. */
export const DISTRICTS_GEOJSON: Omit<RowFormat<string>, 'write'> = {
  ...GEOJSON_FRAME,
  fileName: 'districts.geojson',
}

/** Geometries by district: parcels hardly ever change their district. */
const known = new WeakMap<object, readonly string[]>()

/** A feature for each of the districts with a parcel in the world. The roads of a full world take some 50 ms, once. */
export async function districtFeatures(
  state: State,
  districts: readonly ListedDistrict[],
): Promise<Iterable<Uint8Array>> {
  const { ids } = state.parts.districts
  const geometries = await geometriesOf(state)
  const features = districts.flatMap((district) => {
    const geometry = geometries[positionsOf(ids).get(district.id) ?? -1] ?? ''
    const properties = JSON.stringify(district)
    if (geometry === '') return []
    return [`{"type":"Feature","id":"${district.id}","geometry":${geometry},"properties":${properties}}`]
  })
  return filePieces({ ...DISTRICTS_GEOJSON, write: (feature: string) => feature }, features)
}

/** By the index of the district; '' for one without parcels. */
async function geometriesOf({ parts: { bounds, districts, parcels } }: State): Promise<readonly string[]> {
  const found = known.get(parcels.district)
  if (found) return found
  const places = districts.ids.map((): Coord[] => [])
  for (let row = 0; row < parcels.inWorld; row++)
    places[parcels.district[row]!]?.push({ x: parcels.x[row]!, y: parcels.y[row]! })
  const lines = gridLines(bounds)
  const slice = new WorkSlice()
  const geometries: string[] = []
  for (const members of places) {
    if (slice.isOver) await slice.next()
    geometries.push(members.length === 0 ? '' : geometryJson(members, lines))
  }
  known.set(parcels.district, geometries)
  return geometries
}

import { rowsOfEstate } from './estate-members.ts'
import { NumberSet } from './number-set.ts'
import { NO_DISTANCE, type ParcelParts, type StateParts } from './parts.ts'

/**
 * Parcels and estates in one order, with a number each: asset a is the estate of row a, or, from `estates` on, the parcel of row
 * `a - estates`. Parcels outside of the world have none. So estates come first, by id as a number, then parcels by x, then
 * from north to south.
 *
 * The columns have a value per asset. Those of an estate are of its parcels in the world; one without any is in neither list.
 */
export interface LandAssets {
  readonly estates: number
  readonly count: number
  /** The estates, and the parcels that no estate holds. */
  readonly standing: NumberSet
  /** The parcels of estates. */
  readonly inEstates: NumberSet
  /** Both. */
  readonly all: NumberSet
  /** The place of an estate is that of its most western parcel, the most northern one where several are. */
  readonly x: Int32Array
  readonly y: Int32Array
  readonly size: Int32Array
  /** The size of the bounding box, in parcels. */
  readonly width: Int32Array
  readonly height: Int32Array
  /** Parcels to the nearest plaza, or road; of an estate the smallest of its parcels. -1 where none of them has a distance. */
  readonly plaza: Int32Array
  readonly road: Int32Array
}

const knownOf = new WeakMap<
  Int32Array,
  { readonly columns: readonly unknown[]; readonly assets: LandAssets }
>()

/** Cached: most changes of the land move no parcel between estates. */
export function landAssetsOf({ parcels, estates }: Pick<StateParts, 'parcels' | 'estates'>): LandAssets {
  const columns = [parcels.plazaDistance, parcels.roadDistance, estates.ids, parcels.x]
  const known = knownOf.get(parcels.estate)
  if (known?.columns.every((column, i) => column === columns[i])) return known.assets
  const assets = collect(parcels, estates.ids.length)
  knownOf.set(parcels.estate, { columns, assets })
  return assets
}

function collect(parcels: ParcelParts, estates: number): LandAssets {
  const { inWorld, estate, plazaDistance, roadDistance } = parcels
  const count = estates + inWorld
  const column = (value: number) => new Int32Array(count).fill(value)
  const assets = {
    ...{ x: column(0), y: column(0), size: column(0), width: column(1), height: column(1) },
    ...{ plaza: column(-1), road: column(-1) },
  }
  const standing = new NumberSet(count)
  const inEstates = new NumberSet(count)
  for (let row = 0; row < estates; row++) {
    const members = rowsOfEstate(estate, row)
    if (members.length === 0 || members[0]! >= inWorld) continue
    placeEstate(assets, parcels, row, members)
    standing.add(row)
  }
  for (let row = 0; row < inWorld; row++) {
    const asset = estates + row
    assets.x[asset] = parcels.x[row]!
    assets.y[asset] = parcels.y[row]!
    assets.size[asset] = 1
    assets.plaza[asset] = distanceOf(plazaDistance[row]!)
    assets.road[asset] = distanceOf(roadDistance[row]!)
    if (estate[row]! < 0) standing.add(asset)
    else inEstates.add(asset)
  }
  return { estates, count, standing, inEstates, all: standing.copy().addAll(inEstates), ...assets }
}

type Columns = Pick<LandAssets, 'x' | 'y' | 'size' | 'width' | 'height' | 'plaza' | 'road'>

/** @param members rows of its parcels, ascending: those outside of the world come last */
function placeEstate(
  assets: Columns,
  { x, y, inWorld, plazaDistance, roadDistance }: ParcelParts,
  estate: number,
  members: Uint32Array,
): void {
  const first = members[0]!
  let [size, maxX, minY, maxY] = [0, x[first]!, y[first]!, y[first]!]
  let [plaza, road] = [NO_DISTANCE, NO_DISTANCE]
  for (const row of members) {
    if (row >= inWorld) break
    size += 1
    maxX = x[row]!
    minY = Math.min(minY, y[row]!)
    maxY = Math.max(maxY, y[row]!)
    plaza = Math.min(plaza, plazaDistance[row]!)
    road = Math.min(road, roadDistance[row]!)
  }
  assets.x[estate] = x[first]!
  assets.y[estate] = y[first]!
  assets.size[estate] = size
  assets.width[estate] = maxX - x[first]! + 1
  assets.height[estate] = maxY - minY + 1
  assets.plaza[estate] = distanceOf(plaza)
  assets.road[estate] = distanceOf(road)
}

function distanceOf(stored: number): number {
  return stored === NO_DISTANCE ? -1 : stored
}

import type { Area, Coord } from '@landpass/client/grid'
import { NumberSet } from '../../state/parts/number-set.ts'
import type { LandView } from './land-view.ts'

/** Sets of the assets in an area. */

/** The assets with a parcel in a circle. */
export function assetsOfCircle(view: LandView, { x, y }: Coord, radius: number): NumberSet {
  const reach = Math.floor(radius)
  return assetsOfColumns(view, { minX: x - reach, maxX: x + reach }, (column) => {
    const left = radius * radius - (column - x) ** 2
    let up = Math.floor(Math.sqrt(left))
    // The root of a large number may be rounded to the next whole one.
    if (up * up > left) up -= 1
    return { minY: y - up, maxY: y + up }
  })
}

/**
 * The parcels of columns, each from one row of parcels to another, and the estates that hold them.
 *
 * @param rowsAt of a rectangle or a circle
 * @returns a set that must not be changed: where it has the whole world, it is `assets.all`
 */
export function assetsOfColumns(
  { assets, parcels, bounds }: LandView,
  { minX, maxX }: Pick<Area, 'minX' | 'maxX'>,
  rowsAt: (x: number) => Pick<Area, 'minY' | 'maxY'>,
): NumberSet {
  const { rowAt, estate } = parcels
  // Both are convex: what has the four corners of the world has all of it.
  const hasSide = (x: number) => {
    const { minY, maxY } = rowsAt(x)
    return x >= minX && x <= maxX && minY <= bounds.minY && maxY >= bounds.maxY
  }
  if (hasSide(bounds.minX) && hasSide(bounds.maxX)) return assets.all
  const height = bounds.maxY - bounds.minY + 1
  const set = new NumberSet(assets.count)
  for (let x = Math.max(bounds.minX, minX); x <= Math.min(bounds.maxX, maxX); x++) {
    const { minY, maxY } = rowsAt(x)
    const column = (x - bounds.minX) * height + bounds.maxY
    let [cell, last] = [column - Math.min(bounds.maxY, maxY), column - Math.max(bounds.minY, minY)]
    while (cell <= last && rowAt[cell]! < 0) cell++
    while (cell <= last && rowAt[last]! < 0) last--
    // Rows are in the order of cells.
    if (cell <= last) set.addRange(assets.estates + rowAt[cell]!, assets.estates + rowAt[last]! + 1)
  }
  const inEstates = assets.inEstates.list(set)
  for (let i = 0; i < inEstates.length; i++) set.add(estate[inEstates[i]! - assets.estates]!)
  return set
}

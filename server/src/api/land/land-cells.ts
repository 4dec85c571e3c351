import { parcelsOf } from './land-rows.ts'
import type { LandView } from './land-view.ts'

/**
 * The cells of some assets as runs: pairs of the first cell and how many follow from there on, in ascending order. Cells are
 * numbered as in the feed (docs/feed.md): columns from west to east, each from north to south.
 */
export function landCells(view: LandView, assets: Uint32Array): number[] {
  const { minX, minY, maxX, maxY } = view.bounds
  const height = maxY - minY + 1
  const isIn = new Uint8Array((maxX - minX + 1) * height)
  const mark = (x: number, y: number) => {
    isIn[(x - minX) * height + maxY - y] = 1
  }
  // No object for each of the many parcels
  for (const asset of assets) {
    if (asset >= view.assets.estates) mark(view.assets.x[asset]!, view.assets.y[asset]!)
    else for (const { x, y } of parcelsOf(view, asset)) mark(x, y)
  }
  const runs: number[] = []
  for (let from = isIn.indexOf(1); from >= 0; ) {
    const end = isIn.indexOf(0, from)
    const count = (end < 0 ? isIn.length : end) - from
    runs.push(from, count)
    from = isIn.indexOf(1, from + count)
  }
  return runs
}

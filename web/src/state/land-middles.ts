import type { FeedGrid } from '@landpass/client/feed'
import type { Place } from '../map/map-types.ts'

type Ground = Pick<FeedGrid, 'bounds' | 'cells' | 'estateOf' | 'estates'>

/** Land that is connected, or of one estate. */
export interface Middle {
  /** Its cell nearest to the mean of all of them. */
  readonly place: Place
  /** Its number of parcels. */
  readonly size: number
}

const TYPE = 0b111
const PLAZA = 5

/** The plazas: groups of plaza parcels that share edges. */
export function plazaMiddles(ground: Ground): readonly Middle[] {
  const { cells } = ground
  const rows = rowsOf(ground)
  const isSeen = new Uint8Array(cells.length)
  const middles: Middle[] = []
  for (let first = 0; first < cells.length; first++) {
    if ((cells[first]! & TYPE) !== PLAZA || isSeen[first] === 1) continue
    isSeen[first] = 1
    const group = [first]
    for (const cell of group) {
      const beside = [cell - rows, cell + rows]
      if (cell % rows > 0) beside.push(cell - 1)
      if (cell % rows < rows - 1) beside.push(cell + 1)
      for (const next of beside) {
        if (((cells[next] ?? 0) & TYPE) === PLAZA && isSeen[next] === 0) {
          isSeen[next] = 1
          group.push(next)
        }
      }
    }
    middles.push(middleOf(group, ground))
  }
  return middles
}

/** The middles of estates by id. Those without a cell in this world are left out. */
export function estateMiddles(ground: Ground, ids: readonly string[]): ReadonlyMap<string, Middle> {
  const cellsOf = new Map(ids.map((id) => [ground.estates.list.indexOf(id), [] as number[]]))
  ground.estateOf.forEach((estate, cell) => {
    if (estate > 0) cellsOf.get(estate)?.push(cell)
  })
  return new Map(
    ids.flatMap((id) => {
      const cells = cellsOf.get(ground.estates.list.indexOf(id)) ?? []
      return cells.length > 0 ? [[id, middleOf(cells, ground)]] : []
    }),
  )
}

function middleOf(cells: readonly number[], ground: Ground): Middle {
  const places = cells.map((cell) => placeOf(cell, ground))
  const mean = (of: (place: Place) => number) =>
    places.reduce((sum, place) => sum + of(place), 0) / places.length
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)]
  const farness = ({ x, y }: Place) => (x - meanX) ** 2 + (y - meanY) ** 2
  const place = places.reduce((best, next) => (farness(next) < farness(best) ? next : best))
  return { place, size: cells.length }
}

function placeOf(cell: number, ground: Ground): Place {
  const rows = rowsOf(ground)
  return { x: ground.bounds.minX + Math.floor(cell / rows), y: ground.bounds.maxY - (cell % rows) }
}

function rowsOf({ bounds }: Ground): number {
  return bounds.maxY - bounds.minY + 1
}

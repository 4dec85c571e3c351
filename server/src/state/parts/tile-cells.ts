import { type Area, type Coord, cellOf } from '@landpass/client/grid'
import { type PagedColumn, valueAt } from './columns.ts'
import type { StateParts } from './parts.ts'

/** Kinds of parcels on a map: the lowest three bits of a cell. */
export const KINDS = { outside: 0, unowned: 1, owned: 2, district: 3, road: 4, plaza: 5 } as const
export type Kind = keyof typeof KINDS

export const KIND_MASK = 0b0000_0111
/** Bits of a cell: the neighbour to the west, north, or north-west belongs to the same estate or the same district. */
export const JOINS_LEFT = 0b0000_1000
export const JOINS_TOP = 0b0001_0000
export const JOINS_TOP_LEFT = 0b0010_0000

/** The columns that cells are computed from: see `StateParts`. */
export interface TileSource {
  readonly bounds: Area
  readonly rowAt: Int32Array
  readonly estate: Int32Array
  readonly district: Int16Array
  readonly owner: PagedColumn<Int32Array>
  readonly districtKinds: Uint8Array
}

export function tileSource({ bounds, parcels, districts }: Omit<StateParts, 'cells'>): TileSource {
  const { rowAt, estate, district, owner } = parcels
  return { bounds, rowAt, estate, district, owner, districtKinds: districts.kinds }
}

/** Computes the cells of a whole world. */
export function layTileCells(source: TileSource): Uint8Array {
  const cells = new Uint8Array(source.rowAt.length)
  for (let cell = 0; cell < cells.length; cell++) cells[cell] = tileCell(source, cell)
  return cells
}

/**
 * Computes one cell: its kind, and which neighbours it joins. Parcels of the same estate join each other, and so do
 * parcels of the same district (roads and plazas are districts too). A parcel of neither joins no other.
 */
export function tileCell(source: TileSource, cell: number): number {
  const { rowAt, estate, district, owner, districtKinds } = source
  const row = rowAt[cell]!
  if (row < 0) return KINDS.outside
  const inDistrict = district[row]!
  const kind =
    inDistrict >= 0 ? districtKinds[inDistrict]! : valueAt(owner, row)! >= 0 ? KINDS.owned : KINDS.unowned
  if (inDistrict < 0 && estate[row]! < 0) return kind
  const height = source.bounds.maxY - source.bounds.minY + 1
  const hasNorth = cell % height > 0
  return (
    kind |
    (belongTogether(source, row, cell - height) ? JOINS_LEFT : 0) |
    (hasNorth && belongTogether(source, row, cell - 1) ? JOINS_TOP : 0) |
    (hasNorth && belongTogether(source, row, cell - height - 1) ? JOINS_TOP_LEFT : 0)
  )
}

function belongTogether({ rowAt, estate, district }: TileSource, row: number, otherCell: number): boolean {
  const other = rowAt[otherCell] ?? -1
  if (other < 0) return false
  if (estate[row]! >= 0) return estate[other] === estate[row]
  return estate[other]! < 0 && district[other] === district[row]
}

/**
 * The cells whose content depends on a parcel: its own, and those whose joins look at it. None for one outside of the bounds.
 *
 * @example
 * cellsAround({ minX: 0, minY: 0, maxX: 9, maxY: 9 }, { x: 0, y: 9 }) // its own, south, east, south-east: [0, 1, 10, 11]
 */
export function cellsAround(bounds: Area, { x, y }: Coord): number[] {
  const own = cellOf(bounds, { x, y })
  if (own < 0) return []
  const height = bounds.maxY - bounds.minY + 1
  const cells = [own]
  if (y > bounds.minY) cells.push(own + 1)
  if (x < bounds.maxX) cells.push(own + height)
  if (y > bounds.minY && x < bounds.maxX) cells.push(own + height + 1)
  return cells
}

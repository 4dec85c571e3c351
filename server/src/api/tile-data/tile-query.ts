import { type Area, CONTRACT_LIMIT, cellOf } from '@landpass/client/grid'
import Type, { type Static } from 'typebox'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { invalidParameter } from '../../http/validation.ts'
import { GIVEN_ADDRESS } from '../../schema-parts.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { KIND_MASK, KINDS } from '../../state/parts/tile-cells.ts'
import type { RowRange, State } from '../../state/state.ts'
import { lowerCase } from '../common/parameters.ts'
import { runsOf } from './row-runs.ts'
import { ALL_FIELDS, TILE_FIELDS, type TileField } from './tile-forms.ts'

const CORNERS = ['x1', 'y1', 'x2', 'y2'] as const
/** The values of `type`: no tile is outside of the world. */
const TYPES = ['owned', 'unowned', 'plaza', 'road', 'district'] as const
type TileType = (typeof TYPES)[number]

const corner = (title: string, description: string) =>
  Type.Optional(Type.Integer({ title, minimum: -CONTRACT_LIMIT, maximum: CONTRACT_LIMIT, description }))

const fieldList = (title: string, description: string) =>
  // A public client sends its list of unwanted fields as a second `include`.
  Type.Optional(Type.String({ title, 'x-repeatable': true, description }))

/** The parameters of both tile endpoints. */
export const tileQuery = Type.Object({
  x1: corner(
    'TileX1',
    'Column of a corner of the area; give all four of x1, y1, x2 and y2, or none for the whole world.',
  ),
  y1: corner('TileY1', 'Row of that corner.'),
  x2: corner('TileX2', 'Column of the opposite corner; the two corners may be given in any order.'),
  y2: corner('TileY2', 'Row of the opposite corner.'),
  owner: Type.Optional(
    Type.String({
      title: 'TileOwner',
      ...GIVEN_ADDRESS,
      description: 'Only tiles of this owner.',
    }),
  ),
  type: Type.Optional(
    Type.String({
      title: 'TileType',
      pattern: `^(?:${TYPES.join('|')})(?:,(?:${TYPES.join('|')})){0,${TYPES.length - 1}}$`,
      'x-allowed': `one or more of ${TYPES.join(', ')}, separated by commas`,
      description: 'Only tiles of these types, separated by commas.',
    }),
  ),
  include: fieldList(
    'IncludeFields',
    'Only these fields, separated by commas. Names are those of /v2/tiles; unknown ones are left out.',
  ),
  exclude: fieldList('ExcludeFields', 'All fields but these. Ignored if include is given.'),
})

export type TileQuery = Static<typeof tileQuery>

/**
 * The area of a query, limited to the bounds of the world. It may be empty.
 *
 * @throws {AppError} `invalid_parameter` naming the corner that is missing
 */
export function readTileArea(query: TileQuery, bounds: Area): Area {
  const missing = CORNERS.filter((name) => query[name] === undefined)
  if (missing.length === CORNERS.length) return bounds
  if (missing[0]) throw invalidParameter(missing[0], undefined, 'given, as x1, y1, x2 and y2 belong together')
  const { x1 = 0, y1 = 0, x2 = 0, y2 = 0 } = query
  return {
    minX: Math.max(bounds.minX, Math.min(x1, x2)),
    minY: Math.max(bounds.minY, Math.min(y1, y2)),
    maxX: Math.min(bounds.maxX, Math.max(x1, x2)),
    maxY: Math.min(bounds.maxY, Math.max(y1, y2)),
  }
}

/**
 * The requested fields of a query.
 *
 * @example
 * readTileFields({ include: 'x,y', exclude: 'x' }) // x and y: exclude is ignored
 */
export function readTileFields({ include, exclude }: TileQuery): ReadonlySet<TileField> {
  if (include !== undefined) {
    const wanted = namesIn(include)
    return new Set(TILE_FIELDS.filter((field) => wanted.includes(field)))
  }
  if (exclude === undefined) return ALL_FIELDS
  const unwanted = namesIn(exclude)
  return new Set(TILE_FIELDS.filter((field) => !unwanted.includes(field)))
}

function namesIn(list: string): readonly string[] {
  return list.split(',').map((name) => name.trim())
}

/** Which of the tiles of an area are requested. */
export interface TileFilter {
  readonly owner: string | undefined
  readonly types: ReadonlySet<TileType> | undefined
}

/** Undefined where all tiles of the area are requested. */
export function readTileFilter({ owner, type }: TileQuery): TileFilter | undefined {
  if (owner === undefined && type === undefined) return undefined
  const types = type === undefined ? undefined : new Set(type.split(',') as TileType[])
  return { owner: owner && lowerCase(owner), types }
}

/** Parcels that are compared with a filter for one unit. */
const COMPARED_PER_UNIT = 10_000

/** Estimated cost of finding the rows of a filter among `parcels`, in units of one parcel read. */
export function filterCost(parcels: number): number {
  return SMALL_ANSWER_UNITS + parcels / COMPARED_PER_UNIT
}

/** The rows of an area whose tiles pass a filter, in order. */
export function filteredRows(state: State, area: Area, { owner, types }: TileFilter): RowRange[] {
  const { bounds, cells, parcels } = state.parts
  const kinds: ReadonlySet<number> | undefined = types && new Set(Array.from(types, (type) => KINDS[type]))
  const isOfKind = (row: number) => {
    const cell = cells[cellOf(bounds, { x: parcels.x[row]!, y: parcels.y[row]! })]!
    return kinds?.has(cell & KIND_MASK) ?? true
  }
  const isInArea = (row: number) => {
    const [x, y] = [parcels.x[row]!, parcels.y[row]!]
    return x >= area.minX && x <= area.maxX && y >= area.minY && y <= area.maxY
  }
  const rows =
    owner === undefined
      ? rowsIn(state.rowsIn(area))
      : rowsOwnedBy(state, owner).filter((row) => row < parcels.inWorld && isInArea(row))
  return runsOf(rows.filter(isOfKind))
}

function rowsIn(runs: readonly RowRange[]): number[] {
  return runs.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i))
}

/** The rows whose tiles have this owner, ascending: parcels of no estate, and those of the owner's estates. */
function rowsOwnedBy(state: State, owner: string): number[] {
  const { estate } = state.parts.parcels
  const own = [...state.parcelsOf(owner)].filter((row) => estate[row]! < 0)
  const ofEstates = Array.from(state.estatesOf(owner), (row) => [...rowsOfEstate(estate, row)])
  return [...own, ...ofEstates.flat()].sort((a, b) => a - b)
}

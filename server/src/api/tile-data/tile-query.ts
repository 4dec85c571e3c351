import { type Area, CONTRACT_LIMIT } from '@landpass/client/grid'
import Type, { type Static } from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import { ALL_FIELDS, FOREIGN_FIELDS, TILE_FIELDS, type TileField } from './tile-forms.ts'

const CORNERS = ['x1', 'y1', 'x2', 'y2'] as const

const corner = (title: string, description: string) =>
  Type.Optional(Type.Integer({ title, minimum: -CONTRACT_LIMIT, maximum: CONTRACT_LIMIT, description }))

const ANY_FIELD = [...TILE_FIELDS, ...FOREIGN_FIELDS].join('|')
/** More than twice the number of fields; longer lists are refused. */
const MAX_FIELDS = 50

const fieldList = (title: string, description: string) =>
  Type.Optional(
    Type.String({
      title,
      pattern: `^(?:${ANY_FIELD})(?:,(?:${ANY_FIELD})){0,${MAX_FIELDS - 1}}$`,
      'x-allowed': `one or more of ${TILE_FIELDS.join(', ')}, separated by commas`,
      description,
    }),
  )

/** The parameters of both tile endpoints. */
export const tileQuery = Type.Object({
  x1: corner(
    'TileX1',
    'Column of a corner of the area; give all four of x1, y1, x2 and y2, or none for the whole world.',
  ),
  y1: corner('TileY1', 'Row of that corner.'),
  x2: corner('TileX2', 'Column of the opposite corner; the two corners may be given in any order.'),
  y2: corner('TileY2', 'Row of the opposite corner.'),
  include: fieldList(
    'IncludeFields',
    'Only these fields, separated by commas. Names are those of /v2/tiles.',
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
    const wanted = include.split(',')
    return new Set(TILE_FIELDS.filter((field) => wanted.includes(field)))
  }
  if (exclude === undefined) return ALL_FIELDS
  const unwanted = exclude.split(',')
  return new Set(TILE_FIELDS.filter((field) => !unwanted.includes(field)))
}

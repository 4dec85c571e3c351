import { type Area, lonLatOf, maxZoom, squareHalf, TILE_PX, type World } from '@landpass/client/grid'
import Type from 'typebox'
import type { Style } from './image-parameters.ts'

/** The initial zoom, at which the default world is about 600 pixels wide. */
const FIRST_ZOOM = 2
/** A millionth of a degree is far less than a thousandth of a parcel. */
const DEGREE_DECIMALS = 6

const degrees = (items: number, description: string) =>
  Type.Array(Type.Number(), { minItems: items, maxItems: items, description })

/** The fields that this server fills. `tileSize` is not in the standard, but every viewer reads it. */
export const tileJsonSchema = Type.Object(
  {
    tilejson: Type.Literal('3.0.0'),
    name: Type.String(),
    version: Type.String(),
    scheme: Type.Literal('xyz'),
    tiles: Type.Array(Type.String(), { description: 'Address of a tile, with {z}, {x} and {y}.' }),
    tileSize: Type.Integer({ description: 'Width and height of a tile, in pixels.' }),
    vector_layers: Type.Array(Type.Object({}), { description: 'None: the tiles are images.' }),
    minzoom: Type.Integer(),
    maxzoom: Type.Integer(),
    bounds: degrees(4, 'West, south, east and north end of the world, in degrees.'),
    center: degrees(3, 'Initial longitude, latitude and zoom.'),
  },
  { title: 'TileJson', description: 'TileJSON 3.0.0.' },
)

/**
 * Describes the pyramid as TileJSON 3.0.0.
 *
 * @param base address below which the tiles are
 */
export function tileJson({ bounds }: World, { base, style }: { base: string; style: TileStyle }) {
  const half = squareHalf(bounds)
  const highest = maxZoom(half)
  return {
    tilejson: '3.0.0',
    name: 'Landpass',
    version: '1.0.0',
    scheme: 'xyz',
    tiles: [`${base}/tiles/{z}/{x}/{y}.png${styleText(style)}`],
    tileSize: TILE_PX,
    vector_layers: [],
    minzoom: 0,
    maxzoom: highest,
    bounds: cornersOf(bounds, half),
    center: [...middleOf(bounds, half), Math.min(FIRST_ZOOM, highest)],
  }
}

/** Image tiles show no offers to rent. */
type TileStyle = Omit<Style, 'showsRentals'>

function styleText({ theme, showsOffers }: TileStyle): string {
  const parts = [
    ...(theme === 'dark' ? [] : [`theme=${theme}`]),
    ...(showsOffers ? ['publications=true'] : []),
  ]
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function cornersOf({ minX, minY, maxX, maxY }: Area, half: number): number[] {
  return [...lonLatOf(minX, minY, half), ...lonLatOf(maxX + 1, maxY + 1, half)].map(rounded)
}

function middleOf({ minX, minY, maxX, maxY }: Area, half: number): number[] {
  return lonLatOf((minX + maxX + 1) / 2, (minY + maxY + 1) / 2, half).map(rounded)
}

function rounded(value: number): number {
  return Number(value.toFixed(DEGREE_DECIMALS))
}

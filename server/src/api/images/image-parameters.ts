import { type Area, type Coord, coordText, parseCoord, type World } from '@landpass/client/grid'
import Type from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import type { Frame } from '../../map/frame.ts'
import type { Theme } from '../../map/view.ts'
import { oneOf } from '../../schema-parts.ts'
import { readCoordinates } from '../common/parameters.ts'

/** The parameters of map images: their schemas, and functions that read them. */

export const MAX_SELECTED = 1000
const SELECTED_ALLOWED = `at most ${MAX_SELECTED} coordinates x,y of the world, separated by ;`

const pixels = (name: string) =>
  Type.Integer({
    title: name,
    minimum: 32,
    maximum: 2048,
    default: 500,
    description: `${name} of the image, in pixels.`,
  })

export const frameQuery = {
  width: pixels('Width'),
  height: pixels('Height'),
  size: Type.Integer({
    title: 'ParcelSize',
    minimum: 5,
    maximum: 40,
    default: 10,
    description: 'Side of a parcel, in pixels.',
  }),
}

export const styleQuery = {
  publications: Type.Boolean({
    title: 'ShowOffers',
    default: false,
    description: 'Whether parcels for sale are highlighted.',
  }),
  'on-sale': Type.Boolean({ title: 'OnSale', default: false, description: 'Another name for publications.' }),
  theme: oneOf(['dark', 'light'] as const, {
    title: 'Theme',
    default: 'dark',
    description: 'Colours for a dark or a light page.',
  }),
}

export const placeQuery = ({ bounds }: World) => ({
  center: Type.Optional(
    Type.String({
      description: `Parcel in the middle, as x,y; ${coordText(defaultCenter(bounds))} if left out.`,
    }),
  ),
  selected: Type.Optional(Type.String({ description: `Highlighted parcels: ${SELECTED_ALLOWED}.` })),
})

export function readFrame(query: { width: number; height: number; size: number }): Frame {
  return { widthPx: query.width, heightPx: query.height, sizePx: query.size }
}

/** The style of a map image. */
export interface Style {
  readonly showsOffers: boolean
  readonly theme: Theme
}

export function readStyle(query: { publications: boolean; 'on-sale': boolean; theme: Theme }): Style {
  return { showsOffers: query.publications || query['on-sale'], theme: query.theme }
}

/** @throws {AppError} `invalid_parameter` for coordinates outside the bounds */
export function readCenter({ bounds }: World, text: string | undefined): Coord {
  if (text === undefined) return defaultCenter(bounds)
  const { minX, minY, maxX, maxY } = bounds
  const center = parseCoord(text)
  if (center && center.x >= minX && center.x <= maxX && center.y >= minY && center.y <= maxY) return center
  throw invalidParameter('center', text, `x,y: whole numbers from ${minX},${minY} to ${maxX},${maxY}`)
}

/** 0,0, or the middle of the bounds if they do not contain 0,0. */
function defaultCenter({ minX, minY, maxX, maxY }: Area): Coord {
  if (minX <= 0 && maxX >= 0 && minY <= 0 && maxY >= 0) return { x: 0, y: 0 }
  return { x: Math.floor((minX + maxX) / 2), y: Math.floor((minY + maxY) / 2) }
}

/**
 * Reads `x,y;x,y…`, with or without a `;` at the end. Removes duplicates and sorts from west to east and from south to
 * north, so that equal selections have the same cache key.
 *
 * @throws {AppError} `invalid_parameter`
 */
export function readSelected(world: World, text: string | undefined): readonly Coord[] {
  if (text === undefined) return []
  const parts = text.replace(/;$/, '').split(';', MAX_SELECTED + 1)
  if (parts.length > MAX_SELECTED) throw invalidParameter('selected', text, SELECTED_ALLOWED)
  const places = new Map<string, Coord>()
  for (const part of parts) places.set(part, readCoordinates(world, 'selected', part))
  return [...places.values()].sort((a, b) => a.x - b.x || a.y - b.y)
}

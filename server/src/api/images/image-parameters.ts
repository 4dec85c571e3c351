import {
  type Area,
  CONTRACT_LIMIT,
  type Coord,
  coordText,
  isInWorld,
  type World,
} from '@landpass/client/grid'
import Type from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import type { Frame } from '../../map/frame.ts'
import type { Theme } from '../../map/view.ts'
import { oneOf } from '../../schema-parts.ts'
import type { ShownOffers } from './pictures.ts'

/** The parameters of map images: their schemas, and functions that read them. */

export const MAX_SELECTED = 1000
const SELECTED_ALLOWED = `at most ${MAX_SELECTED} coordinates x,y, separated by ;`

/** What a number may be. One beyond it becomes the nearest that is allowed. */
interface Range {
  readonly min: number
  readonly max: number
  readonly default: number
}

/** The numbers of an interface. `width` and `height` are whole pixels; `size` may be a fraction. */
export interface FrameRanges {
  readonly width: Range
  readonly height: Range
  readonly size: Range
}

export const FRAME_RANGES: FrameRanges = {
  width: { min: 32, max: 2048, default: 500 },
  height: { min: 32, max: 2048, default: 500 },
  size: { min: 5, max: 40, default: 10 },
}

/**
 * The parameters of a frame.
 *
 * @param suffix of the names in openapi.json
 */
export function frameQuery(ranges: FrameRanges, suffix = '') {
  const number = (name: keyof FrameRanges, title: string, what: string) => {
    const { min, max, default: usual } = ranges[name]
    return Type.Number({
      title: `${title}${suffix}`,
      default: usual,
      'x-allowed': `a number from ${min} to ${max}`,
      description: `${what} ${min} to ${max}; a number beyond becomes the nearest.`,
    })
  }
  return {
    width: number('width', 'Width', 'In pixels,'),
    height: number('height', 'Height', 'In pixels,'),
    size: number('size', 'ParcelSize', 'Side of a parcel in pixels, also a fraction,'),
  }
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
      title: 'Center',
      description: `Point in the middle, as x,y: the middle of a parcel, or with fractions between parcels; ${coordText(defaultCenter(bounds))} if left out.`,
    }),
  ),
  selected: Type.Optional(
    Type.String({
      title: 'Selected',
      description: `Highlighted parcels: ${SELECTED_ALLOWED}. Those outside of the world are ignored.`,
    }),
  ),
})

export interface DrawnFrame {
  readonly frame: Frame
  /** The numbers that were changed, for the header `x-drawn`; undefined if none was. */
  readonly changes: string | undefined
}

/**
 * The nearest allowed frame.
 *
 * @example
 * readFrame(FRAME_RANGES, { width: 9000, height: 500, size: 10 }).changes // 'width=2048'
 */
export function readFrame(
  ranges: FrameRanges,
  query: { readonly width: number; readonly height: number; readonly size: number },
): DrawnFrame {
  const frame = {
    widthPx: Math.floor(nearest(ranges.width, query.width)),
    heightPx: Math.floor(nearest(ranges.height, query.height)),
    sizePx: nearest(ranges.size, query.size),
  }
  const changes = [
    ...(frame.widthPx === query.width ? [] : [`width=${frame.widthPx}`]),
    ...(frame.heightPx === query.height ? [] : [`height=${frame.heightPx}`]),
    ...(frame.sizePx === query.size ? [] : [`size=${frame.sizePx}`]),
  ]
  return { frame, changes: changes.length > 0 ? changes.join(',') : undefined }
}

function nearest({ min, max }: Range, value: number): number {
  return Math.min(Math.max(value, min), max)
}

/** The style of a map image. */
export interface Style extends ShownOffers {
  readonly theme: Theme
}

export function readStyle(query: { publications: boolean; 'on-sale': boolean; theme: Theme }): Style {
  return { showsOffers: query.publications || query['on-sale'], showsRentals: false, theme: query.theme }
}

/** @throws {AppError} `invalid_parameter` for text that is no point */
export function readCenter(world: World, text: string | undefined): Coord {
  if (text === undefined) return defaultCenter(world.bounds)
  const parts = text.split(',')
  const center = parts.length === 2 && parts.every((part) => part.trim() !== '') && readPoint(parts)
  if (!center) throw invalidParameter('center', text, 'x,y: two numbers with a comma between them')
  return center
}

/** The point of two texts, moved to where the contract ends; undefined if they are no numbers. */
export function readPoint([x, y]: readonly string[]): Coord | undefined {
  const point = { x: Number(x), y: Number(y) }
  return Number.isFinite(point.x) && Number.isFinite(point.y) ? withinContract(point) : undefined
}

/** Land that is farther away does not exist, and its coordinates times pixels would no longer be exact. */
export function withinContract({ x, y }: Coord): Coord {
  const limit = { min: -CONTRACT_LIMIT, max: CONTRACT_LIMIT, default: 0 }
  return { x: nearest(limit, x), y: nearest(limit, y) }
}

/** 0,0, or the middle of the bounds if they do not contain 0,0. */
export function defaultCenter({ minX, minY, maxX, maxY }: Area): Coord {
  if (minX <= 0 && maxX >= 0 && minY <= 0 && maxY >= 0) return { x: 0, y: 0 }
  return { x: Math.floor((minX + maxX) / 2), y: Math.floor((minY + maxY) / 2) }
}

/**
 * Reads `x,y;x,y…`, with or without blanks around the numbers and a `;` at the end. Coordinates outside of the world are
 * ignored.
 *
 * @throws {AppError} `invalid_parameter`
 */
export function readSelected(world: World, text: string | undefined): readonly Coord[] {
  if (text === undefined) return []
  const parts = text.replace(/;\s*$/, '').split(';', MAX_SELECTED + 1)
  if (parts.length > MAX_SELECTED) throw invalidParameter('selected', text, SELECTED_ALLOWED)
  return selectionOf(
    world,
    parts.map((part) => readPlace('selected', part)),
  )
}

const PLACE = /^\s*(-?\d{1,15})\s*,\s*(-?\d{1,15})\s*$/

/** Reads `x,y`: whole numbers, anywhere. @throws {AppError} `invalid_parameter` for the parameter `name` */
export function readPlace(name: string, text: string): Coord {
  const [, x, y] = PLACE.exec(text) ?? []
  if (y === undefined) throw invalidParameter(name, text, 'x,y: two whole numbers with a comma between them')
  return { x: Number(x), y: Number(y) }
}

/** Those of the world, each once, from west to east and from south to north: equal selections have the same cache key. */
export function selectionOf(world: World, places: readonly Coord[]): readonly Coord[] {
  const once = new Map<string, Coord>()
  for (const place of places) if (isInWorld(world, place)) once.set(coordText(place), place)
  return [...once.values()].sort((a, b) => a.x - b.x || a.y - b.y)
}

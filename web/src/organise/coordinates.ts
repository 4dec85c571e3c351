import type { Place } from '../map/map-types.ts'
import { type WrittenPlace, writtenPlaces } from './written-places.ts'

/**
 * The places of an event as an organiser types or draws them. The server decides; this check has the same rules (a test
 * compares the two) and shows mistakes while the organiser types. It takes more forms of text than the server, which gets
 * the form `x,y;x,y`.
 */

/** How many places an event may have. */
export const MAX_PLACES = 500
/** Longest text that may be typed. What is sent is shorter: it has no blanks and no repetitions. */
export const MAX_TEXT_LENGTH = 16_000
const SHOWN_PAIR_LENGTH = 40

/** A rectangle of parcels, its corners included. */
export interface Bounds {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

/** What is wrong with a text, by its first bad pair; `position` counts from 1. */
export type CoordinatesFault =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' | 'outside'; readonly position: number; readonly pair: string }
  | { readonly kind: 'too_many'; readonly pair: string }

export interface ReadCoordinates {
  /** The good ones, without repetitions, in the order of the text. */
  readonly places: readonly Place[]
  readonly fault: CoordinatesFault | undefined
}

/**
 * Reads places, in all forms that `written-places.ts` takes.
 *
 * @param bounds of the world; undefined until the world is loaded: then only the server can check them
 * @example
 * readCoordinates('52,-10; 53,-10;') // { places: [{ x: 52, y: -10 }, { x: 53, y: -10 }], fault: undefined }
 * readCoordinates('52,-10;here').fault // { kind: 'unreadable', position: 2, pair: 'here' }
 */
export function readCoordinates(text: string, bounds?: Bounds): ReadCoordinates {
  const all = writtenPlaces(text)
  if (all.length === 0) return { places: [], fault: { kind: 'missing' } }
  const places = new Map<string, Place>()
  let fault: CoordinatesFault | undefined
  all.forEach(({ written, place }, at) => {
    if (place && isWithin(place, bounds)) places.set(placeText(place), place)
    else {
      fault ??= {
        kind: place ? 'outside' : 'unreadable',
        position: at + 1,
        pair: written.slice(0, SHOWN_PAIR_LENGTH),
      }
    }
  })
  const beyond = [...places.keys()][MAX_PLACES]
  if (beyond !== undefined) fault ??= { kind: 'too_many', pair: beyond }
  return { places: [...places.values()], fault }
}

/** Places as the text that is sent to the server. */
export function coordinatesText(places: readonly Place[]): string {
  return places.map(placeText).join(';')
}

export function placeText({ x, y }: Place): string {
  return `${x},${y}`
}

/**
 * The text after a rectangle was drawn on the map: if all of its places are there, they are removed, else the missing
 * ones are added. The rest of the text stays as typed, mistakes included.
 *
 * @example
 * withDrawn('1,1; here', [{ x: 1, y: 1 }]) // 'here'
 * withDrawn('1,1', [{ x: 1, y: 1 }, { x: 2, y: 1 }]) // '1,1;2,1'
 */
export function withDrawn(text: string, drawn: readonly Place[]): string {
  const before = writtenPlaces(text).filter(({ written }) => written !== '')
  const present = new Set(before.map(textOf))
  const missing = drawn.map(placeText).filter((pair) => !present.has(pair))
  if (missing.length > 0) return [...before.map(textOf), ...missing].join(';')
  const unwanted = new Set(drawn.map(placeText))
  return before
    .map(textOf)
    .filter((pair) => !unwanted.has(pair))
    .join(';')
}

function textOf({ written, place }: WrittenPlace): string {
  return place ? placeText(place) : written
}

/**
 * The places of a rectangle with these opposite corners, row by row from the north.
 *
 * @returns undefined for more than {@link MAX_PLACES}
 */
export function placesBetween(from: Place, to: Place): readonly Place[] | undefined {
  const [west, east] = [Math.min(from.x, to.x), Math.max(from.x, to.x)]
  const [south, north] = [Math.min(from.y, to.y), Math.max(from.y, to.y)]
  if ((east - west + 1) * (north - south + 1) > MAX_PLACES) return undefined
  const places: Place[] = []
  for (let y = north; y >= south; y--) for (let x = west; x <= east; x++) places.push({ x, y })
  return places
}

function isWithin({ x, y }: Place, bounds: Bounds | undefined): boolean {
  return !bounds || (x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY)
}

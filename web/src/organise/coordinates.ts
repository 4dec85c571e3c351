import type { Place } from '../map/map-types.ts'

/**
 * The places of an event as an organiser types or draws them. The server decides; this check has the same rules (a test
 * compares the two) and shows mistakes while the organiser types.
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

const PAIR = /^(-?)(0|[1-9]\d{0,5}),(-?)(0|[1-9]\d{0,5})$/

/**
 * Reads `x,y;x,y`. Blanks and a `;` at the end are tolerated.
 *
 * @param bounds of the world; undefined until the world is loaded: then only the server can check them
 * @example
 * readCoordinates('52,-10; 53,-10;') // { places: [{ x: 52, y: -10 }, { x: 53, y: -10 }], fault: undefined }
 * readCoordinates('52,-10;here').fault // { kind: 'unreadable', position: 2, pair: 'here' }
 */
export function readCoordinates(text: string, bounds?: Bounds): ReadCoordinates {
  if (text.trim() === '') return { places: [], fault: { kind: 'missing' } }
  const places = new Map<string, Place>()
  let fault: CoordinatesFault | undefined
  pairsOf(text).forEach((pair, at) => {
    const place = readPair(pair)
    if (place && isWithin(place, bounds)) places.set(placeText(place), place)
    else {
      fault ??= {
        kind: place ? 'outside' : 'unreadable',
        position: at + 1,
        pair: pair.trim().slice(0, SHOWN_PAIR_LENGTH),
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
  const present = new Set(readCoordinates(text).places.map(placeText))
  const missing = drawn.map(placeText).filter((pair) => !present.has(pair))
  if (missing.length > 0) return [...writtenPairs(text), ...missing].join(';')
  const unwanted = new Set(drawn.map(placeText))
  const isWanted = (pair: string) => {
    const place = readPair(pair)
    return !place || !unwanted.has(placeText(place))
  }
  return writtenPairs(text).filter(isWanted).join(';')
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

function pairsOf(text: string): readonly string[] {
  return text.trim().replace(/;$/, '').split(';')
}

function writtenPairs(text: string): readonly string[] {
  return pairsOf(text).flatMap((pair) => pair.trim() || [])
}

function readPair(pair: string): Place | undefined {
  const match = PAIR.exec(pair.replace(/\s/g, ''))
  return match ? { x: signed(match[1], match[2]), y: signed(match[3], match[4]) } : undefined
}

/** `-0` is read as 0. */
function signed(sign: string | undefined, digits: string | undefined): number {
  const value = Number(digits)
  return sign === '-' && value !== 0 ? -value : value
}

function isWithin({ x, y }: Place, bounds: Bounds | undefined): boolean {
  return !bounds || (x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY)
}

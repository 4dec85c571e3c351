import type { SearchResult } from '@landpass/client'
import type { FeedGrid } from '@landpass/client/feed'
import { coordText } from '@landpass/client/grid'
import type { Place } from '../map/map-types.ts'
import type { Middle } from '../state/land-middles.ts'
import { cellsOfOwner, holdingsOf } from '../state/layer-inks.ts'
import { findTypedAddress, findTypedPlace } from '../state/typed-place.ts'

/** A plaza: the server's search has none, because they have no names. */
export interface FoundPlaza {
  readonly type: 'plaza'
  /** Its middle, as `x,y`. */
  readonly id: string
  readonly name: null
  readonly x: number
  readonly y: number
  readonly parcels: number
  readonly estates: null
  readonly owner: null
  /** Parcels from the middle of the map. */
  readonly distance: number
}

export type Found = SearchResult | FoundPlaza

/** So many letters of a word for plazas are enough. */
const LEAST_LETTERS = 3

/** Whether a text is a word for plazas, or its beginning. @example isPlazaWord('PLAZ', ['plaza']) // true */
export function isPlazaWord(typed: string, words: readonly string[]): boolean {
  const wanted = typed.normalize('NFKC').toLowerCase()
  return words.some(
    (word) => word === wanted || (wanted.length >= LEAST_LETTERS && `${word}s`.startsWith(wanted)),
  )
}

/** The plazas, the nearest to a place first. */
export function plazasNear(plazas: readonly Middle[], near: Place): readonly FoundPlaza[] {
  const found = plazas.map(({ place, size }) => ({
    ...({ type: 'plaza', id: coordText(place), name: null, ...place } as const),
    ...{ parcels: size, estates: null, owner: null },
    distance: Math.round(Math.hypot(place.x - near.x, place.y - near.y)),
  }))
  return found.sort((a, b) => a.distance - b.distance)
}

/** Results that the page can find without the server: coordinates and whole addresses. */
export function typedResults(text: string, grid: FeedGrid | undefined): readonly SearchResult[] {
  const place = findTypedPlace(text)
  const address = findTypedAddress(text)
  if (place && grid && grid.tileAt(place.x, place.y).type !== 'outside') {
    const owner = grid.tileAt(place.x, place.y).owner ?? null
    return [{ type: 'parcel', id: coordText(place), name: null, ...place, parcels: 1, estates: null, owner }]
  }
  if (!address || !grid) return []
  const { parcels, estates } = holdingsOf(grid, cellsOfOwner(grid, address))
  return [{ type: 'address', id: address, name: null, x: null, y: null, parcels, estates, owner: address }]
}

/**
 * A place that was typed and that the world does not have; undefined for land, and while there is no world to ask.
 * `isBeyond` is false for a gap inside of the world's bounds.
 *
 * @example
 * outsidePlace('500,0', grid) // { x: 500, y: 0, isBeyond: true }
 */
export function outsidePlace(
  text: string,
  grid: FeedGrid | undefined,
): (Place & { readonly isBeyond: boolean }) | undefined {
  const place = findTypedPlace(text)
  if (!place || !grid || grid.tileAt(place.x, place.y).type !== 'outside') return undefined
  return { ...place, isBeyond: grid.cellAt(place.x, place.y) < 0 }
}

/** The server's results, preceded by those of the page that the server has not answered yet. */
export function mergedResults(typed: readonly Found[], answered: readonly SearchResult[]): readonly Found[] {
  const isAnswered = ({ type, id }: Found) => answered.some((other) => other.type === type && other.id === id)
  return [...typed.filter((result) => !isAnswered(result)), ...answered]
}

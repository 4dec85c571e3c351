import type { SearchResult } from '@landpass/client'
import type { FeedGrid } from '@landpass/client/feed'
import { coordText } from '@landpass/client/grid'
import type { Place } from '../map/map-types.ts'
import { cellsOfOwner, holdingsOf } from '../state/layer-inks.ts'
import { findTypedAddress, findTypedPlace } from '../state/typed-place.ts'

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
export function mergedResults(
  typed: readonly SearchResult[],
  answered: readonly SearchResult[],
): readonly SearchResult[] {
  const isAnswered = ({ type, id }: SearchResult) =>
    answered.some((other) => other.type === type && other.id === id)
  return [...typed.filter((result) => !isAnswered(result)), ...answered]
}

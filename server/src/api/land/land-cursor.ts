import { MANA } from '../common/land-filters.ts'
import { invalidCursor, ListCursors } from '../common/list-cursor.ts'
import { type FilterQuery, filterQuery, includeQuery } from './land-query.ts'
import type { Sort, SortPlace } from './land-sorts.ts'

/** The cursors of `/v2/land`. */
const CURSORS = new ListCursors('/v2/land', { ...filterQuery, ...includeQuery })
export type CarriedQuery = Parameters<typeof CURSORS.write>[0]

export function cursorText(query: CarriedQuery, { value, asset }: SortPlace): string {
  return CURSORS.write(query.q === undefined ? query : { ...query, q: query.q.trim() }, [value, asset])
}

/** @throws {AppError} `invalid_parameter` for a text that {@link cursorText} did not write, and for parameters beside it */
export function readCursor(
  text: string,
  others: Readonly<Record<string, unknown>>,
): { readonly query: CarriedQuery; readonly place: SortPlace } {
  const { query, place } = CURSORS.read(text, others)
  const [value, asset] = place
  if (typeof asset !== 'string' || !ASSET.test(asset) || !isValueOf(query, value)) throw invalidCursor(text)
  return { query, place: { value, asset } }
}

const ASSET = /^(?:-?\d{1,6},-?\d{1,6}|estate:\d{1,78})$/

function isValueOf({ sort_by }: FilterQuery, value: unknown): value is SortPlace['value'] {
  if (value === null) return true
  const sort = sort_by as Sort | undefined
  if (sort === 'name') return typeof value === 'string'
  if (sort === 'price' || sort === 'price_per_parcel' || sort === 'rent')
    return typeof value === 'string' && MANA.test(value)
  return typeof value === 'number'
}

import Type, { type Static } from 'typebox'
import { AppError } from '../../errors.ts'
import { invalidParameter, parameterReader } from '../../http/validation.ts'
import { strictQuery } from '../common/land-filters.ts'
import { type FilterQuery, filterQuery, includeQuery } from './land-query.ts'
import type { Sort, SortPlace } from './land-sorts.ts'

/**
 * The text that asks for the rows behind a row: the query of its list, and the place of the row in it. It names nothing of the
 * revision, so it holds in every process and at every later revision.
 */

const CURSOR_ALLOWED = 'the cursor of an answer of this address'
/** Of the longest query, with 50 districts and the longest text. */
const MAX_LENGTH = 6_000

export const cursorQuery = Type.Optional(
  Type.String({
    title: 'LandCursor',
    pattern: `^[\\w-]{1,${MAX_LENGTH}}$`,
    'x-allowed': CURSOR_ALLOWED,
    description: 'The cursor of the page before: the rows behind it follow. It has all parameters but limit.',
  }),
)

const carried = strictQuery({ ...filterQuery, ...includeQuery })
export type CarriedQuery = Static<typeof carried>

const readCarried = parameterReader({
  schema: carried,
  method: 'GET',
  url: '/v2/land',
  httpPart: 'querystring',
}) as (given: unknown) => { readonly value: CarriedQuery }

export function cursorText(query: CarriedQuery, { value, asset }: SortPlace): string {
  return Buffer.from(JSON.stringify([query, value, asset])).toString('base64url')
}

/** @throws {AppError} `invalid_parameter` for a text that {@link cursorText} did not write */
export function readCursor(text: string): { readonly query: CarriedQuery; readonly place: SortPlace } {
  const [given, value, asset] = partsOf(text)
  if (typeof given !== 'object' || given === null || typeof asset !== 'string' || !ASSET.test(asset))
    throw invalidCursor(text)
  const query = readGiven(text, given)
  if (!isValueOf(query, value)) throw invalidCursor(text)
  return { query, place: { value, asset } }
}

const ASSET = /^(?:-?\d{1,6},-?\d{1,6}|estate:\d{1,78})$/
const PRICE = /^\d{1,60}(?:\.\d{1,18})?$/

function partsOf(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function readGiven(text: string, given: object): CarriedQuery {
  try {
    return readCarried(given).value
  } catch (error) {
    throw error instanceof AppError ? invalidCursor(text) : error
  }
}

function isValueOf({ sort_by }: FilterQuery, value: unknown): value is SortPlace['value'] {
  if (value === null) return true
  const sort = sort_by as Sort | undefined
  if (sort === 'name') return typeof value === 'string'
  if (sort === 'price' || sort === 'price_per_parcel') return typeof value === 'string' && PRICE.test(value)
  return typeof value === 'number'
}

function invalidCursor(text: string): AppError {
  return invalidParameter('cursor', text, CURSOR_ALLOWED)
}

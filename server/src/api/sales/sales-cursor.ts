import Type, { type Static } from 'typebox'
import { AppError } from '../../errors.ts'
import { invalidParameter, parameterReader } from '../../http/validation.ts'
import { SALE_TABLES } from '../../state/parts/parts.ts'
import { strictQuery } from '../common/land-filters.ts'
import type { SalePlace } from './sales-order.ts'
import { saleFilterQuery, saleSortQuery } from './sales-query.ts'

/**
 * The text that asks for the sales behind a sale: the query of its list, and the place of the sale in it. It names nothing of the
 * revision, so it holds in every process and at every later revision.
 */

const CURSOR_ALLOWED = 'the cursor of an answer of this address'
/** Of the longest query, with 50 districts. */
const MAX_LENGTH = 6_000

export const saleCursorQuery = Type.Optional(
  Type.String({
    title: 'SaleCursor',
    pattern: `^[\\w-]{1,${MAX_LENGTH}}$`,
    'x-allowed': CURSOR_ALLOWED,
    description: 'The cursor of the page before: the rows behind it follow. It has all parameters but limit.',
  }),
)

const carried = strictQuery({ ...saleFilterQuery, ...saleSortQuery })
export type CarriedQuery = Static<typeof carried>

const readCarried = parameterReader({
  schema: carried,
  method: 'GET',
  url: '/v2/sales',
  httpPart: 'querystring',
}) as (given: unknown) => { readonly value: CarriedQuery }

export function saleCursorText(query: CarriedQuery, { price, timeMs, table, key }: SalePlace): string {
  return Buffer.from(JSON.stringify([query, price, timeMs, table, key])).toString('base64url')
}

/** @throws {AppError} `invalid_parameter` for a text that {@link saleCursorText} did not write */
export function readSaleCursor(text: string): { readonly query: CarriedQuery; readonly place: SalePlace } {
  const [given, price, timeMs, table, key] = partsOf(text)
  const name = SALE_TABLES.find((one) => one === table)
  if (
    typeof given !== 'object' ||
    given === null ||
    !(typeof price === 'string' && /^\d{1,60}(?:\.\d{1,18})?$/.test(price)) ||
    !(Number.isSafeInteger(timeMs) && Number.isSafeInteger(key)) ||
    name === undefined
  )
    throw invalidParameter('cursor', text, CURSOR_ALLOWED)
  const place = { price, timeMs: timeMs as number, table: name, key: key as number }
  try {
    return { query: readCarried(given).value, place }
  } catch (error) {
    throw error instanceof AppError ? invalidParameter('cursor', text, CURSOR_ALLOWED) : error
  }
}

function partsOf(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

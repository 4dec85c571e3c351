import { SALE_TABLES } from '../../state/parts/parts.ts'
import { MANA } from '../common/land-filters.ts'
import { invalidCursor, ListCursors } from '../common/list-cursor.ts'
import type { SalePlace } from './sales-order.ts'
import { saleFilterQuery, saleSortQuery } from './sales-query.ts'

/** The cursors of `/v2/sales`. */
const CURSORS = new ListCursors('/v2/sales', { ...saleFilterQuery, ...saleSortQuery })
export type CarriedQuery = Parameters<typeof CURSORS.write>[0]

export function saleCursorText(
  query: CarriedQuery,
  { price, timeMs, logIndex, table, key }: SalePlace,
): string {
  return CURSORS.write(query, [price, timeMs, logIndex, table, key])
}

/** @throws {AppError} `invalid_parameter` for a text that {@link saleCursorText} did not write, and for parameters beside it */
export function readSaleCursor(
  text: string,
  others: Readonly<Record<string, unknown>>,
): { readonly query: CarriedQuery; readonly place: SalePlace } {
  const { query, place } = CURSORS.read(text, others)
  const [price, timeMs, logIndex, table, key] = place
  const name = SALE_TABLES.find((one) => one === table)
  if (
    !(typeof price === 'string' && MANA.test(price)) ||
    ![timeMs, logIndex, key].every(Number.isSafeInteger) ||
    name === undefined
  )
    throw invalidCursor(text)
  const numbers = { timeMs: timeMs as number, logIndex: logIndex as number, key: key as number }
  return { query, place: { price, table: name, ...numbers } }
}

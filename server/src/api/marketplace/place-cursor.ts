import Type from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import { SORT_COLUMNS, type SortColumn, type SortOrder } from '../../state/parts/parts.ts'
import type { ListPlace } from '../../state/parts/publication-lists.ts'

/**
 * The text that asks for the rows behind a row, without the query of the list: a client sends the other parameters again, unlike with
 * `ListCursors` of api/common. It names the order of the list and the place of the row in it, and nothing of the revision: it holds in
 * every process and at every later revision.
 */

const CURSOR_ALLOWED = 'the cursor of an answer with the same sort_by and sort_order'

export const placeCursorQuery = Type.Optional(
  Type.String({
    title: 'Cursor',
    pattern: '^[\\w-]{1,400}$',
    'x-allowed': CURSOR_ALLOWED,
    description: 'The cursor of the page before, with the same parameters. Without offset.',
  }),
)

interface ListOrder {
  readonly sortBy: SortColumn
  readonly sortOrder: SortOrder
}

/** @example cursorText({ sortBy: 'price', sortOrder: 'asc' }, place) // base64url of 'price asc 2940 0x… 12' */
export function cursorText({ sortBy, sortOrder }: ListOrder, { value, txHash, key }: ListPlace): string {
  return Buffer.from(`${sortBy} ${sortOrder} ${value} ${txHash} ${key}`).toString('base64url')
}

const CURSOR = new RegExp(
  `^(${SORT_COLUMNS.join('|')}) (asc|desc) (null|\\d{1,60}(?:\\.\\d{1,18})?) (0x[0-9a-f]{64}) (\\d{1,15})$`,
)

/**
 * The place behind which a page begins; undefined without a cursor.
 *
 * @throws {AppError} `invalid_parameter` also for the cursor of another order, and for an offset beside a cursor
 */
export function readCursor(
  { cursor, offset }: { readonly cursor?: string | undefined; readonly offset: number },
  { sortBy, sortOrder }: ListOrder,
): ListPlace | undefined {
  if (cursor === undefined) return undefined
  const [, column, order, value, txHash, key] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (value === undefined || txHash === undefined || column !== sortBy || order !== sortOrder)
    throw invalidParameter('cursor', cursor, CURSOR_ALLOWED)
  if (offset > 0) throw invalidParameter('offset', offset, '0 or left out beside cursor')
  return { value: value === 'null' ? null : value, txHash, key: Number(key) }
}

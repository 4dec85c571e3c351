import { mergeRows } from './merge-rows.ts'
import { type OrderName, SORT_COLUMNS, type SortColumn, type SortOrder } from './parts.ts'

/**
 * What publications are sorted by, a value per row; NaN stands for null. Rows with equal values are sorted by row
 * number.
 */
export type SortKeys = Readonly<Record<SortColumn, Float64Array | Uint32Array>>

export type Orders = Readonly<Record<OrderName, Uint32Array>>

export const NO_ORDERS = makeOrders(() => new Uint32Array(0))

/**
 * Row numbers in each order that a list can have: nulls last in both directions, equal values by row number.
 *
 * @param old the orders of the old rows
 * @param newRowOf per old row its new row number, or -1 where it was removed; must keep their sequence
 * @param added the new rows
 */
export function patchOrders(old: Orders, newRowOf: Int32Array, added: Uint32Array, keys: SortKeys): Orders {
  return makeOrders((column, order) => {
    const compare = compareBy(keys[column], order)
    return mergeRows(renumber(old[`${column} ${order}`], newRowOf), added.slice().sort(compare), compare)
  })
}

function makeOrders(make: (column: SortColumn, order: SortOrder) => Uint32Array): Orders {
  const orders: Partial<Record<OrderName, Uint32Array>> = {}
  for (const column of SORT_COLUMNS) {
    for (const order of ['asc', 'desc'] as const) orders[`${column} ${order}`] = make(column, order)
  }
  return orders as Orders
}

function compareBy(values: Float64Array | Uint32Array, order: SortOrder): (a: number, b: number) => number {
  const sign = order === 'asc' ? 1 : -1
  return (a, b) => {
    const left = values[a]!
    const right = values[b]!
    if (left === right) return a - b
    if (Number.isNaN(left)) return Number.isNaN(right) ? a - b : 1
    if (Number.isNaN(right)) return -1
    return sign * (left - right)
  }
}

function renumber(rows: Uint32Array, newRowOf: Int32Array): Uint32Array {
  const renumbered = new Uint32Array(rows.length)
  let count = 0
  for (let i = 0; i < rows.length; i++) {
    const row = newRowOf[rows[i]!]!
    if (row >= 0) renumbered[count++] = row
  }
  return renumbered.subarray(0, count)
}

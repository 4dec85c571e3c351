import { type OrderName, SORT_COLUMNS, type SortColumn, type SortOrder } from './parts.ts'

/** What publications are sorted by, a value per row; rows are in the order in which ties are settled. */
export interface SortKeys {
  readonly price: readonly string[]
  readonly created_at: Float64Array
  readonly expires_at: Float64Array
  /** NaN stands for null. */
  readonly block_time_updated_at: Float64Array
}

/** Row numbers in each order that a list can have: nulls last in both directions, ties by row. */
export function publicationOrders(keys: SortKeys): Record<OrderName, Uint32Array> {
  const values: Record<SortColumn, Float64Array> = { ...keys, price: decimalRanks(keys.price) }
  const orders: Partial<Record<OrderName, Uint32Array>> = {}
  for (const column of SORT_COLUMNS) {
    for (const order of ['asc', 'desc'] as const) orders[`${column} ${order}`] = sorted(values[column], order)
  }
  return orders as Record<OrderName, Uint32Array>
}

function sorted(values: Float64Array, order: SortOrder): Uint32Array {
  const sign = order === 'asc' ? 1 : -1
  const rows = Uint32Array.from(values, (_, row) => row)
  return rows.sort((a, b) => {
    const left = values[a]!
    const right = values[b]!
    if (left === right) return a - b
    if (Number.isNaN(left)) return Number.isNaN(right) ? a - b : 1
    if (Number.isNaN(right)) return -1
    return sign * (left - right)
  })
}

/**
 * The place of each price among all of them. Prices may have more digits than a number holds, so those that are
 * equal as numbers are compared as text.
 */
function decimalRanks(prices: readonly string[]): Float64Array {
  const approximate = Float64Array.from(prices, Number)
  const rows = Uint32Array.from(prices, (_, row) => row)
  const compare = (a: number, b: number) =>
    approximate[a]! - approximate[b]! || compareDecimals(prices[a]!, prices[b]!)
  rows.sort(compare)
  const ranks = new Float64Array(prices.length)
  for (let i = 1; i < rows.length; i++) {
    ranks[rows[i]!] = ranks[rows[i - 1]!]! + (compare(rows[i - 1]!, rows[i]!) === 0 ? 0 : 1)
  }
  return ranks
}

/**
 * Orders two non-negative decimals by value, however many digits they have.
 *
 * @example
 * compareDecimals('10.5', '9.75') // 1
 */
export function compareDecimals(left: string, right: string): number {
  if (left === right) return 0
  const [leftWhole = '', leftPart = ''] = left.split('.')
  const [rightWhole = '', rightPart = ''] = right.split('.')
  if (leftWhole.length !== rightWhole.length) return Math.sign(leftWhole.length - rightWhole.length)
  if (leftWhole !== rightWhole) return leftWhole < rightWhole ? -1 : 1
  const digits = Math.max(leftPart.length, rightPart.length)
  const a = leftPart.padEnd(digits, '0')
  const b = rightPart.padEnd(digits, '0')
  return a === b ? 0 : a < b ? -1 : 1
}

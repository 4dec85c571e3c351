import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_ORDERS, type Orders, patchOrders, type SortKeys } from './publication-orders.ts'

const time = fc.constantFrom(1, 2, 3)
const row = fc.record({ price: time, created: time, expires: time, updated: fc.option(time) })
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

test('each order is sorted by its column, nulls last, equal values by row', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 25 }), (rows) => {
      expect(contentOf(ordersOf(rows))).toEqual(naiveOrders(rows))
    }),
    { numRuns: 200 },
  )
})

test('orders can be patched with removed and added rows', () => {
  const fate = fc.record({ old: fc.option(row), next: fc.option(row) })
  fc.assert(
    // At each position a row stays, is removed, added, or replaced.
    fc.property(fc.array(fc.tuple(fate, fc.boolean()), { maxLength: 25 }), (places) => {
      const before: Row[] = []
      const after: Row[] = []
      const newRowOf: number[] = []
      const added: number[] = []
      for (const [{ old, next }, stays] of places) {
        if (old) {
          before.push(old)
          newRowOf.push(stays ? after.length : -1)
          if (stays) after.push(old)
        }
        if (next) {
          added.push(after.length)
          after.push(next)
        }
      }

      const patched = patchOrders(
        ordersOf(before),
        Int32Array.from(newRowOf),
        Uint32Array.from(added),
        keysOf(after),
      )

      expect(contentOf(patched)).toEqual(naiveOrders(after))
    }),
    { numRuns: 300 },
  )
})

function ordersOf(rows: readonly Row[]): Orders {
  return patchOrders(NO_ORDERS, new Int32Array(0), Uint32Array.from(rows.keys()), keysOf(rows))
}

function keysOf(rows: readonly Row[]): SortKeys {
  return {
    price: Uint32Array.from(rows, ({ price }) => price),
    created_at: Float64Array.from(rows, ({ created }) => created),
    expires_at: Float64Array.from(rows, ({ expires }) => expires),
    block_time_updated_at: Float64Array.from(rows, ({ updated }) => updated ?? Number.NaN),
  }
}

function contentOf(orders: Orders): Record<string, number[]> {
  return Object.fromEntries(Object.entries(orders).map(([name, rows]) => [name, [...rows]]))
}

function naiveOrders(rows: readonly Row[]): Record<string, number[]> {
  const columns = {
    price: ({ price }: Row) => price,
    created_at: ({ created }: Row) => created,
    expires_at: ({ expires }: Row) => expires,
    block_time_updated_at: ({ updated }: Row) => updated,
  }
  const orders: Record<string, number[]> = {}
  for (const [column, read] of Object.entries(columns)) {
    for (const sign of [1, -1]) {
      orders[`${column} ${sign > 0 ? 'asc' : 'desc'}`] = [...rows.keys()].sort((a, b) => {
        const [left, right] = [read(rows[a]!), read(rows[b]!)]
        if (left === right) return a - b
        if (left === null || right === null) return left === null ? 1 : -1
        return left < right ? -sign : sign
      })
    }
  }
  return orders
}

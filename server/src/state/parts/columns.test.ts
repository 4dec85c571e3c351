import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pagedColumn, patchPages, valueAt, withValues } from './columns.ts'

/** Columns of up to three pages, and values for some of their rows. */
const patches = fc
  .tuple(
    fc.integer({ min: 1, max: 3_000 }),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 5 })), { maxLength: 6 }),
  )
  .map(([rows, picks]) => ({
    old: Int32Array.from({ length: rows }, (_, row) => row % 5),
    values: new Map(picks.map(([pick, value]) => [pick % rows, value])),
  }))

test('a patched column has the new values, and the old one is as it was', () => {
  fc.assert(
    fc.property(patches, ({ old, values }) => {
      const before = [...old]
      const expected = before.map((value, row) => values.get(row) ?? value)
      const paged = pagedColumn(old)

      expect([...withValues(old, values)]).toEqual(expected)
      expect(withValues(before, values)).toEqual(expected)
      const patched = patchPages(paged, values)
      expect(before.map((_, row) => valueAt(patched, row))).toEqual(expected)
      expect(valueAt(patched, before.length)).toBeUndefined()
      expect([...old]).toEqual(before)
      expect(before.map((_, row) => valueAt(paged, row))).toEqual(before)
    }),
  )
})

test('where no value differs, columns and pages are shared', () => {
  fc.assert(
    fc.property(patches, ({ old, values }) => {
      const paged = pagedColumn(old)
      const same = new Map([...values.keys()].map((row) => [row, old[row]!]))
      const changedRows = [...values].filter(([row, value]) => value !== old[row]).map(([row]) => row)

      expect(withValues(old, same)).toBe(old)
      expect(patchPages(paged, same)).toBe(paged)
      const { pages } = patchPages(paged, values)
      const changedPages = new Set(changedRows.map((row) => Math.floor(row / 1_024)))
      for (const [number, page] of pages.entries())
        expect(page === paged.pages[number]).toBe(!changedPages.has(number))
    }),
  )
})

/** A value for each row: a typed array or a list. */
type Column = ArrayLike<unknown> & { slice(): unknown }

/**
 * Replaces the values of some rows.
 *
 * @returns a new column; the same one where all values are equal to the old ones
 */
export function withValues<C extends Column>(column: C, values: ReadonlyMap<number, C[number]>): C {
  let copy: Record<number, C[number]> | undefined
  for (const [row, value] of values) {
    if (column[row] === value) continue
    copy ??= column.slice() as Record<number, C[number]>
    copy[row] = value
  }
  return (copy as C | undefined) ?? column
}

/** Replacing a value copies a page: 4 kB. */
const PAGE_ROWS = 1_024

type Page = Int32Array | Uint32Array

/**
 * A column that nearly every change of the land touches, in pages: a new value replaces its page, and all other pages are
 * shared with the earlier state. Row r is value `r % PAGE_ROWS` of page `floor(r / PAGE_ROWS)`.
 */
export interface PagedColumn<P extends Page> {
  readonly pages: readonly P[]
}

/** Copies the values of all rows into pages. */
export function pagedColumn<P extends Page>(values: P): PagedColumn<P> {
  const pages: P[] = []
  for (let from = 0; from < values.length; from += PAGE_ROWS)
    pages.push(values.slice(from, from + PAGE_ROWS) as P)
  return { pages }
}

/** The value of a row; undefined behind the last one. */
export function valueAt({ pages }: PagedColumn<Page>, row: number): number | undefined {
  return pages[Math.floor(row / PAGE_ROWS)]?.[row % PAGE_ROWS]
}

/** Replaces the values of some rows. Pages in which no value differs are shared. */
export function patchPages<P extends Page>(
  column: PagedColumn<P>,
  values: ReadonlyMap<number, number>,
): PagedColumn<P> {
  const byPage = new Map<number, Map<number, number>>()
  for (const [row, value] of values) {
    const number = Math.floor(row / PAGE_ROWS)
    const inPage = byPage.get(number) ?? new Map<number, number>()
    byPage.set(number, inPage.set(row % PAGE_ROWS, value))
  }
  const pages = new Map<number, P>()
  for (const [number, inPage] of byPage) pages.set(number, withValues(column.pages[number]!, inPage))
  const patched = withValues(column.pages, pages)
  return patched === column.pages ? column : { pages: patched }
}

/** Rows of a page: those that the server pages, and those that are paged here. */
export const PAGE_ROWS = 20

/** At least one: a list without rows has an empty page. */
export function pageCount(total: number): number {
  return Math.max(1, Math.ceil(total / PAGE_ROWS))
}

/** The page that exists and is nearest to the requested one: a list can become shorter while it is read. */
export function shownPage(wanted: number, total: number): number {
  return Math.min(Math.max(1, wanted), pageCount(total))
}

/** @param page counted from 1 */
export function rowsOfPage<Row>(rows: readonly Row[], page: number): readonly Row[] {
  return rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS)
}

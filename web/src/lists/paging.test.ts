import { expect, test } from 'vitest'
import { PAGE_ROWS, pageCount, rowsOfPage, shownPage } from './paging.ts'

test('the pages of a list are all of its rows, each once and in order', () => {
  for (const total of [0, 1, PAGE_ROWS, PAGE_ROWS + 1, 95]) {
    const rows = Array.from({ length: total }, (_, i) => i)

    const pages = Array.from({ length: pageCount(total) }, (_, i) => rowsOfPage(rows, i + 1))

    expect(pages.flat()).toEqual(rows)
    expect(pages.slice(0, -1).every((page) => page.length === PAGE_ROWS)).toBe(true)
  }
})

test('a page beyond the last one is the last one', () => {
  expect(shownPage(7, 45)).toBe(3)
  expect(shownPage(2, 45)).toBe(2)
  expect(shownPage(1, 0)).toBe(1)
})

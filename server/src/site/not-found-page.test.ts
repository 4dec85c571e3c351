import { expect, test } from 'vitest'
import { preferredLocale } from './not-found-page.ts'

test.each([
  ['pt-BR, fr;q=0.5, ko-KR;q=0.8', 'ko'],
  ['es-MX,es;q=0.9,en;q=0.8', 'es'],
  ['zh', 'zh'],
  ['fr;q=0, en;q=0.1', 'en'],
  ['pt', 'en'],
  ['', 'en'],
  [';;q=9,=', 'en'],
])('%j is answered in %s', (header, locale) => {
  expect(preferredLocale(header)).toBe(locale)
})

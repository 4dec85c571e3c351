import { expect, test } from 'vitest'
import { readCount } from './read-count.ts'

test.each([
  ['en', '100', 100],
  ['en', ' 100\u00a0', 100],
  ['en', '１００', 100],
  ['en', '0', 0],
  ['en', '1,000', 1000],
  ['es', '1.000', 1000],
  ['fr', '1\u202f000', 1000],
])('in %s, “%s” is a number', (locale, typed, count) => {
  expect(readCount(typed, locale)).toBe(count)
})

test.each([
  ...['', ' ', '1.5', '1e3', '0x10', '-5', '1 00', '1234567890', '1,234,567,890'].map((typed) => [
    'en',
    typed,
  ]),
  ['en', '1.000'],
  ['es', '1,000'],
])('in %s, “%s” is none', (locale, typed) => {
  expect(readCount(typed!, locale!)).toBeUndefined()
})

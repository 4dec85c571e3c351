import { expect, test } from 'vitest'
import { readCount } from './read-count.ts'

test.each([
  ['100', 100],
  [' 100\u00a0', 100],
  ['１００', 100],
  ['0', 0],
])('“%s” is a number', (typed, count) => {
  expect(readCount(typed)).toBe(count)
})

test.each(['', ' ', '1.5', '1e3', '0x10', '-5', '1 000', '1234567890'])('“%s” is none', (typed) => {
  expect(readCount(typed)).toBeUndefined()
})

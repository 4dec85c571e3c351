import { expect, test } from 'vitest'
import { isNestedDeeperThan } from './json-depth.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('the allowed depth is allowed, one more is not', () => {
  expect(isNestedDeeperThan(nested(32), 32)).toBe(false)
  expect(isNestedDeeperThan(nested(33), 32)).toBe(true)
  expect(isNestedDeeperThan(`{"a":${'{"a":'.repeat(32)}1${'}'.repeat(33)}`, 32)).toBe(true)
})

test('brackets side by side are not nested', () => {
  expect(isNestedDeeperThan(`[${Array(1_000).fill('[{}]').join(',')}]`, 3)).toBe(false)
})

test('brackets inside strings do not count, whatever is escaped there', () => {
  const trap = JSON.stringify([`${'['.repeat(50)}\\`, `"${'{'.repeat(50)}`, '\\"', '\\\\'])
  expect(isNestedDeeperThan(trap, 32)).toBe(false)
  expect(isNestedDeeperThan(`["\\"",${nested(32)}]`, 32)).toBe(true)
})

test('text that is not JSON is never too deep', () => {
  expect(isNestedDeeperThan('['.repeat(40), 32)).toBe(true)
  expect(isNestedDeeperThan(`say ${nested(40)}`, 32)).toBe(false)
})

test('ten megabytes are scanned without recursion', () => {
  expect(isNestedDeeperThan(`["${'\\"['.repeat(3_000_000)}"]`, 32)).toBe(false)
  expect(isNestedDeeperThan(nested(5_000_000), 32)).toBe(true)
})

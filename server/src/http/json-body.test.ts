import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../json-depth.ts'
import { parseJsonObject } from './json-body.ts'

test('one JSON object is read, and empty text as an empty object', () => {
  expect(parseJsonObject('{"editCode":"123456"}')).toEqual({ editCode: '123456' })
  for (const nothing of ['', ' ', '\n']) expect(parseJsonObject(nothing)).toEqual({})
})

test('everything else is refused with one sentence', () => {
  for (const text of [
    '[]',
    '1',
    '"a"',
    'null',
    'true',
    '{',
    '{}{}',
    'editCode=1',
    "{'a':1}",
    '{"a":1,}',
    '\u0000',
  ])
    expect(() => parseJsonObject(text), text).toThrow('The body must be one JSON object.')
})

test('the depth is limited, and brackets in strings do not count', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  expect(() => parseJsonObject(nested(MAX_JSON_DEPTH))).not.toThrow()
  expect(() => parseJsonObject(nested(MAX_JSON_DEPTH + 1))).toThrow('deeper than 32 levels')
  expect(() => parseJsonObject('['.repeat(60_000))).toThrow('deeper than 32 levels')
  expect(parseJsonObject(JSON.stringify({ a: '{[\\"'.repeat(100) }))).toEqual({ a: '{[\\"'.repeat(100) })
})

test('the depth of any JSON is that of its values', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const depth = depthOf(value)
      expect(isNestedDeeperThan(JSON.stringify(value), depth)).toBe(false)
      if (depth > 0) expect(isNestedDeeperThan(JSON.stringify(value), depth - 1)).toBe(true)
    }),
  )
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

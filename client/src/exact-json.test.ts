import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExactJson } from './exact-json.ts'

test.each([
  ['[1.5, 0.123456789012345678]', [1.5, '0.123456789012345678']],
  ['{"a":12345678901234567890,"b":-3,"c":1e3}', { a: '12345678901234567890', b: -3, c: '1e3' }],
  ['"1.000000000000000001 \\" 2.0"', '1.000000000000000001 " 2.0'],
  ['{"12345678901234567890":true}', { '12345678901234567890': true }],
  ['[0, -0.5, 100]', [0, -0.5, 100]],
])('%s is %j', (json, value) => {
  expect(parseExactJson(json)).toEqual(value)
})

test('text that is no JSON is refused', () => {
  expect(() => parseExactJson('{"a":}')).toThrow(SyntaxError)
})

test('values that a double can hold are those of JSON.parse', () => {
  const plain = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)))
  fc.assert(
    fc.property(plain, (value) => {
      const isWritten = /e[+-]?\d/.test(JSON.stringify(value)) // 1e+21 is written so, and read so
      fc.pre(!isWritten)
      expect(parseExactJson(JSON.stringify(value))).toEqual(value)
    }),
    { seed: 1, numRuns: 500 },
  )
})

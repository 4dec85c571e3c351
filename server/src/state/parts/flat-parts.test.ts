import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Column, flatten, unflatten } from './flat-parts.ts'

const column: fc.Arbitrary<Column> = fc.oneof(
  fc.uint8Array(),
  fc.int16Array(),
  fc.int32Array(),
  fc.uint32Array(),
  fc.float64Array(),
)
const name = fc.string().filter((text) => text !== 'column' && text !== '__proto__')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'grapheme-composite' }),
    fc.integer(),
    fc.boolean(),
    column,
    fc.array(fc.option(fc.string(), { nil: undefined })),
    fc.array(tie('value')),
    fc.dictionary(name, tie('value'), { noNullPrototype: true }),
  ),
}))

test('unflatten gives the flattened value again, once its columns are filled', () => {
  fc.assert(
    fc.property(value, (written) => {
      const { json, columns } = flatten(written)
      const bytes = columns.reduce((sum, { byteLength }) => sum + byteLength, 0)

      const back = unflatten(json, bytes)
      for (const [i, empty] of back.columns.entries()) empty.set(columns[i]!)

      expect(back.value).toEqual(written)
      if (bytes > 0) expect(() => unflatten(json, bytes - 1)).toThrow(RangeError)
    }),
    { numRuns: 300 },
  )
})

test('a view of a part of a buffer comes back in its own buffer', () => {
  const shared = Uint32Array.of(1, 2, 3, 4)
  const { json, columns } = flatten({ middle: shared.subarray(1, 3), text: Buffer.from('ü') })
  const back = unflatten(json, 100)
  for (const [i, empty] of back.columns.entries()) empty.set(columns[i]!)

  expect(back.value).toEqual({ middle: Uint32Array.of(2, 3), text: Uint8Array.of(0xc3, 0xbc) })
  for (const { buffer, byteLength } of back.columns) expect(buffer.byteLength).toBe(byteLength)
})

test('other types of columns and malformed JSON are refused', () => {
  expect(() => flatten({ times: new BigInt64Array(1) })).toThrow(TypeError)
  for (const json of ['{"column":"Uint9Array","length":1}', '{"column":"Uint8Array","length":-1}', '{'])
    expect(() => unflatten(json, 1_000)).toThrow()
})

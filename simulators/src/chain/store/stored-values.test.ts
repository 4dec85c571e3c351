import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromStored, toStored } from './stored-values.ts'

const leaf = fc.oneof(
  fc.bigInt(),
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    leaf,
    fc.array(tie('value')),
    fc.dictionary(fc.constantFrom('id', 'priceWei', 'terms'), tie('value')),
  ),
}))

test('every value of a contract comes back from JSON', () => {
  fc.assert(
    fc.property(value, (stored) => {
      expect(fromStored(JSON.parse(JSON.stringify(toStored(stored))))).toEqual(stored)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Contracts } from '../contracts/contracts.ts'
import { erasOf } from '../contracts/eras.ts'
import { Machine } from '../contracts/machine.ts'
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

test('a contract comes back as the one at its address', () => {
  const contracts = new Contracts(new Machine(erasOf(0)))
  const stored = JSON.parse(JSON.stringify(toStored([{ token: contracts.estates }])))

  const [{ token }] = fromStored(stored, contracts.byAddress()) as [{ token: unknown }]
  expect(token).toBe(contracts.estates)
  expect(() => fromStored(stored)).toThrow(`there is no contract ${contracts.estates.address}`)
})

import { Revert } from '@landpass/simulators/chain/contracts/machine'
import { aggregate3 } from '@landpass/simulators/chain/node/multicall'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from './aggregate3.ts'

const hex = (bytes: { minLength: number; maxLength: number }) =>
  fc.uint8Array(bytes).map((value) => `0x${Buffer.from(value).toString('hex')}`)
const callAndResult = fc.record({
  call: fc.record({
    to: hex({ minLength: 20, maxLength: 20 }),
    data: hex({ minLength: 0, maxLength: 100 }),
  }),
  result: fc.oneof(
    hex({ minLength: 0, maxLength: 100 }).map((returned) => ({ isSuccess: true, returned })),
    fc.constant({ isSuccess: false, returned: '0x' }),
  ),
})

test('calls reach their contracts as they are, in order, and each result comes back to its call', () => {
  fc.assert(
    fc.property(fc.array(callAndResult, { maxLength: 12 }), (pairs) => {
      const made: object[] = []
      const returned = aggregate3(encodeAggregate3(pairs.map(({ call }) => call)), {
        most: 0,
        call: (to, data) => {
          const { result } = pairs[made.length]!
          made.push({ to, data })
          if (!result.isSuccess) throw new Revert('refused')
          return result.returned
        },
      })

      expect(made).toEqual(pairs.map(({ call }) => call))
      expect(decodeAggregate3(returned)).toEqual(pairs.map(({ result }) => result))
    }),
  )
})

test('the form is that of the contract', () => {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const call = { to: MULTICALL3, data: '0x18160ddd' }

  expect(encodeAggregate3([])).toBe(`0x82ad56cb${word(32)}${word(0)}`)
  expect(encodeAggregate3([call])).toBe(
    `0x82ad56cb${word(32)}${word(1)}${word(32)}${MULTICALL3.slice(2).padStart(64, '0')}${word(1)}${word(96)}${word(4)}${'18160ddd'.padEnd(64, '0')}`,
  )
})

test('what is no list of results is refused, as what an address without a contract returns', () => {
  expect(() => decodeAggregate3('0x')).toThrow()
  expect(() => decodeAggregate3(`0x${'ff'.repeat(64)}`)).toThrow()
  fc.assert(
    fc.property(hex({ minLength: 0, maxLength: 200 }), (returned) => {
      try {
        decodeAggregate3(returned)
      } catch (error) {
        expect((error as Error).name).toBe('UnfitLogError')
      }
    }),
  )
})

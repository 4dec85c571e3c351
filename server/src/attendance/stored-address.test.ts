import { expect, test } from 'vitest'
import { storedAddress } from './stored-address.ts'

const RIGHT = '0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587'

test('an address is stored in lower case, if its letter case has no checksum or the right one', () => {
  for (const written of [
    RIGHT,
    RIGHT.replace('0x', '0X'),
    RIGHT.toLowerCase(),
    `0x${RIGHT.slice(2).toUpperCase()}`,
    RIGHT.toUpperCase(),
  ]) {
    expect(storedAddress('address', written), written).toBe(RIGHT.toLowerCase())
  }
  expect(storedAddress('address', `0x${'1'.repeat(40)}`)).toBe(`0x${'1'.repeat(40)}`)
})

test('in mixed letter case a mistyped character is found, and the address is shown', () => {
  for (const mistyped of [RIGHT.replace('Ba224', 'Ba225'), RIGHT.replace('Ce587', 'CE587')]) {
    expect(() => storedAddress('add', mistyped)).toThrow(
      expect.objectContaining({
        code: 'invalid_parameter',
        message: expect.stringContaining(mistyped),
        data: expect.objectContaining({ parameter: 'add', value: mistyped }),
      }),
    )
  }
})

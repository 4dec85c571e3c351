import { describe, expect, test } from 'vitest'
import { findTypedAddress, findTypedPlace } from './typed-place.ts'

describe('coordinates', () => {
  test.each([
    ['12,-34', 12, -34],
    ['  12 , -34 ', 12, -34],
    ['(12;-34)', 12, -34],
    ['[12 -34]', 12, -34],
    ['( 12; −34 )', 12, -34],
    ['１２，−３４', 12, -34],
    ['+12,-0', 12, 0],
    ['-150、150', -150, 150],
  ])('%s are understood', (text, x, y) => {
    expect(findTypedPlace(text)).toStrictEqual({ x, y })
  })

  test.each(['', '12', '12,', '12,-', '1.5,2', '12,34,56', 'x12,34', '1234567,0', '0x12,1', '١٢,٣٤'])(
    '"%s" is none',
    (text) => {
      expect(findTypedPlace(text)).toBeUndefined()
    },
  )
})

describe('an address', () => {
  const address = `0x${'aB'.repeat(20)}`

  test('is understood in any letter case and with spaces around it', () => {
    expect(findTypedAddress(`  ${address}\n`)).toBe(address.toLowerCase())
    expect(findTypedAddress(address.toUpperCase())).toBe(address.toLowerCase())
  })

  test.each(['', '0x', address.slice(0, -1), `${address}0`, address.slice(2), address.replace('a', 'g')])(
    'is not "%s"',
    (text) => {
      expect(findTypedAddress(text)).toBeUndefined()
    },
  )
})

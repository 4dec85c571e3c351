import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromHex, isHex, numberBytes, toHex } from './bytes.ts'

test('hex texts are read as Buffer reads them, and all other texts are refused', () => {
  const hexText = fc.stringMatching(/^0x(?:[0-9a-fA-F]{2}){0,80}$/)
  const otherText = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }).map((text) => `0x${text}`),
    fc
      .tuple(hexText, fc.nat(), fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }))
      .map(([hex, at, other]) => {
        const place = 2 + (at % Math.max(1, hex.length - 2))
        return hex.slice(0, place) + other + hex.slice(place + 1)
      }),
  )
  fc.assert(
    fc.property(fc.oneof(hexText, otherText), (text) => {
      if (!isHex(text)) {
        expect(() => fromHex(text)).toThrow(RangeError)
        return
      }
      const bytes = fromHex(text)
      expect(Buffer.from(bytes)).toEqual(Buffer.from(text.slice(2), 'hex'))
      expect(toHex(bytes)).toBe(text.toLowerCase())
    }),
    { seed: 16, numRuns: 500 },
  )
  for (const text of [
    '',
    '0',
    '0x0',
    '0X00',
    '1x00',
    ' 0x00',
    '0x00 ',
    '0xg0',
    '0x0G',
    '0x/0',
    '0x0:',
    '0x@0',
    '0x0`',
    '0x00\n',
    '0xé0',
    '0x０0',
  ])
    expect(() => fromHex(text), text).toThrow('not a hex text')
  for (const value of [undefined, null, 5, ['0x00'], new String('0x00')])
    expect(() => fromHex(value as string)).toThrow(RangeError)
})

test('numbers are written big endian, and the highest bytes of longer ones are left out', () => {
  const value = fc.oneof(
    fc.maxSafeNat(),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.bigInt({ min: 0n, max: 2n ** 70n }),
  )
  const wanted = (number: number | bigint, length: number) =>
    BigInt.asUintN(8 * length, BigInt(number))
      .toString(16)
      .padStart(2 * length, '0')
  const limits = [
    0,
    255,
    256,
    2 ** 32,
    2 ** 53 - 1,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 64n - 1n,
    2n ** 256n - 1n,
  ]
  const bytesOf = (number: number | bigint, length: number) =>
    Buffer.from(numberBytes(number, length)).toString('hex')

  for (const limit of limits)
    for (const length of [1, 2, 8, 32]) expect(bytesOf(limit, length)).toBe(wanted(limit, length))
  fc.assert(
    fc.property(value, fc.constantFrom(1, 2, 8, 32), (number, length) => {
      expect(bytesOf(number, length)).toBe(wanted(number, length))
    }),
    { seed: 16 },
  )
  for (const value of [null, undefined, '1e3', '5.0', {}, 1.5, Number.NaN])
    expect(() => numberBytes(value as number)).toThrow()
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/support/run/property-seed.ts'
import { keccak256 } from './keccak256.ts'
import { addressOf, recoverAddress, signText } from './signatures.ts'

/** The order of the curve's group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const KEY = Buffer.from('4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318', 'hex')

test('the hash of no bytes is the published one', () => {
  expect(Buffer.from(keccak256(new Uint8Array())).toString('hex')).toBe(
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
})

test('the private key 1 has the published address', () => {
  expect(addressOf(Buffer.from('01'.padStart(64, '0'), 'hex'))).toBe(
    '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
  )
})

test("a text is signed as in web3's documentation", () => {
  expect(addressOf(KEY)).toBe('0x2c7536e3605d9c16a7a3d7b1898e529396a65c23')
  expect(signText('Some data', KEY)).toBe(
    '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
  )
})

test('the address is recovered from a signature in each of its spellings', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  const key = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .filter((bytes) => bytes[0] !== 255 && bytes[1] !== 0)
  fc.assert(
    fc.property(text, key, (signed, privateKey) => {
      const address = addressOf(privateKey)
      for (const spelling of spellingsOf(signText(signed, privateKey))) {
        expect(recoverAddress(signed, spelling)).toBe(address)
      }
    }),
    { numRuns: runs(40) },
  )
})

test('a malformed signature has no address', () => {
  const good = signText('hello', KEY)
  const zero = '0'.repeat(64)
  for (const bad of [
    '',
    '0x',
    'hello',
    good.slice(2),
    good.slice(0, -2),
    `${good}00`,
    `${good.slice(0, -2)}1d`,
    `${good.slice(0, -2)}02`,
    `0x${zero}${zero}1b`,
    `0x${'f'.repeat(128)}1b`,
    `0x${ORDER.toString(16)}${good.slice(66)}`,
    good.replace(/.$/, 'g'),
    `${good}\n`,
  ]) {
    expect(recoverAddress('hello', bad), bad).toBeUndefined()
  }
})

test('random texts and bytes do not throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array({ minLength: 64, maxLength: 64 }), (text, bytes) => {
      recoverAddress(text, text)
      recoverAddress(text, `0x${Buffer.from(bytes).toString('hex')}1b`)
    }),
    { numRuns: runs(100) },
  )
})

test('bytes that are not a key are refused', () => {
  expect(() => addressOf(new Uint8Array(32))).toThrow()
  expect(() => signText('hello', Buffer.alloc(32, 255))).toThrow()
})

/** Other spellings of a signature: upper case, the other form of the last byte, and the twin with the negative of s. */
function spellingsOf(signature: string): string[] {
  const r = signature.slice(2, 66)
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const twin = (ORDER - s).toString(16).padStart(64, '0')
  const [v, otherV] = signature.endsWith('1b') ? ['00', '1c'] : ['01', '1b']
  return [
    signature,
    signature.toUpperCase().replace('0X', '0x'),
    `${signature.slice(0, -2)}${v}`,
    `0x${r}${twin}${otherV}`,
  ]
}

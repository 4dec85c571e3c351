import { ethers } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/support/run/property-seed.ts'
import { checksumAddress } from './checksum-address.ts'
import * as curve from './curve.ts'
import { keccak256 } from './keccak256.ts'

/** The order of the curve's group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const hex = (bytes: Uint8Array) => ethers.hexlify(bytes)
const word = (value: bigint) => ethers.getBytes(ethers.toBeHex(value, 32))
const digests = fc.uint8Array({ minLength: 32, maxLength: 32 })
const keys = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(word)

test('a hash is that of another library, whatever the length and the parts', () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 4 })
  fc.assert(
    fc.property(parts, (bytes) => {
      expect(hex(keccak256(...bytes))).toBe(ethers.keccak256(ethers.concat(bytes)))
    }),
    { numRuns: runs(100) },
  )
  // Around the 136 bytes of a block, and the 16,384 of the memory that takes input
  for (const length of [0, 135, 136, 137, 272, 16_383, 16_384, 16_385, 40_000]) {
    const bytes = new Uint8Array(length).map((_, at) => at)
    expect(hex(keccak256(bytes)), `${length} bytes`).toBe(ethers.keccak256(bytes))
  }
})

test('an address has the letter case that another library gives it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      expect(checksumAddress(hex(bytes))).toBe(ethers.getAddress(hex(bytes)))
    }),
    { numRuns: runs(100) },
  )
})

test('what is not bytes is not hashed, and the next hash is right', () => {
  const bytes = Buffer.from('abc')
  const others: unknown[] = ['abc', 3, [1, 2, 3], new DataView(new ArrayBuffer(3)), undefined]
  for (const other of others) {
    expect(() => keccak256(bytes, other as Uint8Array)).toThrow(TypeError)
    expect(hex(keccak256(bytes))).toBe(ethers.keccak256(bytes))
  }
})

/** Native code, where there is some for this platform, and what takes its place elsewhere. */
const LIBRARIES = [
  ['native code', curve.nativeCurve()],
  ['WebAssembly', await curve.portableCurve()],
] as const

describe.each(LIBRARIES.filter(([, library]) => library))('%s', (_, library) => {
  const publicKeyOf = (key: Uint8Array) => curve.publicKeyOf(key, library)
  const signRecoverable = (digest: Uint8Array, key: Uint8Array) => curve.signRecoverable(digest, key, library)
  const recoverPublicKey = (signature: curve.RecoverableSignature, digest: Uint8Array) =>
    curve.recoverPublicKey(signature, digest, library)

  test('keys and signatures are those of another library, and the key is recovered', () => {
    fc.assert(
      fc.property(keys, digests, (key, digest) => {
        const signing = new ethers.SigningKey(key)
        const theirs = signing.sign(digest)
        const { compact, recoveryId } = signRecoverable(digest, key)
        expect(hex(publicKeyOf(key))).toBe(signing.publicKey)
        expect(hex(compact)).toBe(ethers.concat([theirs.r, theirs.s]))
        expect(recoveryId).toBe(theirs.yParity)
        expect(hex(recoverPublicKey({ compact, recoveryId }, digest)!)).toBe(signing.publicKey)
      }),
      { numRuns: runs(20) },
    )
  })

  test('random signatures have the key that another library recovers, or none', () => {
    const signatures = fc.tuple(digests, digests, fc.integer({ min: 0, max: 1 }))
    fc.assert(
      fc.property(signatures, digests, ([r, s, recoveryId], digest) => {
        const ours = recoverPublicKey({ compact: Buffer.concat([r, s]), recoveryId }, digest)
        expect(ours && hex(ours)).toBe(theirKey(digest, { r, s, recoveryId }))
      }),
      { numRuns: runs(20) },
    )
  })

  test('bytes that are no key, and inputs of another length, are refused', () => {
    const digest = new Uint8Array(32)
    for (const key of [0n, ORDER, ORDER + 1n, 2n ** 256n - 1n].map(word)) {
      expect(() => publicKeyOf(key)).toThrow(RangeError)
      expect(() => signRecoverable(digest, key)).toThrow(RangeError)
    }
    const key = word(1n)
    expect(() => signRecoverable(digest, key.subarray(1))).toThrow(RangeError)
    expect(() => signRecoverable(digest.subarray(1), key)).toThrow(RangeError)
    expect(() => recoverPublicKey({ compact: new Uint8Array(63), recoveryId: 0 }, digest)).toThrow(RangeError)
    // What follows is not affected
    expect(hex(signRecoverable(digest, key).compact)).toBe(
      ethers.dataSlice(new ethers.SigningKey(key).sign(digest).serialized, 0, 64),
    )
  })

  test('a signature with a number at the edge of what is allowed has the key that another library recovers, or none', () => {
    const digest = ethers.getBytes(ethers.keccak256('0x01'))
    const values = [0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, 2n ** 256n - 1n].map(word)
    for (const r of values)
      for (const s of values)
        for (const recoveryId of [0, 1]) {
          const ours = recoverPublicKey({ compact: Buffer.concat([r, s]), recoveryId }, digest)
          expect(ours && hex(ours)).toBe(theirKey(digest, { r, s, recoveryId }))
        }
  })

  test('a recovery id that cannot be has no key, however often it is tried', () => {
    const digest = new Uint8Array(32).fill(7)
    const { compact, recoveryId } = signRecoverable(digest, word(1n))
    for (const wrong of [-1, 4, 27, 28, 2 ** 31])
      for (let time = 0; time < 400; time++)
        expect(recoverPublicKey({ compact, recoveryId: wrong }, digest)).toBeUndefined()
    expect(recoverPublicKey({ compact, recoveryId }, digest)).toEqual(publicKeyOf(word(1n)))
  })

  test('what is not bytes is refused', () => {
    expect(() => publicKeyOf('1'.repeat(32) as unknown as Uint8Array)).toThrow(TypeError)
  })
})

/** Undefined where the library refuses the signature, also one with the greater s: then the twin is tried. */
function theirKey(
  digest: Uint8Array,
  { r, s, recoveryId }: { r: Uint8Array; s: Uint8Array; recoveryId: number },
): string | undefined {
  const sValue = BigInt(hex(s))
  const isHigh = sValue > ORDER / 2n
  try {
    return ethers.SigningKey.recoverPublicKey(digest, {
      r: hex(r),
      s: ethers.toBeHex(isHigh ? ORDER - sValue : sValue, 32),
      v: 27 + (isHigh ? 1 - recoveryId : recoveryId),
    })
  } catch {
    return undefined
  }
}

import { ethers } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/support/property-seed.ts'
import { hashOf, publicKeyOf, recoverPublicKey, signRecoverable } from './curve.ts'

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
      expect(hex(hashOf(...bytes))).toBe(ethers.keccak256(ethers.concat(bytes)))
    }),
    { numRuns: runs(100) },
  )
  // Around the 136 bytes of a block, and the 4,096 of the memory that takes input
  for (const length of [0, 135, 136, 137, 272, 4_095, 4_096, 4_097, 10_000]) {
    const bytes = new Uint8Array(length).map((_, at) => at)
    expect(hex(hashOf(bytes)), `${length} bytes`).toBe(ethers.keccak256(bytes))
  }
})

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
    { numRuns: runs(40) },
  )
})

test('random signatures have the key that another library recovers, or none', () => {
  const signatures = fc.tuple(digests, digests, fc.integer({ min: 0, max: 1 }))
  fc.assert(
    fc.property(signatures, digests, ([r, s, recoveryId], digest) => {
      const ours = recoverPublicKey({ compact: Buffer.concat([r, s]), recoveryId }, digest)
      expect(ours && hex(ours)).toBe(theirKey(digest, { r, s, recoveryId }))
    }),
    { numRuns: runs(40) },
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

import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UnreadableSecretError, Vault } from './vault.ts'

const vault = new Vault(Buffer.alloc(32, 7))

test('a sealed secret can be opened again, and only as the same kind', () => {
  const sealed = vault.seal('claim-code', 'k3v9zq')

  expect(vault.open('claim-code', sealed)).toBe('k3v9zq')
  expect(() => vault.open('captcha', sealed)).toThrow(UnreadableSecretError)
})

test('sealing a secret twice gives different bytes, and never the secret itself', () => {
  const first = vault.seal('claim-code', 'k3v9zq')
  const second = vault.seal('claim-code', 'k3v9zq')

  expect(first.equals(second)).toBe(false)
  expect(first.includes('k3v9zq')).toBe(false)
})

test('a change of any byte is detected, and the error does not hold the secret', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 200 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (secret, at, change) => {
        const sealed = vault.seal('issuer-token', secret)
        sealed[at % sealed.length]! ^= change
        expect(() => vault.open('issuer-token', sealed)).toThrow(/^a stored issuer-token cannot be decrypted/)
      },
    ),
  )
})

test('bytes that are too short, or sealed with another key, are an UnreadableSecretError', () => {
  const other = new Vault(randomBytes(32))

  expect(() => vault.open('captcha', Buffer.alloc(5))).toThrow(UnreadableSecretError)
  expect(() => other.open('claim-code', vault.seal('claim-code', 'k3v9zq'))).toThrow(UnreadableSecretError)
})

test('fingerprints are equal for equal secrets, keys and kinds only', () => {
  const print = vault.fingerprint('claim-code', 'k3v9zq')

  expect(vault.fingerprint('claim-code', 'k3v9zq').equals(print)).toBe(true)
  expect(vault.fingerprint('claim-code', 'k3v9zr').equals(print)).toBe(false)
  expect(vault.fingerprint('captcha', 'k3v9zq').equals(print)).toBe(false)
  expect(new Vault(Buffer.alloc(32, 8)).fingerprint('claim-code', 'k3v9zq').equals(print)).toBe(false)
})

test('a key has 32 bytes', () => {
  expect(() => new Vault(Buffer.alloc(16))).toThrow('32 bytes')
})

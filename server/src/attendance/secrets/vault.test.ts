import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UnreadableSecretError, Vault } from './vault.ts'

const vault = new Vault(Buffer.alloc(32, 7))

test('a encrypted secret can be opened again, and only as the same kind', () => {
  const encrypted = vault.encrypt('claim-code', 'k3v9zq', '7')

  expect(vault.decrypt('claim-code', encrypted, '7')).toBe('k3v9zq')
  expect(() => vault.decrypt('captcha', encrypted, '7')).toThrow(UnreadableSecretError)
})

test('encrypting a secret twice gives different bytes, and never the secret itself', () => {
  const first = vault.encrypt('claim-code', 'k3v9zq', '7')
  const second = vault.encrypt('claim-code', 'k3v9zq', '7')

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
        const encrypted = vault.encrypt('issuer-token', secret, 'issuer')
        encrypted[at % encrypted.length]! ^= change
        expect(() => vault.decrypt('issuer-token', encrypted, 'issuer')).toThrow(
          /^a stored issuer-token cannot be decrypted/,
        )
      },
    ),
  )
})

test('bytes that are too short, or encrypted with another key, are an UnreadableSecretError', () => {
  const other = new Vault(randomBytes(32))

  expect(() => vault.decrypt('captcha', Buffer.alloc(5), '7')).toThrow(UnreadableSecretError)
  expect(() => other.decrypt('claim-code', vault.encrypt('claim-code', 'k3v9zq', '7'), '7')).toThrow(
    UnreadableSecretError,
  )
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

test('a value that is copied to another event cannot be decrypted there', () => {
  const encrypted = vault.encrypt('claim-code', 'k3v9zq', '7')

  expect(vault.decrypt('claim-code', encrypted, '7')).toBe('k3v9zq')
  expect(() => vault.decrypt('claim-code', encrypted, '8')).toThrow(UnreadableSecretError)
})

test('values of all keys of a vault can be decrypted; new ones have the first key', () => {
  const [old, next] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
  const turned = new Vault(next, { otherKeys: [old] })

  expect(turned.decrypt('claim-code', vault.encrypt('claim-code', 'k3v9zq', '7'), '7')).toBe('k3v9zq')
  const encrypted = turned.encrypt('claim-code', 'k3v9zq', '7')
  expect(new Vault(next).decrypt('claim-code', encrypted, '7')).toBe('k3v9zq')
  expect(vault.canDecrypt('claim-code', encrypted, '7')).toBe(false)
  expect(encrypted.subarray(0, 4)).toEqual(turned.currentPrefix)
  expect(turned.otherFingerprints('claim-code', 'k3v9zq')).toEqual([
    vault.fingerprint('claim-code', 'k3v9zq'),
  ])
})

import { readFileSync } from 'node:fs'
import { signAsync } from '@noble/secp256k1'
import { expect, test } from 'vitest'
import {
  attestationDigest,
  fromHex,
  MAINNET_DOMAIN,
  packageJson,
  readIssuerList,
  readRevocationList,
  revocationListAttestation,
  type Trust,
  toHex,
} from './index.ts'

/** Keys for tests alone. */
const { keys } = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8')) as {
  readonly keys: Readonly<Record<'issuer1' | 'issuer2', { privateKey: string; address: string }>>
}
const [KEY_A, KEY_B] = [keys.issuer1, keys.issuer2]
const TIME_S = 1_804_273_200
const NOW_MS = TIME_S * 1000

test('a list of keys is read whole or not at all', () => {
  const key = { address: KEY_A.address, from: '2027-01-01T00:00:00Z', until: null, state: 'active' }
  const stolen = { ...key, state: 'compromised' }
  const read = (...issuers: readonly unknown[]) => readIssuerList({ issuers }, 'ours')
  expect(read(key, { ...stolen, withdrawn: '2027-03-01T00:00:00.500Z' })).toEqual([
    { address: KEY_A.address, issuer: 'ours', state: 'active', from: 1_798_761_600 },
    {
      ...{ address: KEY_A.address, issuer: 'ours', state: 'compromised', from: 1_798_761_600 },
      withdrawn: 1_803_859_200,
    },
  ])
  expect(read(stolen)).toHaveLength(1)
  for (const wrong of [
    ...[null, 7, '2027-03-01', '2027-03-01T00:00:00+01:00', '2027-02-31T00:00:00Z', 'yesterday'].map(
      (withdrawn) => ({ ...stolen, withdrawn }),
    ),
    { ...key, withdrawn: '2027-03-01T00:00:00Z' },
    { ...key, from: '2027' },
    { ...key, until: '2027-13-01T00:00:00Z' },
    { ...key, until: undefined },
    { ...key, state: 'unknown' },
    { ...key, address: '0x00' },
    [],
  ])
    expect(read(key, wrong), JSON.stringify(wrong)).toBeUndefined()
})

test('a list of revocations holds for the keys of its issuer, not for those of others', async () => {
  const uid = `0x${'a1'.repeat(32)}`
  const [a, b] = [KEY_A.address.toLowerCase(), KEY_B.address.toLowerCase()]
  const revoked = [
    { uid, signer: a, since: TIME_S, reason: '' },
    { uid, signer: b, since: TIME_S, reason: '' },
  ]
  const proof = await proofOf(revoked, KEY_B)
  const revokedOf = (issuers: Trust['issuers']) => {
    const list = readRevocationList({ revoked, proof }, { issuers, nowMs: NOW_MS })
    return [a, b].map((signer) => list?.isRevoked(uid, signer))
  }
  const keyOf = ({ address }: typeof KEY_A, issuer?: string) => ({
    address,
    state: 'active' as const,
    issuer,
  })
  expect(revokedOf([keyOf(KEY_A), keyOf(KEY_B)])).toEqual([false, true])
  expect(revokedOf([keyOf(KEY_A, 'one'), keyOf(KEY_B, 'two')])).toEqual([false, true])
  // The issuer's second key signs the list after a rotation
  const rotated = [keyOf(KEY_A, 'one'), keyOf(KEY_B, 'one')]
  expect(revokedOf(rotated)).toEqual([true, true])
  // Another issuer lists the key of the first as its own
  expect(revokedOf([keyOf(KEY_A, 'one'), keyOf(KEY_A, 'two'), keyOf(KEY_B, 'two')])).toEqual([false, true])
  expect(revokedOf([keyOf(KEY_B)])).toEqual([false, true])
})

async function proofOf(revoked: Parameters<typeof revocationListAttestation>[0], signer: typeof KEY_A) {
  const attestation = revocationListAttestation(revoked, TIME_S)
  const digest = attestationDigest(MAINNET_DOMAIN, attestation)
  const bytes = await signAsync(digest, fromHex(signer.privateKey), { prehash: false, format: 'recovered' })
  const signature = { v: 27 + bytes[0]!, r: toHex(bytes.subarray(1, 33)), s: toHex(bytes.subarray(33)) }
  return packageJson({ domain: MAINNET_DOMAIN, attestation, signature, signer: signer.address })
}

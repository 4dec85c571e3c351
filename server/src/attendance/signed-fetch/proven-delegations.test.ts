import { expect, test } from 'vitest'
import { addressOf, signText } from '../../ethereum/signatures.ts'
import { type Delegation, parseDelegation } from './delegation.ts'
import { ProvenDelegations } from './proven-delegations.ts'
import { recoverSigner } from './signature-recovery.ts'

const WALLET = Buffer.alloc(32, 1)
const OWNER = addressOf(WALLET)

test('a delegation belongs to the wallet that signed it and to no other, the first time and from the cache', async () => {
  const memory = new ProvenDelegations(2)
  const mine = delegationUntil('2026-02-14T12:00:00.000Z')
  const signature = signText(mine.text, WALLET)

  for (let time = 0; time < 3; time++) {
    expect(await memory.isBy(OWNER, mine, signature, recoverSigner)).toBe(true)
    expect(await memory.isBy(OWNER, mine, signature.toUpperCase().replace('0X', '0x'), recoverSigner)).toBe(
      true,
    )
    expect(await memory.isBy(addressOf(Buffer.alloc(32, 2)), mine, signature, recoverSigner)).toBe(false)
    expect(
      await memory.isBy(OWNER, delegationUntil('2027-02-14T12:00:00.000Z'), signature, recoverSigner),
    ).toBe(false)
  }
})

test('a delegation that was dropped is verified again', async () => {
  const memory = new ProvenDelegations(2)
  const all = ['2026-01-01T00:00:00', '2026-01-02T00:00:00', '2026-01-03T00:00:00Z'].map(delegationUntil)

  for (const each of [...all, ...all]) {
    expect(await memory.isBy(OWNER, each, signText(each.text, WALLET), recoverSigner)).toBe(true)
  }
})

test('an expiry is read as UTC where it names no zone, and to the millisecond', () => {
  const address = '0xE05fcc23807536bee418f142d19fa0d21bb0cff7'
  const expiry = (text: string) =>
    parseDelegation(`Decentraland Login\nEphemeral address: ${address}\nExpiration: ${text}`)?.expiresAtMs

  expect(expiry('2026-02-14T12:00:00.000Z')).toBe(1771070400000)
  expect(expiry('2026-02-14T12:00:00')).toBe(1771070400000)
  expect(expiry('2026-02-14T12:00:00.1234567')).toBe(1771070400123)
  expect(expiry('2026-02-14T14:00:00+02:00')).toBe(1771070400000)
  for (const bad of [
    '',
    '1771070400000',
    '2026-02-14',
    '2026-13-14T12:00:00Z',
    '2026-02-14T12:00:00Z\n',
    'never',
  ]) {
    expect(expiry(bad), bad).toBeUndefined()
  }
})

function delegationUntil(time: string): Delegation {
  return parseDelegation(`Decentraland Login\nEphemeral address: ${OWNER}\nExpiration: ${time}`)!
}

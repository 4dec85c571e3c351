import { expect, test } from 'vitest'
import { addressOf, signText } from '../../ethereum/signatures.ts'
import { type Delegation, parseDelegation } from './delegation.ts'
import { ProvenDelegations } from './proven-delegations.ts'

const WALLET = Buffer.alloc(32, 1)
const OWNER = addressOf(WALLET)

test('a delegation that was added is known of its wallet and of no other', () => {
  const proven = new ProvenDelegations(2)
  const mine = delegationUntil('2026-02-14T12:00:00.000Z')
  const signature = signText(mine.text, WALLET)
  expect(proven.has(OWNER, mine, signature)).toBe(false)
  proven.add(OWNER, mine, signature)

  expect(proven.has(OWNER, mine, signature)).toBe(true)
  expect(proven.has(OWNER, mine, signature.toUpperCase().replace('0X', '0x'))).toBe(true)
  expect(proven.has(addressOf(Buffer.alloc(32, 2)), mine, signature)).toBe(false)
  expect(proven.has(OWNER, delegationUntil('2027-02-14T12:00:00.000Z'), signature)).toBe(false)
  expect(proven.has(OWNER, mine, signText('other', WALLET))).toBe(false)
})

test('beyond the limit the oldest delegation is dropped, and can be added again', () => {
  const proven = new ProvenDelegations(2)
  const all = ['2026-01-01T00:00:00', '2026-01-02T00:00:00', '2026-01-03T00:00:00Z'].map(delegationUntil)
  const known = () => all.map((each) => proven.has(OWNER, each, '0x'))

  for (const each of all) proven.add(OWNER, each, '0x')
  expect(known()).toEqual([false, true, true])
  proven.add(OWNER, all[0]!, '0x')
  expect(known()).toEqual([true, false, true])
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

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../test/support/http/land-server.ts'
import { Vault } from '../secrets/vault.ts'
import { CHALLENGE_TTL_MS, GuessChallenges } from './guess-challenge.ts'

const EVENT = 90_001
const EASY_BITS = 8

function challenges(key = 1) {
  const clock = testClock()
  return { clock, made: new GuessChallenges({ vault: new Vault(Buffer.alloc(32, key)), clock }) }
}

/** As a client does it: it knows the text of the answer only. */
function solve(challenge: string, bits: number): string {
  for (let nonce = 0; ; nonce++) {
    const proof = `${challenge}:${nonce}`
    const hash = createHash('sha256').update(proof).digest()
    if (hash.readUInt32BE(0) >>> (32 - bits) === 0) return proof
  }
}

test('a solved challenge is accepted for its event until it expires', () => {
  const { clock, made } = challenges()
  const { challenge, bits, algorithm, expires_at } = made.make(EVENT, EASY_BITS)
  const other = made.make(EVENT, EASY_BITS)
  const proof = solve(challenge, bits)

  expect([bits, algorithm]).toEqual([EASY_BITS, 'sha256'])
  expect(Date.parse(expires_at)).toBe(clock.nowMs() + CHALLENGE_TTL_MS)
  expect(made.check(EVENT, proof)).toEqual({ id: expect.any(String), bits: EASY_BITS })
  expect(made.check(EVENT, solve(other.challenge, bits))?.id).not.toBe(made.check(EVENT, proof)?.id)
  expect(made.check(EVENT + 1, proof), 'another event').toBeUndefined()
  expect(challenges(2).made.check(EVENT, proof), 'another key').toBeUndefined()
  clock.set(clock.nowMs() + CHALLENGE_TTL_MS)
  expect(made.check(EVENT, proof), 'expired').toBeUndefined()
})

test('what was not solved, or was changed, is no proof', () => {
  const { made } = challenges()
  const { challenge } = made.make(EVENT, 20)
  const easier = challenge.replace(/^20/, '00')

  for (const text of [
    '',
    challenge,
    `${challenge}:`,
    `${challenge}:1`,
    `${challenge}:x`,
    `${easier}:1`,
    `${challenge}:-1`,
  ]) {
    expect(made.check(EVENT, text), text).toBeUndefined()
  }
})

test('while ATTENDANCE_KEY is changed, challenges of all keys are accepted', () => {
  const clock = testClock()
  const [before, after] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const made = (key: Buffer, otherKeys: Buffer[]) =>
    new GuessChallenges({ vault: new Vault(key, { otherKeys }), clock })
  const [notYet, changed] = [made(before, [after]), made(after, [before])]

  for (const [maker, checker] of [
    [made(before, []), changed],
    [notYet, changed],
    [changed, notYet],
  ] as const) {
    const { challenge, bits } = maker.make(EVENT, EASY_BITS)
    expect(checker.check(EVENT, solve(challenge, bits))).toMatchObject({ bits })
  }
})

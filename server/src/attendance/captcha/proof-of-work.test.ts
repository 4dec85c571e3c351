import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Challenge, isProof } from './proof-of-work.ts'

const challenge: Challenge = {
  uuid: '0d4f0f0a-8d1c-4a55-9a43-9f6c7b1f2a33',
  eventUuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
  address: '0x00000000000000000000000000000000000000aa',
}

test('a nonce whose hash begins with twelve zero bits proves twelve and less, but not thirteen', () => {
  expect([0, 1, 8, 12, 13, 30].map((bits) => isProof(challenge, '7483', bits))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ])
})

test('a proof is valid for one challenge, one event and one player', () => {
  const others: Challenge[] = [
    { ...challenge, uuid: challenge.eventUuid },
    { ...challenge, eventUuid: challenge.uuid },
    { ...challenge, address: '0x00000000000000000000000000000000000000ab' },
  ]

  expect(others.map((other) => isProof(other, '7483', 12))).toEqual([false, false, false])
})

test('about one nonce of 2^bits is a proof', () => {
  const nonces = Array.from({ length: 4096 }, (_, nonce) => String(nonce))

  for (const bits of [1, 4, 7]) {
    const share = nonces.filter((nonce) => isProof(challenge, nonce, bits)).length / nonces.length
    expect(share * 2 ** bits).toBeGreaterThan(0.5)
    expect(share * 2 ** bits).toBeLessThan(1.5)
  }
})

test('a text that is not 1 to 64 digits is no proof, even for 0 bits', () => {
  expect(isProof(challenge, '9'.repeat(64), 0)).toBe(true)
  for (const nonce of ['', '-1', '1e3', '0x1', ' 1', '1\n', '１', '9'.repeat(65)]) {
    expect(isProof(challenge, nonce, 0), JSON.stringify(nonce)).toBe(false)
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(isProof(challenge, text, 0)).toBe(/^[0-9]{1,64}$/.test(text) && !text.endsWith('\n'))
    }),
    { seed: 1 },
  )
})

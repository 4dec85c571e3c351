import { verifySignature } from '@landpass/server/attendance/signed-fetch/verify-signature'
import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import { expect, test } from 'vitest'
import { makePlayer, PREVIEW_REALM, type RequestToSign } from './player.ts'
import { findNonce, leadingZeroBits } from './proof-of-work.ts'

const NOW_MS = Date.parse('2026-01-15T12:00:00.000Z')
const REQUEST = { method: 'POST', path: '/claim/AB', body: '{"captcha":"ü"}', atMs: NOW_MS }

test('the same seed makes the same player', () => {
  expect(makePlayer('ann').address).toBe(makePlayer('ann').address)
  expect(makePlayer('ann').address).not.toBe(makePlayer('bob').address)
  expect(makePlayer('ann').address).toMatch(/^0x[0-9a-f]{40}$/)
  expect(makePlayer('ann').sign(REQUEST)).toEqual(makePlayer('ann').sign(REQUEST))
})

test('signatures are valid in both forms, with and without a body, now and years later', async () => {
  const ann = makePlayer('ann')
  for (const form of ['legacy', 'newer', undefined] as const) {
    for (const body of [REQUEST.body, '', undefined]) {
      for (const atMs of [NOW_MS, NOW_MS + 30 * 24 * HOUR_MS, NOW_MS + 1_000 * 24 * HOUR_MS, NOW_MS]) {
        expect(await proof({ ...REQUEST, form, body, atMs })).toMatchObject({
          address: ann.address,
          isBodySigned: true,
        })
      }
    }
  }

  function proof(request: RequestToSign) {
    const incoming = { ...request, body: Buffer.from(request.body ?? ''), headers: ann.sign(request) }
    return verifySignature(incoming, { nowMs: request.atMs, windowMs: MINUTE_MS })
  }
})

test('the metadata are those of a scene in the main world, unless other ones are given', () => {
  const metadata = (change?: object) =>
    JSON.parse(makePlayer('ann').sign({ ...REQUEST, metadata: { ...change } })['x-identity-metadata'] ?? '')

  expect(metadata()).toMatchObject({
    realm: { hostname: 'realm-provider.decentraland.org', protocol: 'v3', serverName: 'main' },
    signer: 'decentraland-kernel-scene',
    hashPayload: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(metadata({ realm: PREVIEW_REALM })).toMatchObject({ realm: { serverName: 'LocalPreview' } })
  expect(metadata({ hashPayload: undefined })).not.toHaveProperty('hashPayload')
})

test('the hash of a proof of work begins with the required number of zero bits', () => {
  const claimant = { eventUuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11', address: '0xab' }

  expect(findNonce({ challenge: 'c', bits: 0 }, claimant)).toBe('0')
  expect(findNonce({ challenge: 'c', bits: 12 }, claimant)).toBe(KNOWN_NONCE)
  expect(leadingZeroBits(Buffer.from([0, 0b0001_0000]))).toBe(11)
  expect(leadingZeroBits(Buffer.from([255]))).toBe(0)
  expect(leadingZeroBits(Buffer.alloc(4))).toBe(32)
})

/** Found by another program: the first nonce whose hash begins with 12 zero bits. */
const KNOWN_NONCE = '4977'

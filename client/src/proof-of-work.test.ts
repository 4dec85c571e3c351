import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LandpassError } from './errors.ts'
import { NonceSearch, proofOfWorkIn, solveProofOfWork } from './proof-of-work.ts'

function zeroBits(text: string): number {
  const hash = createHash('sha256').update(text).digest()
  return hash.readUInt32BE(0) === 0 ? 32 : Math.clz32(hash.readUInt32BE(0))
}

test('finds the first nonce whose hash begins with enough zero bits, whatever the challenge', () => {
  const challenge = fc.string({ maxLength: 150, unit: 'grapheme' })
  fc.assert(
    fc.property(challenge, fc.integer({ min: 0, max: 6 }), fc.nat(10 ** 9), (text, bits, first) => {
      const found = new NonceSearch(text).find(bits, first, 100)

      const right = Array.from({ length: 100 }, (_, i) => first + i).find(
        (nonce) => zeroBits(`${text}:${nonce}`) >= bits,
      )
      expect(found).toBe(right)
    }),
    { numRuns: 100 },
  )
})

test('solves a challenge in slices, says how far it is, and stops', async () => {
  const challenge = '13.t3fq1c.AAAAAAAAAAAAAAAAAAAAAA.hash'
  const seen: number[] = []

  const proof = await solveProofOfWork({ challenge, bits: 13 }, { onProgress: (hashes) => seen.push(hashes) })
  const stop = new AbortController()
  const stopped = solveProofOfWork({ challenge, bits: 60 }, { signal: stop.signal })
  stop.abort(new Error('the organiser left'))

  expect(proof.startsWith(`${challenge}:`)).toBe(true)
  expect(zeroBits(proof)).toBeGreaterThanOrEqual(13)
  expect(seen).toEqual(seen.map((_, i) => 5_000 * (i + 1)))
  await expect(stopped).rejects.toThrow('the organiser left')
})

test('reads the challenge of a refusal', () => {
  const asked = { challenge: 'c', bits: 20, expires_at: '2027-03-01T09:10:00.000Z' }
  const refusal = (code: string, proof_of_work?: unknown) =>
    new LandpassError('No.', { code, data: { proof_of_work } })

  expect(proofOfWorkIn(refusal('too_many_guesses', { ...asked, algorithm: 'sha256' }))).toEqual(asked)
  expect(proofOfWorkIn(refusal('too_many_guesses'))).toBeUndefined()
  expect(proofOfWorkIn(refusal('too_many_guesses', { challenge: 'c' }))).toBeUndefined()
  expect(proofOfWorkIn(refusal('too_many_requests', asked))).toBeUndefined()
})

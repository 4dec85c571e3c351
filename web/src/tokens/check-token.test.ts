import {
  type Attestation,
  attestationDigest,
  attestationUid,
  EVENT_ATTENDANCE_UID,
  encodeAttendance,
  fromHex,
  MAINNET_DOMAIN,
  NO_ADDRESS,
  NO_BYTES32,
  packageJson,
  revocationListAttestation,
  toHex,
  uuidBytes32,
} from '@landpass/client/tokens'
import { signAsync } from '@noble/secp256k1'
import { expect, test } from 'vitest'
import english from '../../locales/en.json' with { type: 'json' }
import type { ShownToken } from '../api/tokens.ts'
import { checkToken } from './check-token.ts'

/** A key for tests alone, that of the vectors. */
const KEY = fromHex('0x48935261d61e16895f967c4511749f69b5374e8b0b4d550ac80fe6fe83bfe1d9')
const ISSUER = '0x502651f8B01eeB3f32f766307E787D50515029d0'
const HOLDER = '0x2430b3be1c4092fe11e011cb0f1ab3afe6a3b37e'
const TIME_S = 1_804_273_200
const NOW_MS = (TIME_S + 60) * 1000

const TOKEN: ShownToken = {
  id: '0c9f2a44-58f2-4d0f-8d5a-0d4cbb3a7a10',
  uid: '', // below
  number: 7,
  event: {
    id: 2_000_000_001,
    uuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
    name: 'Harbour Lights Opening',
    place: '52,-10',
  },
  given: false,
  holder: HOLDER,
  issuer: ISSUER,
  time: new Date(TIME_S * 1000).toISOString(),
  revoked: null,
  log: null,
  event_now: null,
  explorer_url: 'https://explorer.example/',
}
const ISSUERS = {
  issuers: [{ address: ISSUER, from: '2027-01-01T00:00:00.000Z', until: null, state: 'active' }],
}
const ATTESTATION: Attestation = {
  version: 2,
  schema: EVENT_ATTENDANCE_UID,
  recipient: HOLDER,
  time: BigInt(TIME_S),
  expirationTime: 0n,
  revocable: true,
  refUID: NO_BYTES32,
  data: encodeAttendance({
    eventName: TOKEN.event.name,
    eventLocation: TOKEN.event.place,
    eventID: uuidBytes32(TOKEN.event.uuid),
    checkInTime: BigInt(TIME_S),
    ticketID: uuidBytes32(TOKEN.id),
  }),
  salt: `0x${'5a'.repeat(32)}`,
}
const SHOWN: ShownToken = { ...TOKEN, uid: attestationUid(ATTESTATION) }

async function signed(attestation: Attestation) {
  const digest = attestationDigest(MAINNET_DOMAIN, attestation)
  const [recovery = 0, ...bytes] = await signAsync(digest, KEY, { prehash: false, format: 'recovered' })
  const half = (from: number) => toHex(Uint8Array.from(bytes.slice(from, from + 32)))
  const signature = { v: 27 + recovery, r: half(0), s: half(32) }
  return packageJson({ domain: MAINNET_DOMAIN, attestation, signature, signer: ISSUER })
}

/** What the server answers, with the tokens of these uids taken back. */
async function proofsOf(attestation = ATTESTATION, uids: readonly string[] = []) {
  const revoked = uids.map((uid) => ({
    uid,
    signer: ISSUER.toLowerCase(),
    since: TIME_S,
    reason: 'a mistake',
  }))
  const proof = await signed(revocationListAttestation(revoked, TIME_S))
  return { attestation: await signed(attestation), issuers: ISSUERS, revocations: { revoked, proof } }
}

test('a token is genuine if what the page shows of it was signed by a published key', async () => {
  expect(checkToken(SHOWN, await proofsOf(), NOW_MS)).toEqual({
    verdict: 'genuine',
    isGiven: false,
    reason: undefined,
    notRevokedAsOfMs: TIME_S * 1000,
  })
})

test('number, picture and description are not signed: the page does not say so', async () => {
  expect(checkToken({ ...SHOWN, number: 8 }, await proofsOf(), NOW_MS).verdict).toBe('genuine')
  expect(english['token.genuine_explained']).toMatch(/ signed the name, place, time and holder that /)
})

test.each<[string, Partial<ShownToken>]>([
  ['uid', { uid: NO_BYTES32 }],
  ['id', { id: '0c9f2a44-58f2-4d0f-8d5a-0d4cbb3a7a11' }],
  ['name', { event: { ...SHOWN.event, name: 'Harbour Lights Closing' } }],
  ['way, given and not claimed', { given: true }],
  ['place', { event: { ...SHOWN.event, place: '52,-11' } }],
  ['event', { event: { ...SHOWN.event, uuid: SHOWN.id } }],
  ['holder', { holder: NO_ADDRESS }],
  ['issuer', { issuer: HOLDER }],
  ['time', { time: '2027-03-05T00:00:00.000Z' }],
])('a token is damaged if the page shows another %s', async (_, shown) => {
  const checked = checkToken({ ...SHOWN, ...shown }, await proofsOf(), NOW_MS)
  expect(checked).toMatchObject({ verdict: 'damaged', reason: 'shown' })
})

test('a token that was signed later than now has a reason of its own: the clock of the reader may be slow', async () => {
  const slowMs = (TIME_S - 301) * 1000
  expect(checkToken(SHOWN, await proofsOf(), slowMs)).toMatchObject({ verdict: 'damaged', reason: 'future' })
})

test('a token is damaged if a signed field was changed', async () => {
  const proofs = await proofsOf()
  proofs.attestation.sig.message.recipient = NO_ADDRESS
  expect(checkToken(SHOWN, proofs, NOW_MS).verdict).toBe('damaged')
})

test('a token was taken back if the signed list says so, or the server', async () => {
  const { sig } = await signed(ATTESTATION)
  const revoked = { since: SHOWN.time, reason: 'a mistake' }
  expect(checkToken(SHOWN, await proofsOf(ATTESTATION, [sig.uid]), NOW_MS).verdict).toBe('revoked')
  expect(checkToken({ ...SHOWN, revoked }, await proofsOf(), NOW_MS).verdict).toBe('revoked')
})

test('without a list that is signed, the page does not say that a token was not taken back', async () => {
  const proofs = await proofsOf()
  for (const revocations of [undefined, { revoked: [], proof: proofs.attestation }])
    expect(checkToken(SHOWN, { ...proofs, revocations }, NOW_MS)).toMatchObject({
      verdict: 'genuine',
      notRevokedAsOfMs: undefined,
    })
})

test('a list that is older than a day does not show that a token was not taken back since', async () => {
  const proofs = await proofsOf()
  const dayMs = 86_400_000
  const asOfAt = (nowMs: number) => checkToken(SHOWN, proofs, nowMs).notRevokedAsOfMs
  expect([asOfAt(TIME_S * 1000 + dayMs), asOfAt(TIME_S * 1000 + dayMs + 1)]).toEqual([
    TIME_S * 1000,
    undefined,
  ])
  // What it lists stays taken back
  const { sig } = proofs.attestation
  const later = TIME_S * 1000 + 2 * dayMs
  expect(checkToken(SHOWN, await proofsOf(ATTESTATION, [sig.uid]), later).verdict).toBe('revoked')
})

test('a token of a key that is not published, or was stolen, is not ours', async () => {
  const proofs = await proofsOf()
  const [issuer] = ISSUERS.issuers
  const stolen = { issuers: [{ ...issuer, state: 'compromised' }] }
  expect(checkToken(SHOWN, { ...proofs, issuers: { issuers: [] } }, NOW_MS).verdict).toBe('not ours')
  expect(checkToken(SHOWN, { ...proofs, issuers: stolen }, NOW_MS)).toMatchObject({
    verdict: 'not ours',
    reason: 'compromised',
  })
})

test('a token of a stolen key counts if the log had it before the theft', async () => {
  const proofs = await proofsOf()
  const [issuer] = ISSUERS.issuers
  const stolenAt = (timeS: number) => ({
    issuers: [{ ...issuer, state: 'compromised', withdrawn: new Date(timeS * 1000).toISOString() }],
  })
  const entry = { position: 7, uid: proofs.attestation.sig.uid, signer: ISSUER, noted_at: SHOWN.time }
  const answer = (other: object) => ({ entries: [{ ...entry, ...other }], roots: [], next: 8 })
  const verdictFor = (issuers: object, log: unknown = answer({})) =>
    checkToken(SHOWN, { ...proofs, issuers, log }, NOW_MS).verdict

  expect(verdictFor(stolenAt(TIME_S + 30))).toBe('genuine')
  expect(verdictFor(stolenAt(TIME_S - 30))).toBe('not ours')
  for (const log of [null, answer({ uid: NO_BYTES32 }), answer({ signer: HOLDER }), { entries: [] }])
    expect(verdictFor(stolenAt(TIME_S + 30), log)).toBe('not ours')
})

test('a token whose time is over has expired', async () => {
  const over = { ...ATTESTATION, expirationTime: BigInt(TIME_S + 30) }
  const shown = { ...SHOWN, uid: attestationUid(over) }
  expect(checkToken(shown, await proofsOf(over), NOW_MS).verdict).toBe('expired')
})

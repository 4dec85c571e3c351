import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { giveGrant, readCaptcha } from '../../../test/support/attendance/attendance-rows.ts'
import { buildClaimRules } from '../../../test/support/attendance/claim-rules.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { HAS_FIXED_SEED, runs } from '../../../test/support/run/property-seed.ts'
import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { Captchas } from '../captcha/captchas.ts'
import { isProof } from '../captcha/proof-of-work.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import type { BlockedPlayers } from '../events/blocked-players.ts'
import { EventHolds } from '../events/event-holds.ts'
import { changeEvent, countCodes, type Event, type EventOptions, saveEvent } from '../events/event-queries.ts'
import { countGrants } from '../grants/grant-queries.ts'
import type { Grants } from '../grants/grants.ts'
import type { PresenceResult } from '../presence/presence.ts'
import type { Rehearsals } from '../rehearsal/rehearsals.ts'
import { Vault } from '../secrets/vault.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import type { SignedRequest } from '../signed-fetch/signed-request.ts'
import { acceptClaims } from './claim-queries.ts'
import { ClaimRules } from './claim-rules.ts'
import type { ClaimProof } from './claimant.ts'
import type { Claims, ServedClaim } from './claims.ts'
import { insertClaim } from './reserve-queries.ts'

const clock = testClock()
const NOW = clock.nowMs()
const vault = new Vault(Buffer.alloc(32, 9))
const WRONG_ANSWER = '11111'
const PROOF_BITS = 4
const FROM = '198.51.100.7'
let lastNumber = 0

/** Everything that the outcome of a claim depends on. */
interface Situation {
  readonly isOpen: boolean
  readonly requiresCaptcha: boolean
  readonly requiresPresence: boolean
  readonly freeCodes: number
  /** The claim that the player already has. */
  readonly had: 'none' | 'reserved' | 'minting'
  readonly kind: ClaimProof['kind']
  readonly isPreview: boolean
  /** The event allows no guests. */
  readonly isGuest: boolean
  readonly answer: 'right' | 'wrong' | 'missing'
  /** Properties of a signed request. */
  readonly isBodySigned: boolean
  readonly names: 'no player' | 'the signer' | 'another'
  readonly wasUsed: boolean
  readonly isOverLimit: boolean
  readonly isBlocked: boolean
  readonly where: PresenceResult
  /** Whether the event requires a grant, and the player has one. */
  readonly grant: 'unneeded' | 'open' | 'none'
}

/** What the test checks afterwards. */
interface Outcome {
  /** The state of the claim, or the code of the refusal. */
  readonly answer: string
  readonly steps: readonly Step[]
  readonly isRequestUsed: boolean
  readonly isCaptchaPending: boolean
  readonly freeCodes: number
  readonly openGrants: number
}

type Step = 'proof read' | 'counted' | 'looked for'

/** Mostly the case that passes: otherwise nearly all situations would end at the first rule. */
const mostly = <T>(good: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, ...others.map((other) => fc.constant(other)))

const situations: fc.Arbitrary<Situation> = fc.record({
  isOpen: mostly(true, true, false),
  requiresCaptcha: fc.boolean(),
  requiresPresence: mostly(true, false),
  freeCodes: mostly(2, 1, 0),
  had: mostly<Situation['had']>('none', 'reserved', 'minting'),
  kind: fc.constantFrom<ClaimProof['kind']>('signed-request', 'captcha'),
  isPreview: mostly(false, true),
  isGuest: mostly(false, true),
  answer: mostly<Situation['answer']>('right', 'wrong', 'missing'),
  isBodySigned: mostly(true, false),
  names: mostly<Situation['names']>('no player', 'the signer', 'another'),
  wasUsed: mostly(false, true),
  isOverLimit: mostly(false, true),
  isBlocked: mostly(false, true),
  where: mostly<PresenceResult>('present', 'absent', 'unknown'),
  grant: fc.constantFrom<Situation['grant']>('unneeded', 'unneeded', 'open', 'open', 'none'),
})

/** The rules once more, written as in a table. */
function expectedOf(given: Situation): Outcome {
  const steps: Step[] = []
  const isSigned = given.kind === 'signed-request'
  let isRequestUsed = isSigned && given.wasUsed
  let isCaptchaPending = true
  const end = (answer: string, taken = 0): Outcome => ({
    answer,
    steps,
    isRequestUsed,
    isCaptchaPending,
    freeCodes: given.freeCodes - taken,
    openGrants: { unneeded: 1, open: 1 - taken, none: 0 }[given.grant],
  })
  /** @returns whether it is the second use */
  const useRequest = () => {
    const isSecond = isRequestUsed
    isRequestUsed = isSigned
    return isSecond
  }

  if (!given.isOpen) return end('event_disabled')
  steps.push('proof read')
  if (isSigned) {
    steps.push('counted')
    if (given.isOverLimit) return end('too_many_requests')
    if (given.names === 'another' && given.isBodySigned) return end('bad_signature')
  }
  const { answer } = given
  const repeated = { none: undefined, reserved: 'reserved', minting: 'already_claimed' }[given.had]
  if (!isSigned || given.requiresCaptcha) {
    if (isSigned && useRequest()) return end('signature_used')
    const known = isSigned ? repeated : undefined
    if (answer === 'missing') return end(known ?? 'captcha_required')
    if (answer === 'wrong') return end(known ?? 'wrong_captcha')
    isCaptchaPending = false
  }
  if (!isSigned) {
    steps.push('counted')
    if (given.isOverLimit) return end('too_many_requests')
  }
  const isUnused = isSigned && !given.requiresCaptcha

  if (given.isBlocked) {
    isCaptchaPending = true
    if (isUnused && useRequest()) return end('signature_used')
    return end(repeated ?? 'player_blocked')
  }
  if (given.isGuest) {
    isCaptchaPending = true
    if (isUnused && useRequest()) return end('signature_used')
    return end(repeated ?? 'guest_refused')
  }

  const mustBeSeen = given.requiresPresence && !given.isPreview
  if (mustBeSeen) steps.push('looked for')
  if (given.isPreview || (mustBeSeen && given.where !== 'present')) {
    if (mustBeSeen && given.where === 'unknown') isCaptchaPending = true
    if (isUnused && useRequest()) return end('signature_used')
    const refusal = { present: '', absent: 'not_at_event', unknown: 'presence_unavailable' }[given.where]
    return end(repeated ?? (given.isPreview ? 'preview_realm' : refusal))
  }
  if (given.grant === 'none') {
    isCaptchaPending = true
    if (isUnused && useRequest()) return end('signature_used')
    return end(repeated ?? 'grant_required')
  }
  if (isUnused && useRequest()) return end('signature_used')
  if (repeated) return end(repeated)
  return given.freeCodes > 0 ? end('reserved', 1) : end('no_codes_loaded')
}

describeOnBothEngines('the rules of a claim', (open, kind) => {
  let db: Db
  let captchas: Captchas
  let signedFetch: SignedFetch
  let claims: Claims
  let grants: Grants
  let rehearsals: Rehearsals
  let rules: ClaimRules
  let blocked: BlockedPlayers

  beforeAll(async () => {
    db = (await open()).db
    const built = buildClaimRules({ db, clock, vault, prepareToken: async () => undefined })
    ;({ rules, captchas, signedFetch, claims, grants, rehearsals, blocked } = built)
  })

  test('are applied in one order, with their effects, in every situation', async () => {
    const answers = new Set<string>()

    await fc.assert(
      fc.asyncProperty(situations, async (given) => {
        const expected = expectedOf(given)
        answers.add(expected.answer)
        expect(await outcomeOf(given)).toEqual(expected)
      }),
      { numRuns: runs(kind === 'postgres' ? 150 : 20) },
    )

    // On PostgreSQL every refusal in the table has occurred
    if (kind === 'embedded' || !HAS_FIXED_SEED) return
    expect([...answers].sort()).toEqual([
      'already_claimed',
      'bad_signature',
      'captcha_required',
      'event_disabled',
      'grant_required',
      'guest_refused',
      'no_codes_loaded',
      'not_at_event',
      'player_blocked',
      'presence_unavailable',
      'preview_realm',
      'reserved',
      'signature_used',
      'too_many_requests',
      'wrong_captcha',
    ])
  })

  test('for a closed event no proof is read: neither a signature nor a captcha', async () => {
    const { event } = await givenEvent({ enabled: false }, 1)
    const proof = () => expect.fail('the proof was read')
    const place = () => expect.fail('the player was looked for')

    const refused = rules.claim({
      event,
      proof,
      place,
      countPlayer: () => expect.fail('a player was counted'),
    })

    await expect(refused).rejects.toMatchObject({ code: 'event_disabled' })
  })

  test('when no provider knows where the player is, the proof of work can be used again', async () => {
    const strict = new Captchas({ db, vault, clock, proofOfWorkBits: PROOF_BITS })
    const strictRules = new ClaimRules({
      clock,
      signedFetch,
      captchas: strict,
      claims,
      holds: new EventHolds({ db, clock }),
      blocked,
      grants,
      rehearsals,
    })
    const { event } = await givenEvent({}, 1)
    const address = newAddress()
    const { uuid } = await strict.create({ address, isPreview: false })
    const proof = nonceOf(uuid, event.uuid, address)
    const claim = (body: { proof?: string }, where: PresenceResult) =>
      strictRules.claim({
        event,
        proof: () => ({ kind: 'signed-request', signed: signedBy(address), body, from: FROM }),
        place: async () => where,
        countPlayer: async () => {},
      })

    await expect(claim({}, 'present')).rejects.toMatchObject({ code: 'proof_of_work_required' })
    await expect(claim({ proof }, 'unknown')).rejects.toMatchObject({ code: 'presence_unavailable' })
    expect(await strict.findImage(uuid)).toBeDefined()
    expect(await claim({ proof }, 'present')).toMatchObject({ address, state: 'reserved' })
    expect(await strict.findImage(uuid)).toBeUndefined()
  })

  test('wrong answers in a body that no signature covers use up tries of their network address, none of the player', async () => {
    const { event } = await givenEvent({ requires_captcha: true }, 1)
    const address = newAddress()
    const { uuid } = await captchas.create({ address, isPreview: false })
    const { answer } = await readCaptcha(db, vault, uuid)
    const claim = (captcha: string, from: string, isBodySigned: boolean) =>
      answerOf(
        rules.claim({
          event,
          proof: () => ({
            kind: 'signed-request',
            signed: { ...signedBy(address), isBodySigned },
            body: { captcha },
            from,
          }),
          place: async () => 'present',
          countPlayer: async () => {},
        }),
      )

    for (let guess = 0; guess < 3; guess++)
      expect(await claim(WRONG_ANSWER, FROM, false)).toBe('wrong_captcha')

    expect(await claim(answer, FROM, false)).toBe('captcha_required')
    expect(await claim(WRONG_ANSWER, FROM, true)).toBe('wrong_captcha')
    expect(await claim(answer, '198.51.100.8', false)).toBe('reserved')
  })

  test('a second claim of one player is answered with the first one', async () => {
    const { event } = await givenEvent({}, 2)
    const address = newAddress()
    const claim = () =>
      rules.claim({
        event,
        proof: () => ({ kind: 'signed-request', signed: signedBy(address), body: {}, from: FROM }),
        place: async () => 'present',
        countPlayer: async () => {},
      })

    const [one, other] = await Promise.all([claim(), claim()])

    expect(one).toMatchObject({ address, state: 'reserved', created_at_ms: NOW })
    expect(other).toMatchObject({ address, state: 'reserved', created_at_ms: NOW })
    expect(await countCodes(db, event.event_id)).toMatchObject({ free: 1, held: 1 })
  })

  async function outcomeOf(given: Situation): Promise<Outcome> {
    const { event, address } = await arrange(given)
    const { uuid } = await captchas.create({ address, isPreview: given.isPreview, isGuest: given.isGuest })
    const { answer: right } = await readCaptcha(db, vault, uuid)
    const answer = { right, wrong: WRONG_ANSWER, missing: undefined }[given.answer]
    const named = { 'no player': undefined, 'the signer': address.toUpperCase(), another: newAddress() }[
      given.names
    ]
    const { isBodySigned, isPreview, isGuest } = given
    const signed = { ...signedBy(address), isBodySigned, isPreview, isGuest }
    if (given.wasUsed) await signedFetch.useUp(signed, event.event_id)
    const body = { ...(answer && { captcha: answer }), ...(named && { address: named }) }
    const proof: ClaimProof =
      given.kind === 'captcha'
        ? { kind: 'captcha', address, answer, from: FROM }
        : { kind: 'signed-request', signed, body, from: FROM }
    const steps: Step[] = []

    const claimed = await answerOf(
      rules.claim({
        event,
        proof: () => {
          steps.push('proof read')
          return proof
        },
        place: async (player, places) => {
          steps.push('looked for')
          expect([player, places]).toEqual([address, [{ x: 3, y: -4 }]])
          return given.where
        },
        countPlayer: async (player) => {
          steps.push('counted')
          expect(player).toBe(address)
          if (given.isOverLimit) throw new AppError('too_many_requests', 'Too many.')
        },
      }),
    )

    return {
      answer: claimed,
      steps,
      isRequestUsed: given.kind === 'signed-request' && (await isUsed(signedFetch, signed, event.event_id)),
      isCaptchaPending: (await captchas.findImage(uuid)) !== undefined,
      freeCodes: (await countCodes(db, event.event_id)).free,
      openGrants: (await countGrants(db, event.event_id, NOW)).open,
    }
  }

  async function arrange(given: Situation) {
    const { isOpen, isBlocked, requiresCaptcha, requiresPresence, freeCodes, had, grant } = given
    const address = newAddress()
    const options = {
      enabled: isOpen,
      requires_captcha: requiresCaptcha,
      requires_presence: requiresPresence,
      requires_grant: grant !== 'unneeded',
      allows_guests: false,
    }
    const { event } = await givenEvent(options, had === 'none' ? freeCodes : freeCodes + 1)
    if (had !== 'none') {
      const claim = { eventId: event.event_id, address, nowMs: NOW, nextStepAtMs: NOW }
      const { made } = await insertClaim(db, claim, { request: undefined, wait: false })
      if (had === 'minting') await acceptClaims(db, [{ claim: made!, nextStepAtMs: NOW }], NOW)
    }
    if (isBlocked) await blocked.change(event.event_id, { add: [address], remove: [] })
    const ofPlayer = { eventId: event.event_id, address, nonce: 'quest', expiresAtMs: NOW + MINUTE_MS }
    if (grant !== 'none') await giveGrant(grants, db, ofPlayer)
    return { event, address }
  }

  async function givenEvent(options: EventOptions, codes: number): Promise<{ readonly event: Event }> {
    const eventId = ++lastNumber
    const record = { id: eventId }
    await saveEvent(db, { eventId, record, coordinates: '3,-4', expiresAtMs: undefined, nowMs: NOW })
    const listed = Array.from({ length: codes }, (_, at) => ({ code: `${eventId}-${at}`, isClaimed: false }))
    if (codes > 0) await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })
    return { event: await changeEvent(db, eventId, options, NOW) }
  }
})

function newAddress(): string {
  return `0x${(++lastNumber).toString(16).padStart(40, '0')}`
}

/** A request whose signature was checked, different from all others. */
function signedBy(address: string): SignedRequest {
  const hash = createHash('sha256').update(`request ${++lastNumber}`).digest()
  return { address, hash, expiresAtMs: NOW + MINUTE_MS, isBodySigned: true, isPreview: false, isGuest: false }
}

function nonceOf(uuid: string, eventUuid: string, address: string): string {
  for (let nonce = 0; ; nonce++) {
    if (isProof({ uuid, eventUuid, address }, String(nonce), PROOF_BITS)) return String(nonce)
  }
}

/** The state of the claim, or the code of the refusal. */
async function answerOf(claim: Promise<ServedClaim>): Promise<string> {
  try {
    return (await claim).state
  } catch (error) {
    return codeOf(error)
  }
}

async function isUsed(signedFetch: SignedFetch, signed: SignedRequest, eventId: number): Promise<boolean> {
  try {
    await signedFetch.useUp(signed, eventId)
    return false
  } catch (error) {
    expect(codeOf(error)).toBe('signature_used')
    return true
  }
}

function codeOf(error: unknown): string {
  if (error instanceof AppError) return error.code
  throw error
}

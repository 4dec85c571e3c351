import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyToken } from '@landpass/client/tokens'
import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/engines.ts'
import { testClock } from '../../../test/support/land-server.ts'
import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { getEvent } from '../events/event-queries.ts'
import type { Issuer } from '../issuer/issuer.ts'
import { insertMadeEvent } from '../own-issuer/made-event-queries.ts'
import { ownCode } from '../own-issuer/own-codes.ts'
import { hashOf, OwnIssuer } from '../own-issuer/own-issuer.ts'
import { TokenKeys } from '../own-issuer/token-keys.ts'
import { tokenPackage } from '../own-issuer/token-message.ts'
import { findTokenOf, isSigned, renewMessage, storeSignature } from '../own-issuer/token-queries.ts'
import { Vault } from '../vault.ts'
import {
  closeClaim,
  findClaim,
  type HeldClaim,
  hasFreeCode,
  swapCode,
  takeDueClaims,
} from './claim-queries.ts'
import { ClaimWorker, LEASE_MS } from './claim-worker.ts'
import { insertClaim, reviveClaim } from './reserve-queries.ts'
import { storeSigned } from './sign-queries.ts'

const SUPPLY = 40
const SILENT = { warn: () => {}, error: () => {} }

describeOnOneEngine('claims whose tokens are signed here', (open) => {
  const path = join(mkdtempSync(join(tmpdir(), 'landpass-claims-')), 'token.key')
  const clock = testClock()
  const vault = new Vault(Buffer.alloc(32, 3))
  let db: Db
  let keys: TokenKeys
  let issuer: OwnIssuer
  let eventId: number
  let players = 0

  beforeAll(async () => {
    db = (await open()).db
    keys = new TokenKeys({ db, clock, path })
    await keys.open()
    issuer = new OwnIssuer({ db, clock, keys })
    const made = await inTransaction(db, (tx) =>
      insertMadeEvent(tx, {
        record: ({ eventId: id }) => ({ id, name: 'Lanterns "é"' }),
        ...{ coordinates: '1,2', requiresCaptcha: false, requiresPresence: false },
        ...{ startAtMs: null, endAtMs: null, expiresAtMs: clock.nowMs() },
        ...{
          editCodeHash: hashOf('0'),
          supply: SUPPLY,
          approval: 'approved',
          hidesHolders: false,
          image: null,
        },
        nowMs: clock.nowMs(),
      }),
    )
    eventId = made.event_id
    const listed = Array.from({ length: SUPPLY }, (_, at) => ({
      code: ownCode({ eventId, number: at + 1 }),
      isClaimed: false,
    }))
    await mergeCodes(db, vault, { eventId, listed, nowMs: clock.nowMs() })
  })

  /** A claim that was just reserved, with its message. */
  const reserve = async (): Promise<HeldClaim> => {
    const address = `0x${String(++players).padStart(40, '0')}`
    const nowMs = clock.nowMs()
    const token = await issuer.prepare(await getEvent(db, { eventId }))
    const claim = { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS, token }
    return (await insertClaim(db, claim, { request: undefined, wait: false })).made!
  }
  const sign = async (claim: HeldClaim) => {
    const token = claim.token!
    const code = vault.open('claim-code', claim.sealed, String(eventId))
    return { claim, token, signed: (await issuer.sign(code, { ...token, address: claim.address }))! }
  }
  const stateOf = async ({ address }: HeldClaim) => {
    const token = await findTokenOf(db, eventId, address)
    const claim = await findClaim(db, eventId, address)
    return `${claim?.state}, ${token && isSigned(token) ? 'signed' : 'unsigned'}`
  }
  const workerOf = (by: Pick<Issuer, 'readCode' | 'mint' | 'sign'>) =>
    new ClaimWorker({
      ...{ db, clock, vault, issuer: by, log: SILENT },
      ...{ issuerTimeoutMs: 10 * SECOND_MS, callsPerSecond: 1, holds: new EventHolds({ db, clock }) },
    })

  test('are written together with their signatures, which the verifier calls genuine', async () => {
    const claims = [await reserve(), await reserve(), await reserve()]

    const signed = await Promise.all(claims.map(sign))
    expect(await storeSigned(db, signed, clock.nowMs())).toEqual([true, true, true])
    expect(await storeSigned(db, signed, clock.nowMs())).toEqual([false, false, false])

    const trust = {
      issuers: [{ address: await keys.current(), state: 'active' as const }],
      nowMs: clock.nowMs(),
    }
    for (const claim of claims) {
      expect(await stateOf(claim)).toBe('minted, signed')
      const token = (await findTokenOf(db, eventId, claim.address))!
      expect(isSigned(token) && verifyToken(tokenPackage(token, token), trust).verdict).toBe('genuine')
      expect(token.id).toBe(claim.token!.id)
    }
  })

  test('stay reserved without a signature where the message was renewed for another key meanwhile', async () => {
    const [renewed, other] = [await reserve(), await reserve()]
    const signed = [await sign(renewed), await sign(other)]
    await renewMessage(db, renewed.token!.id, {
      signer: await keys.current(),
      timeS: renewed.token!.timeS + 5,
    })

    expect(await storeSigned(db, signed, clock.nowMs())).toEqual([false, true])

    expect(await stateOf(renewed)).toBe('reserved, unsigned')
    expect(await stateOf(other)).toBe('minted, signed')
  })

  test('that another process has taken over are left to it, with the signature that it would make', async () => {
    const claim = await reserve()
    const signed = await sign(claim)
    const lateMs = claim.lease.untilMs
    await takeDueClaims(db, { nowMs: lateMs, leaseUntilMs: lateMs + LEASE_MS, limit: 100 })

    expect(await storeSigned(db, [signed], clock.nowMs())).toEqual([false])

    expect(await stateOf(claim)).toBe('reserved, signed')
  })

  test('need no slot: with slots full of slow calls they are signed at once', async () => {
    const never = new Promise<never>(() => {})
    const worker = workerOf({
      readCode: () => never,
      mint: () => never,
      sign: (code, message) => issuer.sign(code, message),
    })
    worker.start()
    for (let at = 0; at < 8; at++) worker.take({ ...(await reserve()), token: undefined })
    const claim = await reserve()
    expect([worker.hasRoomFor({ token: undefined }), worker.hasRoomFor(claim)]).toEqual([false, true])

    worker.take(claim)

    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toEqual({ state: 'minted' })
    expect(await stateOf(claim)).toBe('minted, signed')
    await worker.close(0)
  })

  test('are finished by the step of any other claim where they could not be signed at once', async () => {
    const claim = await reserve()
    await renewMessage(db, claim.token!.id, {
      signer: await keys.current(),
      timeS: claim.token!.timeS + 5,
    })
    const worker = workerOf(issuer)
    worker.start()
    worker.take(claim)

    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toEqual({ state: 'minted' })
    expect(await stateOf(claim)).toBe('minted, signed')
    await worker.close(SECOND_MS)
  })

  test('are not written where their key has ended by the time of the message, and are signed by the next one', async () => {
    clock.set(clock.nowMs() + 10_500) // after the times of all tokens before: a key ends after its last one
    const [before, claim] = [await reserve(), await reserve()]
    const signedBefore = await sign(before)
    const next = await new TokenKeys({ db, clock, path }).rotate(0)
    // The second of the rotation still belongs to the old key, too
    expect(await storeSigned(db, [signedBefore], clock.nowMs())).toEqual([true])
    clock.set(clock.nowMs() + 1_000)
    // As a process prepares and signs it that has cached the times of keys
    const message = { signer: signedBefore.token.signer, timeS: Math.floor(clock.nowMs() / 1000) }
    await renewMessage(db, claim.token!.id, message)
    const token = { ...claim.token!, ...message }
    const code = vault.open('claim-code', claim.sealed, String(eventId))
    const signed = { claim, token, signed: { ...signedBefore.signed, number: SUPPLY } }
    expect(await storeSigned(db, [signed], clock.nowMs())).toEqual([false])
    expect(await storeSignature(db, { ...signed.token }, signed.signed)).toBe(false)
    const mint = () => issuer.mint({ code, address: claim.address }, async () => {}).catch(() => 'busy')
    // Where the times of keys are cached, the first one fails at storing; then the message is renewed
    const answers = [await mint(), await mint(), await mint()]
    expect(answers).toContain('made')
    expect((await findTokenOf(db, eventId, claim.address))!.signer).toBe(next)
  })

  test('get no code while their event waits or is refused, although codes are free', async () => {
    const approve = (approval: 'waiting' | 'approved' | 'refused') =>
      db.updateTable('made_event').set({ approval }).where('event_id', '=', eventId).execute()
    const unmade = async () => {
      const address = `0x${String(++players).padStart(40, '0')}`
      const nowMs = clock.nowMs()
      const claim = { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS }
      const { made, isSurpassed } = await insertClaim(db, claim, { request: undefined, wait: false })
      return { made, isSurpassed }
    }
    expect(await hasFreeCode(db, eventId)).toBe(true)
    const [failing, swapping] = [await reserve(), await reserve()]
    const closing = { state: 'failed', reason: 'rejected', code: 'free' } as const
    await closeClaim(db, failing, clock.nowMs(), closing)
    const revive = () => reviveClaim(db, { ...failing, nowMs: clock.nowMs(), nextStepAtMs: clock.nowMs() })
    const swap = () => swapCode(db, swapping, clock.nowMs(), 'void')

    for (const approval of ['waiting', 'refused'] as const) {
      await approve(approval)
      expect(await unmade(), approval).toEqual({ made: undefined, isSurpassed: false })
      expect([await revive(), await swap()], approval).toEqual([undefined, undefined])
    }
    await approve('approved')
    expect([await revive(), await swap()]).toMatchObject([{ id: failing.id }, { id: swapping.id }])
  })

  test('are never signed with a key that was withdrawn after they were signed and before they were stored', async () => {
    const claim = await reserve()
    const signed = await sign(claim)
    const old = signed.token.signer
    const next = await keys.withdraw(old, Math.floor(clock.nowMs() / 1000))

    expect(await storeSigned(db, [signed], clock.nowMs())).toEqual([false])
    expect(await stateOf(claim)).toBe('reserved, unsigned')
    const worker = workerOf(issuer)
    worker.start()
    worker.take(claim)

    await worker.waitForStep(claim.id, 10 * SECOND_MS)
    await worker.close(SECOND_MS)
    expect(next).toBeDefined()
    expect((await findTokenOf(db, eventId, claim.address))!.signer).toBe(next)
    expect(await stateOf(claim)).toBe('reserved, unsigned') // the message has the other key now: the next step signs it
  })
})

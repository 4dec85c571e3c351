import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GIVEN_BY_ORGANISER, verifyToken } from '@landpass/client/tokens'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/engines.ts'
import { testClock } from '../../../test/support/land-server.ts'
import { eventually } from '../../../test/support/landpass.ts'
import { countWaiting } from '../../../test/support/lock-waits.ts'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { AppError } from '../../errors.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { type Event, getEvent } from '../events/event-queries.ts'
import type { Issuer } from '../issuer/issuer.ts'
import { ownCode, parseOwnCode } from '../issuer/own-codes.ts'
import { withdrawKey } from '../own-issuer/keys/token-key-queries.ts'
import { TokenKeys } from '../own-issuer/keys/token-keys.ts'
import { lockTokens } from '../own-issuer/log/token-log-queries.ts'
import { hashOfEditCode } from '../own-issuer/made-events/edit-code.ts'
import { insertMadeEvent } from '../own-issuer/made-events/made-event-queries.ts'
import { deleteUnused } from '../own-issuer/made-events/waiting-event-queries.ts'
import { OwnIssuer } from '../own-issuer/own-issuer.ts'
import { tokenPackage } from '../own-issuer/signing/token-message.ts'
import { findTokenOf, insertToken, isSigned, storeSignature } from '../own-issuer/tokens/token-queries.ts'
import { Vault } from '../vault.ts'
import { closeClaim, findClaim, type HeldClaim, hasFreeCode, swapCode } from './claim-queries.ts'
import { ClaimWorker, LEASE_MS } from './claim-worker.ts'
import { Claims } from './claims.ts'
import { insertClaim, insertClaims, type NewClaim, reviveClaim } from './reserve-queries.ts'

const SUPPLY = 120
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
        record: (id) => ({ id, name: 'Lanterns "é"' }),
        ...{ coordinates: '1,2', requiresCaptcha: false, requiresPresence: false },
        ...{ startAtMs: null, endAtMs: null, timeZone: null, expiresAtMs: clock.nowMs() },
        ...{
          editCodeHash: hashOfEditCode('0'),
          supply: SUPPLY,
          approval: 'approved',
          hidesHolders: false,
          image: undefined,
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

  const addressOf = (player: number) => `0x${String(player).padStart(40, '0')}`
  const prepare = async (address = addressOf(++players)) => {
    const token = await issuer.prepare(await getEvent(db, { eventId }), address)
    const nowMs = clock.nowMs()
    return { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS, token }
  }
  const insert = async (claim: NewClaim) =>
    (await insertClaim(db, claim, { request: undefined, wait: false })).made!
  /** A claim without its token, as of the other issuer. */
  const reserve = async () => insert({ ...(await prepare()), token: undefined })
  const approve = (approval: 'waiting' | 'approved' | 'refused') =>
    db.updateTable('made_event').set({ approval }).where('event_id', '=', eventId).execute()
  /** State of claim and code, and whether the token is signed. */
  const stateOf = async (address: string) => {
    const token = await findTokenOf(db, eventId, address)
    const claim = (await findClaim(db, eventId, address))!
    const code = db.selectFrom('claim_code').select('state').where('id', '=', claim.code_id)
    const { state } = await code.executeTakeFirstOrThrow()
    return `${claim.state}, ${state}, ${token && isSigned(token) ? 'signed' : 'unsigned'}`
  }
  const findSigned = async (address: string) => {
    const token = await findTokenOf(db, eventId, address)
    return token && isSigned(token) ? token : expect.fail('the token is not signed')
  }
  const workerOf = (by: Pick<Issuer, 'readCode' | 'mint'>) =>
    new ClaimWorker({
      ...{ db, clock, vault, issuer: by, log: SILENT },
      ...{ issuerTimeoutMs: 10 * SECOND_MS, callsPerSecond: 1, holds: new EventHolds({ db, clock }) },
    })
  const claimsOf = (worker: ClaimWorker, onMinted = () => {}) =>
    new Claims({
      ...{ db, clock, worker, waitMs: 10 * SECOND_MS },
      signedFetch: { assertFirstUse: () => {} },
      codeCounts: { forget: () => {}, isRefused: async () => false },
      grants: { assertGranted: async () => {} },
      prepareToken: (event, address) => issuer.prepare(event, address),
      onMinted,
    })
  /** The next step of a claim that this process has reserved. */
  const step = async (claim: HeldClaim) => {
    const worker = workerOf(issuer)
    worker.start()
    worker.take(claim)
    const outcome = await worker.waitForStep(claim.id, 10 * SECOND_MS)
    await worker.close(SECOND_MS)
    return outcome
  }

  test('are stored together with their tokens, which the verifier calls genuine', async () => {
    const reservations = [await prepare(), await prepare(), await prepare()].map((claim) => ({
      claim,
      request: undefined,
    }))

    const inserted = await insertClaims(db, eventId, reservations, { wait: false })

    expect(inserted.map(({ made }) => made?.state)).toEqual(['minted', 'minted', 'minted'])
    const trust = {
      issuers: [{ address: await keys.current(), state: 'active' as const }],
      nowMs: clock.nowMs(),
    }
    for (const [at, { claim }] of reservations.entries()) {
      expect(await stateOf(claim.address)).toBe('minted, used, signed')
      expect(await findClaim(db, eventId, claim.address)).toMatchObject({
        next_step_at_ms: null,
        attempts: 0,
      })
      const token = await findSigned(claim.address)
      expect(token).toMatchObject({ id: claim.token.id, timeS: claim.token.timeS })
      const code = vault.open('claim-code', inserted[at]!.made!.sealed, String(eventId))
      expect(parseOwnCode(code)).toEqual({ eventId, number: token.number })
      expect(verifyToken(tokenPackage(token, token), trust).verdict).toBe('genuine')
    }
  })

  test('of one player, made at the same time in several processes, are one claim with one token and one code', async () => {
    const used = () =>
      db
        .selectFrom('claim_code')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('event_id', '=', eventId)
        .where('state', '!=', 'free')
        .executeTakeFirstOrThrow()
    const before = Number((await used()).count)
    const address = addressOf(++players)
    const claims = await Promise.all(Array.from({ length: 4 }, () => prepare(address)))

    const inserted = await Promise.all(
      claims.map((claim) => insertClaim(db, claim, { request: undefined, wait: false })),
    )

    const made = claims.filter((_, at) => inserted[at]!.made)
    expect(made).toHaveLength(1)
    expect(await findSigned(address)).toMatchObject({ id: made[0]!.token.id })
    expect(Number((await used()).count)).toBe(before + 1)
  })

  test('take another code where a token has the number of theirs already', async () => {
    const used = await findSigned(addressOf(players))
    const free = db
      .selectFrom('claim_code')
      .select('id')
      .where('event_id', '=', eventId)
      .where('state', '=', 'free')
    const { id } = await free.orderBy('id').executeTakeFirstOrThrow()
    const sealed = vault.seal('claim-code', ownCode({ eventId, number: used.number }), String(eventId))
    await db.updateTable('claim_code').set({ number: used.number, sealed }).where('id', '=', id).execute()
    const claim = await prepare()

    const made = await insert(claim)

    expect(made).toMatchObject({ state: 'reserved', codeId: id })
    expect(await step(made)).toEqual({ state: 'minted' })
    expect((await findSigned(claim.address)).number).not.toBe(used.number)
    expect(await findSigned(used.address)).toEqual(used)
  })

  test('of many players are all made, each with a token and a code of its own, by several statements at once', async () => {
    const clients = Array.from({ length: 2 }, () => {
      const worker = workerOf(issuer)
      const request = {
        signedFetch: { assertFirstUse: () => {} },
        codeCounts: { forget: () => {}, isRefused: async () => false },
      }
      const grants = { assertGranted: async () => {} }
      const prepareToken = (event: Event, address: string) => issuer.prepare(event, address)
      const parts = { db, clock, worker, waitMs: 0, ...request, grants, prepareToken, insertsAtOnce: 2 }
      return new Claims(parts)
    })
    const event = await getEvent(db, { eventId })
    const addresses = Array.from({ length: 30 }, () => addressOf(++players))

    // Each player claims three times, in two processes
    const outcomes = await Promise.all(
      addresses.flatMap((address) =>
        [0, 1, 1].map((at) => clients[at]!.claim(event, address).catch((error: AppError) => error.code)),
      ),
    )

    for (const [at, address] of addresses.entries()) {
      const own = outcomes.slice(3 * at, 3 * at + 3)
      expect(own.filter((outcome) => typeof outcome !== 'string')).toMatchObject([{ state: 'minted' }])
      expect(own.filter((outcome) => outcome === 'already_claimed')).toHaveLength(2)
      expect(await stateOf(address)).toBe('minted, used, signed')
    }
    const numbers = await Promise.all(addresses.map(async (address) => (await findSigned(address)).number))
    expect(new Set(numbers).size).toBe(addresses.length)
  })

  test('need no worker: with its slots full of slow calls they have their tokens at once', async () => {
    const never = new Promise<never>(() => {})
    const worker = workerOf({ readCode: () => never, mint: () => never })
    worker.start()
    for (let at = 0; at < 8; at++) worker.take(await reserve())
    expect(worker.hasRoom).toBe(false)
    let minted = 0
    const claims = claimsOf(worker, () => {
      minted += 1
    })
    const address = addressOf(++players)

    expect(await claims.claim(await getEvent(db, { eventId }), address)).toMatchObject({ state: 'minted' })

    expect(await stateOf(address)).toBe('minted, used, signed')
    expect(minted).toBe(1)
    await worker.close(0)
  })

  test('are not signed where their key has ended by the time of the message, and are signed by the next one', async () => {
    clock.set(clock.nowMs() + 10_500) // after the times of all tokens before: a key ends after its last one
    const before = await prepare()
    const next = await new TokenKeys({ db, clock, path }).rotate(0)
    // The second of the rotation still belongs to the old key, too
    expect(await insert(before)).toMatchObject({ state: 'minted' })
    clock.set(clock.nowMs() + 1_000)
    // As a process prepares it that has cached the times of keys
    const claim = await prepare()
    const { signer } = before.token
    const late = { ...claim, token: { ...claim.token, signer, timeS: Math.floor(clock.nowMs() / 1000) } }
    const made = await insert(late)
    expect(await stateOf(claim.address)).toBe('reserved, held, unsigned')

    const code = vault.open('claim-code', made.sealed, String(eventId))
    const { number } = parseOwnCode(code)!
    expect(await storeSignature(db, late.token, { ...late.token, number })).toBe(false)
    const mint = () => issuer.mint({ code, address: claim.address }, async () => {}).catch(() => 'busy')
    // Where the times of keys are cached, the first one fails at storing; then the message is renewed
    const answers = [await mint(), await mint(), await mint()]
    expect(answers).toContain('made')
    expect(await findSigned(claim.address)).toMatchObject({ signer: next })
  })

  test('say that they are given, or where they were claimed, as the claim that is stored in the end', async () => {
    const failing = { state: 'failed', reason: 'rejected', code: 'free' } as const
    const event = await getEvent(db, { eventId })
    const locationOf = async (address: string) => (await findTokenOf(db, eventId, address))!.eventLocation
    for (const isGiven of [false, true]) {
      const address = addressOf(++players)
      const prepared = (given: boolean) => issuer.prepare(event, address, given)
      const nowMs = clock.nowMs()
      const claim = { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS }
      const held = await insert({ ...claim, token: undefined })
      await insertToken(db, { eventId, address, token: await prepared(!isGiven) })
      const stale = (await findTokenOf(db, eventId, address))!
      const code = vault.open('claim-code', held.sealed, String(eventId))
      const { number } = parseOwnCode(code)!
      await closeClaim(db, held, nowMs, failing)

      // No code is free: the message stays that of the claim that failed
      const token = await prepared(isGiven)
      await approve('waiting')
      expect(await reviveClaim(db, { ...claim, token })).toBeUndefined()
      expect(await locationOf(address)).toBe(stale.eventLocation)
      await approve('approved')
      expect(await reviveClaim(db, { ...claim, token })).toBeDefined()
      expect(await locationOf(address)).toBe(isGiven ? GIVEN_BY_ORGANISER : '1,2')

      // A process that has read the message before signs one that does not hold any more
      expect(await storeSignature(db, stale, { ...token, number })).toBe(false)
      const { uid, signature } = keys.signToken((await findTokenOf(db, eventId, address))!)
      const current = (await findTokenOf(db, eventId, address))!
      expect(await storeSignature(db, current, { uid, signature, number })).toBe(true)
    }
  })

  test('get no code while their event waits, is refused or cancelled, although codes are free', async () => {
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
    const event = await getEvent(db, { eventId })
    const cancel = (is_cancelled: boolean) =>
      db.updateTable('attendance_event').set({ is_cancelled }).where('event_id', '=', eventId).execute()
    await cancel(true)
    expect(await unmade()).toEqual({ made: undefined, isSurpassed: false })
    expect([await revive(), await swap()]).toEqual([undefined, undefined])
    // The event was read before the cancellation, and then the player was looked for
    const late = claimsOf(workerOf(issuer)).claim(event, addressOf(++players))
    await expect(late).rejects.toMatchObject({ code: 'event_cancelled' })
    await cancel(false)
    expect([await revive(), await swap()]).toMatchObject([{ id: failing.id }, { id: swapping.id }])
  })

  test('keep the codes of their event where it cannot be deleted', async () => {
    await insert(await prepare())
    expect(await inTransaction(db, (tx) => deleteUnused(tx, eventId))).toBe(false)
    expect(await hasFreeCode(db, eventId)).toBe(true)
  })

  test('are never signed with a key that was withdrawn after they were signed and before they were stored', async () => {
    const claim = await prepare()
    const next = await keys.withdraw(claim.token.signer, Math.floor(clock.nowMs() / 1000))

    const made = await insert(claim)
    expect(await stateOf(claim.address)).toBe('reserved, held, unsigned')

    await step(made)
    expect(next).toBeDefined()
    expect((await findTokenOf(db, eventId, claim.address))!.signer).toBe(next)
    // The message has the other key now: the next step signs it
    expect(await stateOf(claim.address)).toBe('reserved, held, unsigned')
  })

  test('that are being stored come before a withdrawal of their key, which waits for them, also with a time that has passed', async () => {
    const claim = await prepare()
    const { signer, timeS } = claim.token
    let inserting: Promise<HeldClaim> | undefined
    let withdrawing: Promise<unknown> | undefined
    await inTransaction((await open()).db, async (tx) => {
      await sql`select id from claim_code where event_id = ${eventId} for update`.execute(tx)
      inserting = insertClaim(db, claim, { request: undefined, wait: true }).then(({ made }) => made!)
      await eventually(
        () => countWaiting(tx),
        (waiting) => waiting > 0,
        MINUTE_MS,
      )
      withdrawing = keys.withdraw(signer, timeS - 5)
      await eventually(
        () => countWaiting(tx),
        (waiting) => waiting > 1,
        MINUTE_MS,
      )
    })

    const [{ state }] = await Promise.all([inserting!, withdrawing!])
    expect(state).toBe('minted')
    const late = await prepare(addressOf(++players))
    expect(await insert({ ...late, token: { ...late.token, signer, timeS } })).toMatchObject({
      state: 'reserved',
    })
  })

  test('that wait while a key is withdrawn are not signed with it', async () => {
    const claim = await prepare()
    const { signer, timeS } = claim.token
    let inserting: Promise<HeldClaim> | undefined
    await inTransaction((await open()).db, async (tx) => {
      await lockTokens(tx)
      inserting = insert(claim)
      await eventually(
        () => countWaiting(tx),
        (waiting) => waiting > 0,
        MINUTE_MS,
      )
      await withdrawKey(tx, signer, { untilS: timeS, withdrawnS: timeS })
    })

    expect(await inserting).toMatchObject({ state: 'reserved' })
    expect(await stateOf(claim.address)).toBe('reserved, held, unsigned')
  })
})

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GIVEN_BY_ORGANISER, verifyToken } from '@landpass/client/tokens'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/database/engines.ts'
import { countWaiting } from '../../../test/support/database/lock-waits.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { AppError } from '../../errors.ts'
import { EventHolds } from '../events/event-holds.ts'
import { countCodes, type Event, getEvent } from '../events/event-queries.ts'
import { countPlaces, openPlaces, setPlacesCancelled } from '../events/place-queries.ts'
import { withdrawKey } from '../issuers/own/keys/token-key-queries.ts'
import { TokenKeys } from '../issuers/own/keys/token-keys.ts'
import { lockTokens } from '../issuers/own/log/token-log-queries.ts'
import { hashOfEditCode } from '../issuers/own/made-events/edit-code.ts'
import { insertMadeEvent } from '../issuers/own/made-events/made-event-queries.ts'
import { deleteUnused } from '../issuers/own/made-events/waiting-event-queries.ts'
import { OwnIssuer } from '../issuers/own/own-issuer.ts'
import { tokenPackage } from '../issuers/own/signing/token-message.ts'
import { findTokenOf, isSigned, storeSignature, tokens } from '../issuers/own/tokens/token-queries.ts'
import { countClaims } from '../report/report-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { findClaim, type HeldClaim, hasFreeCode } from './claim-queries.ts'
import { ClaimWorker, LEASE_MS } from './claim-worker.ts'
import { Claims } from './claims.ts'
import { type Insertion, insertClaim, insertClaims, type NewClaim } from './reserve-queries.ts'

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
  })

  const addressOf = (player: number) => `0x${String(player).padStart(40, '0')}`
  const prepare = async (address = addressOf(++players)) => {
    const token = await issuer.prepare(await getEvent(db, { eventId }), address)
    const nowMs = clock.nowMs()
    return { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS, token }
  }
  const insert = async (claim: NewClaim) =>
    (await insertClaim(db, claim, { request: undefined, wait: false })).made!
  /** A claim whose token is not signed yet: its key does not sign any more. */
  const reserve = async () => {
    const claim = await prepare()
    return insert({ ...claim, token: { ...claim.token, signer: `0x${'e'.repeat(40)}` } })
  }
  const approve = (approval: 'waiting' | 'approved' | 'refused') =>
    inTransaction(db, async (tx) => {
      await tx.updateTable('made_event').set({ approval }).where('event_id', '=', eventId).execute()
      await openPlaces(tx, eventId)
    })
  const taken = async () => (await countPlaces(db, eventId))!.taken
  /** The state of a claim, and whether its token is signed. */
  const stateOf = async (address: string) => {
    const token = await findTokenOf(db, eventId, address)
    const claim = (await findClaim(db, eventId, address))!
    return `${claim.state}, ${token && isSigned(token) ? 'signed' : 'unsigned'}`
  }
  const findSigned = async (address: string) => {
    const token = await findTokenOf(db, eventId, address)
    return token && isSigned(token) ? token : expect.fail('the token is not signed')
  }
  const never = () => new Promise<never>(() => {})
  const workerOf = (own: Pick<OwnIssuer, 'sign'>) =>
    new ClaimWorker({
      ...{ db, clock, vault, log: SILENT },
      issuer: { readCode: never, mint: never, sign: (...claim) => own.sign(...claim) },
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
    for (const { claim } of reservations) {
      expect(await stateOf(claim.address)).toBe('minted, signed')
      expect(await findClaim(db, eventId, claim.address)).toMatchObject({
        next_step_at_ms: null,
        attempts: 0,
      })
      const token = await findSigned(claim.address)
      expect(token).toMatchObject({ id: claim.token.id, timeS: claim.token.timeS })
      expect(token.number, 'numbered from 1 on').toBeLessThanOrEqual(3)
      expect(verifyToken(tokenPackage(token, token), trust).verdict).toBe('genuine')
    }
  })

  test('of one player, made at the same time in several processes, are one claim with one token and one place', async () => {
    const before = await taken()
    const address = addressOf(++players)
    const claims = await Promise.all(Array.from({ length: 4 }, () => prepare(address)))

    const inserted = await Promise.all(
      claims.map((claim) => insertClaim(db, claim, { request: undefined, wait: false })),
    )

    const made = claims.filter((_, at) => inserted[at]!.made)
    expect(made).toHaveLength(1)
    expect(await findSigned(address)).toMatchObject({ id: made[0]!.token.id })
    expect(await taken()).toBe(before + 1)
  })

  test('of many players are all made, each with a token and a number of its own, by several statements at once', async () => {
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
      expect(await stateOf(address)).toBe('minted, signed')
    }
    const all = await tokens(db).where('token.event_id', '=', eventId).orderBy('token.number').execute()
    expect(all.map(({ number }) => number)).toEqual(Array.from({ length: await taken() }, (_, at) => at + 1))
  })

  test('need no worker: with its slots full of slow calls they have their tokens at once', async () => {
    const worker = workerOf({ sign: never })
    worker.start()
    for (let at = 0; at < 8; at++) worker.take(await reserve())
    expect(worker.hasRoom).toBe(false)
    let minted = 0
    const claims = claimsOf(worker, () => {
      minted += 1
    })
    const address = addressOf(++players)

    expect(await claims.claim(await getEvent(db, { eventId }), address)).toMatchObject({ state: 'minted' })

    expect(await stateOf(address)).toBe('minted, signed')
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
    expect(await stateOf(claim.address)).toBe('reserved, unsigned')

    expect(await storeSignature(db, { ...late.token, eventId }, late.token)).toBe(false)
    const sign = () => issuer.sign(made, async () => {}).catch(() => {})
    // Where the times of keys are cached, the first one fails at storing; then the message is renewed
    for (let times = 0; times < 3; times++) await sign()
    expect(await findSigned(claim.address)).toMatchObject({ signer: next })
  })

  test('say that they are given, or where they were claimed, as the claim that is stored first', async () => {
    const event = await getEvent(db, { eventId })
    for (const isGiven of [false, true]) {
      const address = addressOf(++players)
      const nowMs = clock.nowMs()
      const claimAs = async (given: boolean) => {
        const token = await issuer.prepare(event, address, given)
        const claim = { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS, token }
        return insertClaim(db, claim, { request: undefined, wait: false })
      }

      expect((await claimAs(isGiven)).made).toBeDefined()
      expect((await claimAs(!isGiven)).made).toBeUndefined()

      expect((await findSigned(address)).eventLocation).toBe(isGiven ? GIVEN_BY_ORGANISER : '1,2')
    }
  })

  test('get no place while their event waits, is refused or cancelled', async () => {
    const unmade = async () => {
      const { made, isSurpassed } = await insertClaim(db, await prepare(), {
        request: undefined,
        wait: false,
      })
      return { made, isSurpassed }
    }
    expect(await hasFreeCode(db, eventId)).toBe(true)

    for (const approval of ['waiting', 'refused'] as const) {
      await approve(approval)
      expect(await unmade(), approval).toEqual({ made: undefined, isSurpassed: false })
      expect(await hasFreeCode(db, eventId)).toBe(false)
    }
    await approve('approved')
    const event = await getEvent(db, { eventId })
    const cancel = (is_cancelled: boolean) =>
      inTransaction(db, async (tx) => {
        await tx
          .updateTable('attendance_event')
          .set({ is_cancelled })
          .where('event_id', '=', eventId)
          .execute()
        await setPlacesCancelled(tx, eventId, is_cancelled)
      })
    await cancel(true)
    expect(await unmade()).toEqual({ made: undefined, isSurpassed: false })
    expect(await hasFreeCode(db, eventId)).toBe(false)
    // The event was read before the cancellation, and then the player was looked for
    const late = claimsOf(workerOf(issuer)).claim(event, addressOf(++players))
    await expect(late).rejects.toMatchObject({ code: 'event_cancelled' })
    await cancel(false)
    expect((await unmade()).made).toBeDefined()
  })

  test('keep their event, which cannot be deleted', async () => {
    await insert(await prepare())
    expect(await inTransaction(db, (tx) => deleteUnused(tx, eventId))).toBe(false)
    expect(await hasFreeCode(db, eventId)).toBe(true)
  })

  test('are never signed with a key that was withdrawn after they were signed and before they were stored', async () => {
    const claim = await prepare()
    const next = await keys.withdraw(claim.token.signer, Math.floor(clock.nowMs() / 1000))

    const made = await insert(claim)
    expect(await stateOf(claim.address)).toBe('reserved, unsigned')

    await step(made)
    expect(next).toBeDefined()
    expect((await findTokenOf(db, eventId, claim.address))!.signer).toBe(next)
    // The message has the other key now: the next step signs it
    expect(await stateOf(claim.address)).toBe('reserved, unsigned')
  })

  test('that are being stored come before a withdrawal of their key, which waits for them, also with a time that has passed', async () => {
    const claim = await prepare()
    const { signer, timeS } = claim.token
    let inserting: Promise<HeldClaim> | undefined
    let withdrawing: Promise<unknown> | undefined
    await inTransaction((await open()).db, async (tx) => {
      await sql`select from event_place where event_id = ${eventId} for update`.execute(tx)
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

  test('that wait while their event is cancelled get no place', async () => {
    const claim = await prepare()
    let inserting: Promise<Insertion> | undefined
    await inTransaction((await open()).db, async (tx) => {
      await setPlacesCancelled(tx, eventId, true)
      inserting = insertClaim(db, claim, { request: undefined, wait: true })
      await eventually(
        () => countWaiting(tx),
        (waiting) => waiting > 0,
        MINUTE_MS,
      )
    })

    expect((await inserting!).made).toBeUndefined()
    expect(await hasFreeCode(db, eventId)).toBe(false)
    await inTransaction(db, (tx) => setPlacesCancelled(tx, eventId, false))
    expect(await insert(claim)).toMatchObject({ state: 'minted' })
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
    expect(await stateOf(claim.address)).toBe('reserved, unsigned')
  })

  test('take the last places of an event, and none beyond them, however many claim at once', async () => {
    const supply = (await taken()) + 5
    await db.updateTable('made_event').set({ supply }).where('event_id', '=', eventId).execute()
    await approve('approved')
    const claims = await Promise.all(Array.from({ length: 12 }, () => prepare()))
    const half = (from: number) =>
      claims.slice(from, from + 6).map((claim) => ({ claim, request: undefined }))

    const inserted = await Promise.all(
      [0, 6].map((from) => insertClaims(db, eventId, half(from), { wait: false })),
    )

    expect(inserted.flat().filter(({ made }) => made)).toHaveLength(5)
    expect(inserted.flat().filter(({ isSurpassed }) => isSurpassed)).toEqual([])
    expect(await countPlaces(db, eventId)).toEqual({ places: supply, taken: supply })
    const { rows: states } = await sql<{ reserved: number; minted: number }>`
      select count(*) filter (where state = 'reserved')::integer as reserved,
        count(*) filter (where state = 'minted')::integer as minted from claim where event_id = ${eventId}`.execute(
      db,
    )
    const { reserved, minted } = states[0]!
    expect(await countCodes(db, eventId)).toMatchObject({ free: 0, held: reserved, used: minted })
    expect((await countClaims(db, eventId, clock.nowMs())).total).toMatchObject({ reserved, minted })
  })

  test('of an event of a million places cost as much as of a small one: places are counted in one row', async () => {
    await db.updateTable('made_event').set({ supply: 1_000_000 }).where('event_id', '=', eventId).execute()
    const before = await taken()
    await approve('approved')

    expect(await insert(await prepare())).toBeDefined()

    expect(await countPlaces(db, eventId)).toEqual({ places: 1_000_000, taken: before + 1 })
    expect(await countCodes(db, eventId)).toMatchObject({ free: 1_000_000 - before - 1 })
    expect(await db.selectFrom('claim_code').select('id').execute()).toEqual([])
  })
})

import { createHmac } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { giveGrant } from '../../../test/support/attendance/attendance-rows.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { type TestClock, testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { AppError } from '../../errors.ts'
import { closeClaim, type HeldClaim } from '../claims/claim-queries.ts'
import { insertClaim, insertClaims, reviveClaim } from '../claims/reserve-queries.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { changeEvent, countCodes, type Event, saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { deleteExpiredGrants, MAX_BATCHES } from './delete-queries.ts'
import { countAllOpenGrants, countGrants } from './grant-queries.ts'
import { Grants } from './grants.ts'

const [ANN, BEN] = [
  '0x00000000000000000000000000000000000000aa',
  '0x00000000000000000000000000000000000000bb',
]
const DAY_MS = 24 * HOUR_MS
const vault = new Vault(Buffer.alloc(32, 5))
let lastEvent = 0

describeOnBothEngines('grants', (open) => {
  let db: Db
  let clock: TestClock
  let grants: Grants
  let event: Event
  let NOW: number

  beforeEach(async () => {
    db = (await open()).db
    clock = testClock()
    NOW = clock.nowMs()
    grants = new Grants({ db, clock, vault, maxOpen: 100, maxOpenOfAll: 1_000 })
    event = await givenEvent(3)
  })

  async function givenEvent(codes: number): Promise<Event> {
    const eventId = ++lastEvent
    const record = { id: eventId }
    await saveEvent(db, { eventId, record, coordinates: '3,4', expiresAtMs: undefined, nowMs: NOW })
    const listed = Array.from({ length: codes }, (_, at) => ({ code: `${eventId}-${at}`, isClaimed: false }))
    await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })
    return changeEvent(db, eventId, { requires_grant: true }, NOW)
  }

  const give = (nonce: string, address = ANN, expiresAtMs = NOW + HOUR_MS) =>
    giveGrant(grants, db, { eventId: event.event_id, address, nonce, expiresAtMs })
  const counts = () => countGrants(db, event.event_id, clock.nowMs())
  const newClaim = (address: string) => ({
    eventId: event.event_id,
    address,
    nowMs: clock.nowMs(),
    nextStepAtMs: clock.nowMs() + MINUTE_MS,
    needsGrant: true,
  })
  const claim = async (address = ANN) =>
    (await insertClaim(db, newClaim(address), { request: undefined, wait: false })).made
  const fail = (made: HeldClaim) =>
    closeClaim(db, made, clock.nowMs(), { state: 'failed', reason: 'rejected', code: 'free' })

  const findSigner = (secret: string, { uuid } = event) => {
    const body = Buffer.from('{}')
    const signature = createHmac('sha256', secret).update(`${uuid}\n{}`).digest('hex')
    return grants.findSigner({ uuid, body, signature })
  }
  /** The event that a signature is right for; undefined where it is refused. */
  const signerWith = async (secret: string, of = event): Promise<number | undefined> => {
    try {
      return (await findSigner(secret, of)).eventId
    } catch (error) {
      expect((error as AppError).code).toBe('bad_grant')
      return undefined
    }
  }

  test('are signed with the secret of their event, which is stored encrypted', async () => {
    const other = await givenEvent(0)
    const { secret, previousEndsAtMs } = await grants.makeSecret(event.event_id, { keepPreviousMs: DAY_MS })
    const rows = await db
      .selectFrom('grant_secret')
      .select('encrypted')
      .where('event_id', '=', event.event_id)
      .execute()

    expect(await signerWith(secret)).toBe(event.event_id)
    expect(await signerWith(secret, other)).toBeUndefined()
    expect(
      await signerWith(secret, { ...event, uuid: '00000000-0000-4000-8000-000000000000' }),
    ).toBeUndefined()
    expect(previousEndsAtMs).toBeNull()
    expect(rows).toHaveLength(1)
    expect(rows[0]!.encrypted.toString('latin1')).not.toContain(secret)
    expect(vault.decrypt('grant-secret', rows[0]!.encrypted, String(event.event_id))).toBe(secret)
  })

  test('a new secret ends the one before at once, or when the organiser says', async () => {
    const { event_id: id } = event
    const { secret: first } = await grants.makeSecret(id)
    const { secret: second, previousEndsAtMs: atOnce } = await grants.makeSecret(id)
    const { secret: third, previousEndsAtMs: inAnHour } = await grants.makeSecret(id, {
      keepPreviousMs: HOUR_MS,
    })
    const valid = async () =>
      Promise.all([first, second, third].map(async (secret) => (await signerWith(secret)) === id))

    expect([atOnce, inAnHour]).toEqual([NOW, NOW + HOUR_MS])
    expect(await valid()).toEqual([false, true, true])
    clock.set(NOW + HOUR_MS)
    expect(await valid()).toEqual([false, false, true])
    clock.set(NOW + 2 * HOUR_MS)
    await grants.deleteOld()
    expect(await valid()).toEqual([false, false, true])
    await Promise.all([
      grants.makeSecret(id, { keepPreviousMs: HOUR_MS }),
      grants.makeSecret(id, { keepPreviousMs: HOUR_MS }),
    ])
    expect(await valid(), 'the third one is two secrets ago').toEqual([false, false, false])
  })

  test('that nobody has used are withdrawn with a secret that others know, and used ones stay', async () => {
    const kept = await givenEvent(1)
    const ofKept = { eventId: kept.event_id, address: ANN, nonce: 'kept', expiresAtMs: NOW + HOUR_MS }
    await giveGrant(grants, db, ofKept)
    await give('used', ANN)
    const made = await claim()
    grants = new Grants({ db, clock, vault, maxOpen: 3, maxOpenOfAll: 1_000 })
    for (const nonce of ['forged 1', 'forged 2', 'forged 3']) await give(nonce, BEN)
    await expect(give('right')).rejects.toMatchObject({ code: 'too_many_grants', data: { limit: 'event' } })
    expect(await grants.makeSecret(event.event_id)).toMatchObject({ withdrawn: 0 })
    expect(await counts()).toEqual({ open: 3, used: 1, expired: 0 })

    expect(await grants.makeSecret(event.event_id, { withdrawsOpen: true })).toMatchObject({ withdrawn: 3 })

    expect(await counts()).toEqual({ open: 0, used: 1, expired: 3 })
    expect(await claim(BEN)).toBeUndefined()
    expect(await give('right', BEN), 'the limit has room again').toBe('accepted')
    await fail(made!)
    await grants.assertGranted(event, ANN)
    expect(await countGrants(db, kept.event_id, NOW)).toEqual({ open: 1, used: 0, expired: 0 })
  })

  test('are refused if their secret ends between the check of the signature and the row', async () => {
    const grant = { eventId: event.event_id, address: BEN, nonce: 'late', expiresAtMs: NOW + HOUR_MS }
    const { secret: known } = await grants.makeSecret(event.event_id)
    const { secretId } = await findSigner(known)
    await grants.give({ ...grant, nonce: 'expired', expiresAtMs: NOW + SECOND_MS }, secretId)
    await grants.makeSecret(event.event_id, { keepPreviousMs: MINUTE_MS })
    expect(await grants.give({ ...grant, nonce: 'kept' }, secretId), 'it is still valid').toBe('accepted')

    clock.set(NOW + SECOND_MS)
    await grants.makeSecret(event.event_id, { withdrawsOpen: true })

    for (const nonce of ['late', 'expired']) {
      await expect(grants.give({ ...grant, nonce }, secretId)).rejects.toMatchObject({ code: 'bad_grant' })
    }
    expect(await counts()).toMatchObject({ open: 0 })
  })

  test('a secret that no key decrypts is as none', async () => {
    const { secret } = await grants.makeSecret(event.event_id)
    grants = new Grants({ db, clock, vault: new Vault(Buffer.alloc(32, 6)), maxOpen: 1, maxOpenOfAll: 1_000 })

    expect(await signerWith(secret)).toBeUndefined()
  })

  test('can be sent again and again, and their nonce names one grant', async () => {
    await grants.makeSecret(event.event_id)
    expect(await Promise.all([give('one'), give('one'), give('one')])).toContain('accepted')
    expect(await give('one')).toBe('repeated')
    await expect(give('one', BEN)).rejects.toMatchObject({ code: 'nonce_used' })
    await expect(give('one', ANN, NOW + HOUR_MS + 1)).rejects.toMatchObject({ code: 'nonce_used' })
    expect(await give('two')).toBe('accepted')
    expect(await counts()).toEqual({ open: 2, used: 0, expired: 0 })

    clock.set(NOW + DAY_MS)
    expect(await give('one'), 'a late retry learns that it was accepted').toBe('repeated')
  })

  test('are valid for at most a week', async () => {
    const week = NOW + 7 * DAY_MS
    for (const [expiresAtMs, isAccepted] of [
      [NOW, false],
      [NOW + 1, true],
      [week + 5 * MINUTE_MS, true],
      [week + 5 * MINUTE_MS + 1, false],
    ] as const) {
      const given = await give(`at ${expiresAtMs}`, ANN, expiresAtMs).catch(({ code }: AppError) => code)
      expect(given, String(expiresAtMs - NOW)).toBe(isAccepted ? 'accepted' : 'invalid_parameter')
    }
  })

  test('of an event that nobody has used are limited in number', async () => {
    grants = new Grants({ db, clock, vault, maxOpen: 3, maxOpenOfAll: 1_000 })
    await grants.makeSecret(event.event_id)
    const given = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((nonce) => give(nonce).catch(({ code }: AppError) => code)),
    )

    expect(given.sort()).toEqual(['accepted', 'accepted', 'accepted', 'too_many_grants', 'too_many_grants'])
    expect(await counts()).toMatchObject({ open: 3 })
  })

  test('of all events that nobody has used are limited in number, also where each event has room', async () => {
    await db.deleteFrom('attendance_grant').execute() // those of other tests
    const [used, expired] = [await givenEvent(1), event]
    await grants.makeSecret(used.event_id)
    const giveTo = ({ event_id: eventId }: Event, nonce: string, expiresAtMs = NOW + HOUR_MS) =>
      giveGrant(grants, db, { eventId, address: ANN, nonce, expiresAtMs })
    await giveTo(used, 'used')
    event = used
    await claim(ANN)
    await giveTo(expired, 'expired', NOW + SECOND_MS)
    clock.set(NOW + SECOND_MS)
    grants = new Grants({ db, clock, vault, maxOpen: 100, maxOpenOfAll: 2 })

    const events = [used, expired, await givenEvent(1)]
    for (const { event_id: id } of events) await grants.makeSecret(id)
    const given = await Promise.all(
      events.map((one) => giveTo(one, 'next').catch(({ code, data }: AppError) => `${code} ${data.limit}`)),
    )

    expect(given.toSorted()).toEqual(['accepted', 'accepted', 'too_many_grants server'])
    const { event_id: withdrawn } = events.find((_, at) => given[at] === 'accepted') ?? event
    expect(await countAllOpenGrants(db, { nowMs: clock.nowMs(), max: 10 })).toBe(2)
    expect(await countAllOpenGrants(db, { nowMs: clock.nowMs(), max: 1 }), 'it stops there').toBe(1)
    await grants.makeSecret(withdrawn, { withdrawsOpen: true })
    expect(await giveTo({ ...event, event_id: withdrawn }, 'after'), 'there is room at once').toBe('accepted')
  })

  test('let their player claim once, together with a code', async () => {
    await give('one')
    await give('two')

    const made = await claim()
    const again = await insertClaim(db, newClaim(ANN), { request: undefined, wait: false })

    expect(made).toMatchObject({ address: ANN })
    expect(again).toMatchObject({ made: undefined, known: { state: 'reserved' } })
    expect(await claim(BEN)).toBeUndefined()
    expect(await counts()).toEqual({ open: 1, used: 1, expired: 0 })
    expect(await countCodes(db, event.event_id)).toMatchObject({ free: 2, held: 1 })
  })

  test('are used with a code, or not at all', async () => {
    event = await givenEvent(1)
    await give('one', ANN)
    await give('two', BEN)

    const made = [await claim(ANN), await claim(BEN)]

    expect(made.map((claimed) => claimed?.address)).toEqual([ANN, undefined])
    expect(await counts()).toEqual({ open: 1, used: 1, expired: 0 })
  })

  test('are used once, however many claims of a player arrive at several processes', async () => {
    const other = (await open()).db
    for (const nonce of ['one', 'two', 'three']) await give(nonce)

    const tries = Array.from({ length: 20 }, (_, n) =>
      insertClaim(n % 2 ? db : other, newClaim(ANN), { request: undefined, wait: n % 3 === 0 }),
    )
    const made = (await Promise.all(tries)).filter((inserted) => inserted.made)

    expect(made).toHaveLength(1)
    expect(await counts()).toEqual({ open: 2, used: 1, expired: 0 })
  })

  test('are used in one statement with claims that need none', async () => {
    await give('one', ANN)
    const claims = [newClaim(BEN), newClaim(ANN), { ...newClaim('0xcleo'), needsGrant: false }]

    const inserted = await insertClaims(
      db,
      event.event_id,
      claims.map((one) => ({ claim: one, request: undefined })),
      { wait: false },
    )

    expect(inserted.map(({ made }) => made?.address)).toEqual([undefined, ANN, '0xcleo'])
    expect(await counts()).toEqual({ open: 0, used: 1, expired: 0 })
  })

  test('of a claim that failed let the player claim again, also when their time is over', async () => {
    await give('one')
    await give('two')
    const made = await claim()
    await fail(made!)
    clock.set(NOW + 2 * HOUR_MS)

    await grants.assertGranted(event, ANN)
    expect(await reviveClaim(db, newClaim(ANN))).toMatchObject({ id: made!.id })
    expect(await counts()).toEqual({ open: 0, used: 1, expired: 1 })
    await expect(grants.assertGranted(event, ANN)).rejects.toMatchObject({ code: 'grant_required' })
  })

  test('are needed to claim again, if the claim that failed had none', async () => {
    const { made } = await insertClaim(
      db,
      { ...newClaim(ANN), needsGrant: false },
      { request: undefined, wait: false },
    )
    await fail(made!)

    expect(await reviveClaim(db, newClaim(ANN))).toBeUndefined()
    await expect(grants.assertGranted(event, ANN)).rejects.toMatchObject({ code: 'grant_required' })
    await give('one')
    await grants.assertGranted(event, ANN)
    expect(await reviveClaim(db, newClaim(ANN))).toMatchObject({ id: made!.id })
    expect(await counts()).toEqual({ open: 0, used: 1, expired: 0 })
  })

  test('that expired let nobody claim, and are counted after they are deleted', async () => {
    for (let n = 0; n < 5; n++) await give(`early ${n}`, ANN, NOW + SECOND_MS)
    await give('used', BEN, NOW + SECOND_MS)
    await give('late', ANN, NOW + DAY_MS)
    await claim(BEN)

    clock.set(NOW + HOUR_MS)
    expect(await counts()).toEqual({ open: 1, used: 1, expired: 5 })
    await deleteExpiredGrants(db, { nowMs: clock.nowMs(), batchRows: 2 })
    const left = await db
      .selectFrom('attendance_grant')
      .select('nonce')
      .where('event_id', '=', event.event_id)
      .orderBy('nonce')
      .execute()

    expect(left.map(({ nonce }) => nonce)).toEqual(['late', 'used'])
    expect(await counts()).toEqual({ open: 1, used: 1, expired: 5 })
    clock.set(NOW + DAY_MS)
    expect(await claim(ANN)).toBeUndefined()
  })

  test('that expired are deleted in a bounded number of statements, and the rest by the next cleanup', async () => {
    const late = { nowMs: NOW + HOUR_MS, batchRows: 1_000 }
    await deleteExpiredGrants(db, late) // those of other tests
    for (let n = 0; n < MAX_BATCHES + 3; n++) await give(`early ${n}`, ANN, NOW + SECOND_MS)
    const left = async () =>
      (
        await db
          .selectFrom('attendance_grant')
          .select('nonce')
          .where('event_id', '=', event.event_id)
          .execute()
      ).length

    await deleteExpiredGrants(db, { ...late, batchRows: 1 })
    expect(await left()).toBe(3)
    await deleteExpiredGrants(db, { ...late, batchRows: 1 })
    expect(await left()).toBe(0)
    expect(await counts()).toMatchObject({ expired: MAX_BATCHES + 3 })
  })

  test('that expired unused leave their nonce to the next grant, and count as expired', async () => {
    await give('one', ANN, NOW + SECOND_MS)
    await give('used', ANN, NOW + MINUTE_MS)
    clock.set(NOW + SECOND_MS)
    await claim(ANN)

    const again = await Promise.all([give('one', BEN), give('one', BEN)])

    expect(again.sort()).toEqual(['accepted', 'repeated'])
    await grants.assertGranted(event, BEN)
    expect(await counts()).toEqual({ open: 1, used: 1, expired: 1 })
    clock.set(NOW + MINUTE_MS)
    await expect(give('used', BEN)).rejects.toMatchObject({ code: 'nonce_used' })
  })

  test('of events that are over or not approved are refused like a wrong signature', async () => {
    const { event_id: id } = event
    const { secret } = await grants.makeSecret(id)
    const signer = async (change: Partial<Pick<Event, 'distribution_end_at_ms' | 'expires_at_ms'>> = {}) => {
      await db
        .updateTable('attendance_event')
        .set({ distribution_end_at_ms: null, expires_at_ms: null, ...change })
        .where('event_id', '=', id)
        .execute()
      return signerWith(secret)
    }

    expect(await signer({ distribution_end_at_ms: NOW + 1, expires_at_ms: NOW + 1 })).toBe(id)
    expect(await signer({ distribution_end_at_ms: NOW })).toBeUndefined()
    expect(await signer({ expires_at_ms: NOW, distribution_end_at_ms: NOW + 1 })).toBeUndefined()
    expect(await signer()).toBe(id)
    await db
      .insertInto('made_event')
      .values({
        event_id: id,
        edit_code_hash: Buffer.alloc(32),
        supply: 3,
        approval: 'waiting',
        hides_holders: false,
        image: null,
        made_at_ms: NOW,
      })
      .execute()
    expect(await signer()).toBeUndefined()
    await db.updateTable('made_event').set({ approval: 'approved' }).where('event_id', '=', id).execute()
    expect(await signer()).toBe(id)
  })

  test('are deleted with their event', async () => {
    await give('one')
    await grants.makeSecret(event.event_id)
    await db.deleteFrom('claim_code').where('event_id', '=', event.event_id).execute()
    await db.deleteFrom('event_count').where('event_id', '=', event.event_id).execute()
    await db.deleteFrom('attendance_event').where('event_id', '=', event.event_id).execute()

    for (const table of ['grant_secret', 'attendance_grant'] as const) {
      const rows = await db
        .selectFrom(table)
        .select('event_id')
        .where('event_id', '=', event.event_id)
        .execute()
      expect(rows, table).toEqual([])
    }
  })
})

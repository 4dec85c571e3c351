import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { ON_CITUS } from '../../../test/support/run/prepared.ts'
import type { Db } from '../../db/engine.ts'
import { Batches } from '../../work/batches.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { saveEvent } from '../events/event-queries.ts'
import { FIRST_OWN_EVENT_ID } from '../issuers/own/own-event-ids.ts'
import { Vault } from '../secrets/vault.ts'
import {
  type AcceptedClaim,
  acceptClaims,
  closeClaim,
  confirmClaim,
  findClaim,
  type HeldClaim,
  swapCode,
  takeDueClaims,
  waitForProbe,
} from './claim-queries.ts'
import { insertClaim, insertClaims } from './reserve-queries.ts'

const vault = new Vault(Buffer.alloc(32, 3))
const NOW = testClock().nowMs()
let lastEvent = 1

describeOnBothEngines('claims in the database', (open) => {
  async function eventWith(db: Db, codes: readonly string[], eventId = lastEvent++): Promise<number> {
    await saveEvent(db, {
      eventId,
      record: { id: eventId },
      coordinates: '0,0',
      expiresAtMs: undefined,
      nowMs: NOW,
    })
    const listed = codes.map((code) => ({ code, isClaimed: false }))
    await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })
    return eventId
  }

  async function reserve(db: Db, eventId: number, name: string, request?: Buffer) {
    const claim = { eventId, address: `0x${name}`, nowMs: NOW, nextStepAtMs: NOW + 1_000 }
    const used = request && { hash: request, expiresAtMs: NOW + 60_000 }
    return insertClaim(db, claim, { request: used, wait: false })
  }

  async function codesOf(db: Db, eventId: number) {
    const rows = await db
      .selectFrom('claim_code')
      .select(['encrypted', 'state'])
      .where('event_id', '=', eventId)
      .execute()
    return rows
      .map(({ encrypted, state }) => `${vault.decrypt('claim-code', encrypted, String(eventId))} ${state}`)
      .sort()
  }

  async function statesOf(db: Db, eventId: number) {
    const rows = await db
      .selectFrom('claim')
      .select(['address', 'state'])
      .where('event_id', '=', eventId)
      .execute()
    return rows.map(({ address, state }) => `${address} ${state}`).sort()
  }

  test('a claim takes one code of its own event and none of another event', async () => {
    const { db } = await open()
    const concert = await eventWith(db, ['a1', 'a2'])
    const neighbour = await eventWith(db, ['b1'])

    const { made, known, isFirstUse } = await reserve(db, concert, 'ann', Buffer.from('request 1'))

    expect({ known, isFirstUse }).toEqual({ known: undefined, isFirstUse: true })
    expect(['a1', 'a2']).toContain(vault.decrypt('claim-code', made!.encrypted!, String(concert)))
    expect((await codesOf(db, concert)).filter((code) => code.endsWith('held'))).toHaveLength(1)
    expect(await codesOf(db, neighbour)).toEqual(['b1 free'])
  })

  test('a second claim, a used request and an event without codes change nothing, and the result says why', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['c1', 'c2'])
    const empty = await eventWith(db, [])
    await reserve(db, eventId, 'ann', Buffer.from('request 2'))
    const before = await codesOf(db, eventId)

    const again = await reserve(db, eventId, 'ann')
    const replayed = await reserve(db, eventId, 'ben', Buffer.from('request 2'))
    const nothing = await reserve(db, empty, 'ann')

    expect(again).toMatchObject({
      isFirstUse: true,
      known: { address: '0xann', state: 'reserved' },
      made: undefined,
    })
    expect(replayed).toMatchObject({ isFirstUse: false, known: undefined, made: undefined })
    expect(nothing).toMatchObject({ known: undefined, made: undefined })
    expect(await codesOf(db, eventId)).toEqual(before)
  })

  test('claims that are inserted together take a code each, and each has a result of its own', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['t1', 't2', 't3'])
    await reserve(db, eventId, 'ann', Buffer.from('request 3'))
    const ask = (name: string, request?: string) => ({
      claim: { eventId, address: `0x${name}`, nowMs: NOW, nextStepAtMs: NOW + 1_000 },
      request: request === undefined ? undefined : { hash: Buffer.from(request), expiresAtMs: NOW + 60_000 },
    })

    const asked = [
      ask('ben', 'request 4'),
      ask('ann', 'request 5'),
      ask('cleo', 'request 3'),
      ask('dan'),
      ask('eve', 'request 6'),
    ]
    const inserted = await insertClaims(db, eventId, asked, { wait: false })

    expect(
      inserted.map(({ isFirstUse, known, made, isSurpassed }) => [
        isFirstUse,
        known?.address,
        made?.address,
        isSurpassed,
      ]),
    ).toEqual([
      [true, undefined, '0xben', false],
      [true, '0xann', undefined, false],
      [false, undefined, undefined, false],
      [true, undefined, '0xdan', false],
      [true, undefined, undefined, false],
    ])
    expect(await statesOf(db, eventId)).toEqual(['0xann reserved', '0xben reserved', '0xdan reserved'])
    expect(await codesOf(db, eventId)).toEqual(['t1 held', 't2 held', 't3 held'])
    const opened = inserted.flatMap(({ made }) =>
      made ? [vault.decrypt('claim-code', made.encrypted!, String(eventId))] : [],
    )
    expect(new Set(opened).size).toBe(2)
  })

  test('the same players in several statements at once get one claim each, and no code is held without a claim', async () => {
    const engines = [await open(), await open()]
    const { db } = engines[0]!
    const players = Array.from({ length: 12 }, (_, i) => `player${i}`)
    // More than all statements lock at once: a statement that finds all codes locked makes no claim
    const eventId = await eventWith(
      db,
      Array.from({ length: 50 }, (_, i) => `u${i}`),
    )
    const reservations = players.map((name) => ({
      claim: { eventId, address: `0x${name}`, nowMs: NOW, nextStepAtMs: NOW + 1_000 },
      request: undefined,
    }))
    const orders = [reservations, reservations.toReversed(), reservations.toSpliced(0, 6), reservations]

    const inserted = await Promise.all(
      orders.map((order, at) => insertClaims(engines[at % 2]!.db, eventId, order, { wait: false })),
    )

    const made = inserted.flat().flatMap((one) => (one.made ? [one.made] : []))
    expect(made.map(({ address }) => address).sort()).toEqual(players.map((name) => `0x${name}`).sort())
    expect(inserted.flat().every((one) => one.made || one.known || one.isSurpassed)).toBe(true)
    const held = (await codesOf(db, eventId)).filter((code) => code.endsWith('held'))
    expect(held).toHaveLength(players.length)
  })

  test('accepted claims are all written, except those that another process has changed', async () => {
    const { db } = await open()
    const eventId = await eventWith(
      db,
      Array.from({ length: 30 }, (_, i) => `d${i}`),
    )
    const accepted = acceptedBatches(db)
    const claims: HeldClaim[] = []
    for (let i = 0; i < 30; i++) claims.push((await reserve(db, eventId, `player${i}`)).made!)
    await closeClaim(db, claims[7]!, NOW, { state: 'released', reason: 'already_held', code: 'free' })

    await Promise.all(claims.map((claim) => accepted.add({ claim, nextStepAtMs: NOW + 10_000 })))

    const states = await statesOf(db, eventId)
    expect(states.filter((state) => state.endsWith(' minting'))).toHaveLength(29)
    expect(states).toContain('0xplayer7 released')
  })

  test('when a write fails, all claims of the batch reject, and the next claim is written', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['e1', 'e2'])
    const accepted = acceptedBatches(db)
    const good = (await reserve(db, eventId, 'ann')).made!

    await expect(accepted.add({ claim: good, nextStepAtMs: Number.NaN })).rejects.toThrow()
    await accepted.add({ claim: good, nextStepAtMs: NOW + 10_000 })

    expect(await statesOf(db, eventId)).toEqual(['0xann minting'])
  })

  test('a move of a claim that has changed since it was read changes nothing', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['f1', 'f2', 'f3'])
    const first = (await reserve(db, eventId, 'ann')).made!
    const swapped = await swapCode(db, first, NOW, 'used_elsewhere')

    expect(swapped).toMatchObject({ id: first.id, codeId: expect.not.toSatisfy((id) => id === first.codeId) })
    expect(await swapCode(db, first, NOW, 'void')).toBe(false)
    expect(await confirmClaim(db, first, NOW, '0xabc')).toBe(false)
    expect(await closeClaim(db, first, NOW, { state: 'failed', reason: 'rejected', code: 'free' })).toBe(
      false,
    )
    expect((await codesOf(db, eventId)).map((code) => code.split(' ')[1]).sort()).toEqual([
      'free',
      'held',
      'used_elsewhere',
    ])
  })

  test('due claims are taken once, the longest due first, and again when the lease has ended', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['g1', 'g2', 'g3'])
    // Take the claims of other tests
    await takeDueClaims(db, { nowMs: NOW + 900_000, leaseUntilMs: NOW + 900_000, limit: 1_000 })
    for (const name of ['ann', 'ben', 'cleo']) await reserve(db, eventId, name)
    const take = async (nowMs: number, limit: number) => {
      const due = await takeDueClaims(db, { nowMs, leaseUntilMs: nowMs + 30_000, limit })
      return due.filter((claim) => claim.eventId === eventId).map(({ address }) => address)
    }

    const first = await take(NOW + 1_000, 2)
    const second = await take(NOW + 1_000, 5)
    const none = await take(NOW + 2_000, 5)
    const later = await take(NOW + 31_000, 5)

    expect([first.length, second.length, none.length, later.length]).toEqual([2, 1, 0, 3])
    expect([...first, ...second].sort()).toEqual(['0xann', '0xben', '0xcleo'])
  })

  // On Citus a distributed table can have no trigger; there a worker is killed (faults/citus.ts)
  test.skipIf(ON_CITUS)('an event whose claims cannot be taken does not hold up the others', async () => {
    const { db } = await open()
    const names = Array.from({ length: 8 }, (_, i) => `ann-${i}`)
    const [broken, healthy] = [await eventWith(db, names), await eventWith(db, ['b2'])]
    await takeDueClaims(db, { nowMs: NOW + 900_000, leaseUntilMs: NOW + 900_000, limit: 1_000 })
    for (const name of names) await reserve(db, broken, name)
    await sql`update claim set next_step_at_ms = ${NOW} where event_id = ${broken}`.execute(db) // due first
    await reserve(db, healthy, 'ben')
    await sql
      .raw(`create function refuse() returns trigger as 'begin raise ''broken''; end' language plpgsql`)
      .execute(db)
    await sql
      .raw(
        `create trigger broken before update on claim for each row when (old.event_id = ${broken}) execute function refuse()`,
      )
      .execute(db)
    const take = async () => {
      const due = await takeDueClaims(db, {
        nowMs: NOW + 1_000,
        leaseUntilMs: NOW + 31_000,
        limit: names.length,
      })
      return due.map(({ address }) => address).sort()
    }

    expect(await take()).toEqual(['0xben'])
    await expect(take()).rejects.toThrow('broken')
    await sql`drop trigger broken on claim`.execute(db)
    expect(await take()).toEqual(names.map((name) => `0x${name}`))
  })

  test('reserved claims come before minting ones, however long these are due', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['h1', 'h2', 'h3'])
    await takeDueClaims(db, { nowMs: NOW + 900_000, leaseUntilMs: NOW + 900_000, limit: 1_000 })
    for (const name of ['ann', 'ben']) {
      const { made } = await reserve(db, eventId, name)
      await acceptClaims(db, [{ claim: made!, nextStepAtMs: NOW }], NOW)
    }
    await reserve(db, eventId, 'cleo')

    const due = { nowMs: NOW + 1_000, leaseUntilMs: NOW + 31_000 }
    const first = await takeDueClaims(db, { ...due, limit: 1 })
    const others = await takeDueClaims(db, { ...due, limit: 5 })

    expect(first.map(({ address }) => address)).toEqual(['0xcleo'])
    expect(others.map(({ address }) => address).sort()).toEqual(['0xann', '0xben'])
  })

  test('claims of events made here do not wait behind those of an issuer that is away', async () => {
    const { db } = await open()
    const outside = await eventWith(db, ['l1', 'l2', 'l3'])
    const own = await eventWith(db, [], FIRST_OWN_EVENT_ID)
    await takeDueClaims(db, { nowMs: NOW + 900_000, leaseUntilMs: NOW + 900_000, limit: 1_000 })
    for (const name of ['ann', 'ben', 'cleo']) await reserve(db, outside, name)
    await sql`
      insert into claim (event_id, address, state, attempts, next_step_at_ms, created_at_ms, updated_at_ms)
      select ${own}, name, 'reserved', 0, ${NOW + 1_000}, 0, 0 from unnest(array['dora', 'emil']) as name`.execute(
      db,
    )
    // Those made here are due last
    await sql`update claim set next_step_at_ms = ${NOW} where event_id = ${outside}`.execute(db)

    const due = { nowMs: NOW + 1_000, leaseUntilMs: NOW + 31_000 }
    const first = await takeDueClaims(db, { ...due, limit: 3 })
    const others = await takeDueClaims(db, { ...due, limit: 5 })

    expect(first.map(({ eventId }) => eventId)).toEqual([own, own, outside])
    expect(others.map(({ eventId }) => eventId)).toEqual([outside, outside])
  })

  test('codes that were called used come back when the list of the issuer calls them unused', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['j1', 'j2', 'j3'])
    const first = (await reserve(db, eventId, 'ann')).made!
    const second = await swapCode(db, first, NOW, 'used_elsewhere')
    if (!second) return expect.fail('no code')
    await swapCode(db, second, NOW, 'void')

    const listed = ['j1', 'j2', 'j3'].map((code) => ({ code, isClaimed: false }))
    await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })

    const states = (await codesOf(db, eventId)).map((code) => code.split(' ')[1])
    expect(states.sort()).toEqual(['free', 'free', 'held'])
  })

  test('a claim that is to wait for a probe is due at once when the hold has ended meanwhile', async () => {
    const { db } = await open()
    const eventId = await eventWith(db, ['k1'])
    const claim = (await reserve(db, eventId, 'ann')).made!
    const holds = new EventHolds({ db, clock: testClock() })
    const about = { eventId, reason: 'unknown_codes' as const, codeId: null, isRepeated: true }
    const held = await holds.contradicted(about, async (_, hold) => hold)
    const nextStep = async () => (await findClaim(db, eventId, '0xann'))!.next_step_at_ms!
    const probe = { atMs: held.probe_at_ms!, nowMs: NOW }

    expect(await waitForProbe(db, claim, probe)).toBe(true)
    const whileHeld = await nextStep()
    await holds.end(eventId)
    await sql`update claim set next_step_at_ms = ${claim.lease.untilMs} where id = ${claim.id}`.execute(db)
    expect(await waitForProbe(db, claim, probe)).toBe(true)

    expect([whileHeld, await nextStep()]).toEqual([NOW + 60_000, NOW])
  })

  test('claims still work in a running server when another server adds a column', async () => {
    const { db } = await open({ poolSize: 1 })
    const eventId = await eventWith(db, ['i1', 'i2'])
    await reserve(db, eventId, 'ann')

    await sql`alter table claim add column later integer`.execute(db)
    const { made } = await reserve(db, eventId, 'ben')
    const { known } = await reserve(db, eventId, 'ben')

    expect(known).toMatchObject({ id: made!.id, address: '0xben', state: 'reserved', attempts: 0 })
    await sql`alter table claim drop column later`.execute(db)
  })
})

function acceptedBatches(db: Db) {
  return new Batches(async (claims: readonly AcceptedClaim[]) => {
    await acceptClaims(db, claims, NOW)
    return claims.map(() => undefined)
  })
}

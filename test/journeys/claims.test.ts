import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  untilMinted,
} from '@landpass/server/test/support/attendance/attendance-server'
import { makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import {
  describeOnOneEngine,
  freshDatabaseUrl,
  freshEngine,
} from '@landpass/server/test/support/database/engines'
import { startAnyPooler } from '@landpass/server/test/support/database/pgbouncer'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { PREVIEW_REALM } from '@landpass/simulators/player/player'
import { findNonce } from '@landpass/simulators/player/proof-of-work'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const PLACE = { x: 10, y: 20 }

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('a signed claim', (open) => {
  let server: AttendanceServer
  let db: Db
  let clock: TestClock
  const id = (n: number) => n + 76_000
  const player = (name: string, place = PLACE) => playerAt(outside, `claims ${name}`, place, clock.nowMs())

  beforeAll(async () => {
    clock = testClock()
    const engine = await open()
    db = engine.db
    server = await startAttendance(engine, clock, outside)
    return () => server.close()
  })

  async function event(n: number, codes: number, coordinates = '10,20'): Promise<string> {
    await outside.putEvent(id(n), { edit_code: '123456', codes })
    return server.register(id(n), '123456', coordinates)
  }
  const change = (n: number, ...options: unknown[][]) =>
    server.send('PATCH', `/event/${id(n)}`, { editCode: '123456', options })
  const states = async (n: number) =>
    (await db.selectFrom('claim').select('state').where('event_id', '=', id(n)).execute()).map(
      ({ state }) => state,
    )

  test('gives the player on the spot a token, once', async () => {
    const uuid = await event(1, 3)
    const ann = await player('ann')

    const first = await server.claim(uuid, ann, { body: { address: ann.address } })
    const second = await server.claim(uuid, ann)
    const inOtherForm = await server.claim(uuid, ann, { sign: { form: 'newer' } })

    expect(first.status, first.text).toBe(200)
    expect(first.body.data).toMatchObject({
      event: { uuid },
      claim: { status: 'minting', address: ann.address },
    })
    for (const repeat of [second, inOtherForm]) {
      expect(repeat.status).toBe(409)
      expect(repeat.body.error).toBe('Address already claimed a code for this event')
    }
    expect(await outside.mintsOf(id(1))).toHaveLength(1)
    expect((await server.get(`/event/${uuid}/availability`)).body.data).toEqual({
      open: true,
      reason: null,
      total: 3,
      available: 2,
      claimed: 1,
      opens_at: null,
      closes_at: expect.stringMatching(/T12:00:00\.000Z$/),
    })
  })

  test('becomes minted when the token is on the chain', async () => {
    const uuid = await event(2, 1)
    await outside.issuerSettings({ mint_ms: 0 })
    const ben = await player('ben')
    await server.claim(uuid, ben)
    const gateOf = async (event: string) => (await server.get(`/events/${event}/holders/${ben.address}`)).body
    const none = { attended: false, count: 0 }
    expect([await gateOf(uuid), await gateOf('any')]).toEqual([none, none])

    clock.set(clock.nowMs() + MINUTE_MS)
    await eventually(
      () => states(2),
      ([state]) => state === 'minted',
      20_000,
    )

    const code = await db
      .selectFrom('claim_code')
      .select('state')
      .where('event_id', '=', id(2))
      .executeTakeFirst()
    const claim = await db
      .selectFrom('claim')
      .select('tx_hash')
      .where('event_id', '=', id(2))
      .executeTakeFirst()
    expect(code).toEqual({ state: 'used' })
    expect(claim?.tx_hash).toMatch(/^0x/)
    const since = Math.floor(REFERENCE_TIME_MS / 1000)
    const yes = { attended: true, count: 1, since, issuer: 'poap', revoked: false }
    expect([await gateOf(uuid), await gateOf(String(id(2))), await gateOf('any')]).toEqual([yes, yes, yes])
    expect(
      (await server.get(`/addresses/${ben.address.toUpperCase().replace('X', 'x')}/tokens`)).body.data,
    ).toMatchObject({
      ...{ total: 0, tokens: [], poaps_total: 1 },
      poaps: [{ issuer: 'poap', event: { id: id(2), uuid, places: '10,20' } }],
    })
    expect(await server.data(`/addresses/${ben.address}/tokens?offset=1`)).toMatchObject({
      poaps_total: 1,
      poaps: [],
    })
    expect((await server.get(`/events/${uuid}/holders/0x${'1'.repeat(40)}`)).body).toEqual(none)
    await outside.issuerSettings({ mint_ms: 3_000 })
    clock.set(REFERENCE_TIME_MS)
  })

  test('is refused elsewhere, with the way to the event; and with a heartbeat that is too old', async () => {
    const uuid = await event(3, 1, '10,20;10,21')
    const elsewhere = await player('cleo', { x: 10, y: 22 })
    const asleep = await playerAt(outside, 'asleep', PLACE, clock.nowMs() - 61_000)

    const first = await server.claim(uuid, elsewhere)
    const second = await server.claim(uuid, asleep)

    expect([first.status, first.body.code]).toEqual([403, 'not_at_event'])
    expect(first.body.error).toContain('10,20 or 10,21')
    expect(second.body.code).toBe('not_at_event')
    expect(await states(3)).toEqual([])
  })

  test('the last code is given once; then claims are refused and use up nothing', async () => {
    const uuid = await event(4, 1)

    const answers = await Promise.all(
      ['dora', 'eve', 'fay', 'gil'].map(async (name) => server.claim(uuid, await player(name))),
    )

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    expect(answers.filter(({ body }) => body.code === 'no_codes_left')).toHaveLength(3)
    expect(await outside.mintsOf(id(4))).toHaveLength(1)
  })

  test('50 parallel claims of one player, in mixed letter case: one code, no error of ours', async () => {
    const uuid = await event(5, 5)
    const hal = await player('hal')
    const spelled = hal.address.replace(/[a-f]/g, (letter, at) => (at % 2 ? letter.toUpperCase() : letter))

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server.claim(uuid, hal, { body: { address: i % 2 ? spelled : hal.address } }),
      ),
    )

    for (const { status, body } of answers) {
      expect(status === 200 || body.code === 'already_claimed', JSON.stringify(body)).toBe(true)
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    expect(await states(5)).toHaveLength(1)
    expect(await outside.mintsOf(id(5))).toHaveLength(1)
  })

  test('outside the window, paused, expired: refused with the reason, and availability says the same', async () => {
    const uuid = await event(6, 5)
    const ida = await player('ida')
    const nowIso = (plusMs: number) => new Date(REFERENCE_TIME_MS + plusMs).toISOString()
    const cases = [
      [['enabled', false], 'event_disabled'],
      [['distribution_start_date', nowIso(HOUR_MS)], 'event_not_open'],
      [['distribution_end_date', nowIso(-HOUR_MS)], 'event_closed'],
    ] as const
    for (const [option, code] of cases) {
      await change(6, ['enabled', true], ['distribution_start_date', null], ['distribution_end_date', null])
      expect((await change(6, [...option])).status).toBe(200)
      const answer = await server.claim(uuid, ida)
      expect([answer.status, answer.body.code]).toEqual([403, code])
      expect((await server.get(`/event/${uuid}/availability`)).body.data).toMatchObject({
        open: false,
        reason: code,
      })
    }
    const upsideDown = await change(
      6,
      ['distribution_start_date', nowIso(HOUR_MS)],
      ['distribution_end_date', nowIso(0)],
    )
    expect(upsideDown.body.code).toBe('invalid_parameter')

    await outside.putEvent(id(7), { edit_code: '123456', codes: 1, expiry_date: '2026-11-18' })
    const expired = await server.register(id(7), '123456', '10,20')
    expect((await server.claim(expired, ida)).body.code).toBe('event_expired')
    clock.set(Date.UTC(2026, 10, 19, 11, 59))
    const onTheLastDay = await playerAt(outside, 'on the last day', PLACE, clock.nowMs())
    // Open here; the issuer's own day is over by now, and its word counts.
    expect((await server.claim(expired, onTheLastDay)).body.code).toBe('event_expired')
    expect(await states(7)).toEqual(['failed'])
    clock.set(REFERENCE_TIME_MS)
  })

  test('where the event asks for a captcha, a signature alone is not enough', async () => {
    const uuid = await event(8, 1)
    await change(8, ['requires_captcha', true])

    const answer = await server.claim(uuid, await player('jo'))

    expect([answer.status, answer.body.code]).toEqual([403, 'captcha_required'])
  })

  test('where the event asks for no presence, anywhere will do', async () => {
    const uuid = await event(9, 1)
    await change(9, ['requires_presence', false])

    expect((await server.claim(uuid, await player('kit', { x: 0, y: 0 }))).status).toBe(200)
  })

  test('from a preview, for another in a signed body, without or with a used signature: refused', async () => {
    const uuid = await event(10, 5)
    const lee = await player('lee')
    const mia = await player('mia')
    const path = `/claim/${uuid}`
    const headers = lee.sign({ method: 'POST', path, atMs: clock.nowMs() })

    expect((await server.claim(uuid, lee, { sign: { metadata: { realm: PREVIEW_REALM } } })).body.code).toBe(
      'preview_realm',
    )
    expect((await server.claim(uuid, lee, { body: { address: mia.address } })).body.code).toBe(
      'bad_signature',
    )
    const uncovered = { body: { address: lee.address }, sign: { metadata: { hashPayload: undefined } } }
    expect((await server.claim(uuid, mia, uncovered)).body.data).toMatchObject({
      claim: { address: mia.address },
    })
    expect((await server.send('POST', path, {}, {})).body.code).toBe('invalid_parameter')
    expect((await server.send('POST', path, { address: lee.address })).body.code).toBe('captcha_required')
    expect((await server.send('POST', path, undefined, headers)).status).toBe(200)
    expect((await server.send('POST', path, undefined, headers)).body.code).toBe('signature_used')
    expect((await server.send('POST', path.replace(/.$/, 'x'), undefined, headers)).status).toBe(400)
  })

  test('the issuer says that the player has one already: the code goes back, the claim is closed as already held', async () => {
    const uuid = await event(11, 2)
    const nia = await player('nia')
    await outside.giveToken(id(11), '123456', nia.address)

    const first = await server.claim(uuid, nia)
    const second = await server.claim(uuid, nia)

    expect([first.status, first.body.error]).toEqual([409, 'Address already claimed a code for this event'])
    expect([second.status, second.body.code]).toEqual([409, 'already_claimed'])
    expect(await states(11)).toEqual(['released'])
    expect(await outside.mintsOf(id(11))).toHaveLength(1)
  })

  test('codes that others used meanwhile are passed over', async () => {
    const uuid = await event(12, 4)
    await outside.useElsewhere(id(12), 3)

    const answer = await server.claim(uuid, await player('oli'))

    expect(answer.status, answer.text).toBe(200)
    expect(await outside.mintsOf(id(12))).toHaveLength(1)
    expect((await server.send('POST', `/addcodes/${uuid}`, { editCode: '123456' })).body.data).toMatchObject({
      body: { num: 0, total: 4, available: 0, claimed: 4 },
    })
  })

  test('an event whose codes were never loaded, or not approved yet: the player hears that', async () => {
    await outside.putEvent(id(20), { edit_code: '123456', codes: 3, approved_after_ms: null })
    const place = { editCode: '123456', coordinates: '10,20' }
    await server.send('POST', `/event/${id(20)}`, place)
    const una = await player('una')

    const before = await server.claim(String(id(20)), una)
    await server.send('POST', `/addcodes/${id(20)}`, { editCode: '123456' })
    const answer = await eventually(
      () => server.claim(String(id(20)), una),
      ({ body }) => !body.error?.includes('has not loaded'),
      5_000,
    )

    expect([before.status, before.body.code]).toEqual([409, 'no_codes_loaded'])
    expect(before.body.error).toContain('has not loaded the tokens of this event yet')
    expect([answer.status, answer.body.code]).toEqual([409, 'no_codes_loaded'])
    expect(answer.body.error).toContain('has not approved this event yet')
  })

  test('codes that are read as free and not found when minted: all are kept, and the organiser is alarmed', async () => {
    const uuid = await event(21, 12)
    const players = await Promise.all(Array.from({ length: 12 }, (_, i) => player(`twelve ${i}`)))
    const [late, ...early] = players
    await outside.issuerSettings({ mint_not_found_rate: 1 })

    const answers = []
    for (const one of early) answers.push(await server.claim(uuid, one))
    const held = answers.filter(({ status }) => status !== 200)
    const refused = await server.claim(uuid, late!)
    const availability = await server.get(`/event/${uuid}/availability`)
    const report = await server.send('POST', `/event/${uuid}/report`, { editCode: '123456' })
    const metrics = await server.get('/metrics')
    await outside.issuerSettings({ mint_not_found_rate: 0 })

    expect(answers[0]!.status, answers[0]!.text).toBe(200)
    expect(held.every(({ body }) => body.code === 'event_held')).toBe(true)
    expect([refused.status, refused.body.code, refused.body.data]).toEqual([
      503,
      'event_held',
      { retry_after_s: 60 },
    ])
    expect(refused.body.error).toContain('try again in 60 seconds')
    expect(availability.body.data).toMatchObject({ open: false, reason: 'event_held', total: 12 })
    expect(report.body.data).toMatchObject({
      codes: { void: 0 },
      alarms: [
        {
          kind: 'unknown_codes',
          held_since: new Date(clock.nowMs()).toISOString(),
          next_try_at: expect.any(String),
        },
      ],
    })
    expect(metrics.text).toContain('landpass_held_events 1')

    // The organiser loads the codes again: the claims go on by themselves, and others are taken
    await server.send('POST', `/addcodes/${uuid}`, { editCode: '123456' })
    await untilMinted(outside, id(21), answers.length - held.length)
    expect((await server.claim(uuid, late!)).status).toBe(200)
    expect(await outside.mintsOf(id(21))).toHaveLength(answers.length - held.length + 1)
  })

  test('tokens that the issuer gives to somebody else: no player gets a second code', async () => {
    const uuid = await event(22, 6)
    const vera = await player('vera')
    await outside.issuerSettings({ other_beneficiary_rate: 1 })

    const pending = await server.claim(uuid, vera)
    clock.set(clock.nowMs() + 2_000)
    await eventually(
      () => states(22),
      ([state]) => state === 'released',
      20_000,
    )
    await outside.issuerSettings({ other_beneficiary_rate: 0 })
    const again = await server.claim(uuid, await player('vera'))

    expect(pending.body.data).toMatchObject({ claim: { status: 'pending' } })
    expect([again.status, again.body.code]).toEqual([409, 'already_claimed'])
    expect(await outside.mintsOf(id(22))).toHaveLength(1)
    clock.set(REFERENCE_TIME_MS)
  })

  test('no answer from the issuer: pending, the same claim when it is repeated, and settled by itself', async () => {
    const uuid = await event(13, 2)
    const pia = await player('pia')
    await outside.issuerSettings({ error_rate: 1 })

    const pending = await server.claim(uuid, pia)
    const repeated = await server.claim(uuid, pia)
    await outside.issuerSettings({ error_rate: 0 })
    clock.set(clock.nowMs() + MINUTE_MS)
    await untilMinted(outside, id(13), 1)

    expect(pending.status, pending.text).toBe(200)
    expect(pending.body.data).toMatchObject({ claim: { status: 'pending' } })
    // How long the player may have to wait changes with the time.
    const withoutWait = ({ text }: typeof pending) =>
      text.replace(/"(?:queue_length|retry_after_s)":\d+,?/g, '')
    expect(withoutWait(repeated)).toEqual(withoutWait(pending))
    expect(await outside.mintsOf(id(13))).toMatchObject([{ address: pia.address }])
    clock.set(REFERENCE_TIME_MS)
  })

  test('done, but the answer got lost: the token is found, not made again', async () => {
    const uuid = await event(14, 2)
    const ron = await player('ron')
    await outside.issuerSettings({ error_after_rate: 1 })

    const lost = await server.claim(uuid, ron)
    await outside.issuerSettings({ error_after_rate: 0 })
    clock.set(clock.nowMs() + MINUTE_MS)
    await eventually(
      () => states(14),
      ([state]) => state === 'minting' || state === 'minted',
      20_000,
    )

    expect(lost.status, lost.text).toBe(200)
    expect(await outside.mintsOf(id(14))).toHaveLength(1)
    clock.set(REFERENCE_TIME_MS)
  })
})

describeOnOneEngine('a server that asks for a proof of work', (open) => {
  test('takes a signed claim with a proof of its own, once', async () => {
    const clock = testClock()
    const eventId = 77_001
    const server = await startAttendance(await open(), clock, outside, { CLAIM_PROOF_OF_WORK_BITS: '14' })
    await outside.putEvent(eventId, { edit_code: '123456', codes: 2 })
    const uuid = await server.register(eventId, '123456', '10,20')
    const ann = await playerAt(outside, 'proof', PLACE, clock.nowMs())
    const headers = ann.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() })
    const { body } = await server.send('POST', '/captcha', undefined, headers)
    const { proof_of_work: work } = body.data as { proof_of_work: { bits: number; challenge: string } }
    const proof = findNonce(work, { eventUuid: uuid, address: ann.address })

    const without = await server.claim(uuid, ann)
    const wrong = await server.claim(uuid, ann, { body: { proof: `${proof}0` } })
    const right = await server.claim(uuid, ann, { body: { proof } })

    expect([without.status, without.body.code]).toEqual([403, 'proof_of_work_required'])
    expect(without.body.data).toEqual({ bits: 14, algorithm: 'sha256' })
    expect(wrong.body.code).toBe('proof_of_work_required')
    expect(right.status, right.text).toBe(200)
    await server.close()
  })
})

describe('behind a connection pooler that shares its connections and knows no prepared statements', () => {
  const open = freshEngine('postgres')

  test.each([75_901, undefined])(
    'players claim at once, and each gets one token (event of POAP: %s)',
    async (poapId) => {
      const clock = testClock()
      const pooler = await startAnyPooler(await freshDatabaseUrl())
      onTestFinished(() => pooler.stop())
      const server = await startAttendance(
        await open({ databaseUrl: pooler.url }),
        clock,
        outside,
        makesEvents(),
      )
      onTestFinished(() => server.close())
      const names = Array.from({ length: 12 }, (_, n) => `pooled ${poapId} ${n}`)
      const players = await Promise.all(names.map((name) => playerAt(outside, name, PLACE, clock.nowMs())))
      const uuid = poapId === undefined ? await make(server) : await register(server, poapId)

      const first = await Promise.all(players.map((one) => server.claim(uuid, one)))
      const again = await Promise.all(players.map((one) => server.claim(uuid, one)))

      expect(first.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 409, 409])
      expect(again.map(({ status }) => status)).toEqual(players.map(() => 409))
      const { data } = (await server.get(`/event/${uuid}/availability`)).body
      expect(data).toMatchObject({ total: 10, available: 0, claimed: 10 })
      if (poapId !== undefined) await untilMinted(outside, poapId, 10)
    },
  )

  async function register(server: AttendanceServer, eventId: number): Promise<string> {
    await outside.putEvent(eventId, { edit_code: '123456', codes: 10 })
    return server.register(eventId, '123456', '10,20')
  }

  async function make(server: AttendanceServer): Promise<string> {
    const start_date = new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10)
    const fields = { name: 'Pooled', coordinates: '10,20', start_date, tokens: 10 }
    const made = await server.send('POST', '/events', fields)
    expect(made.status, made.text).toBe(200)
    return (made.body.data as { event: { uuid: string } }).event.uuid
  }
})

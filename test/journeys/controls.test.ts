import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPTION_NAMES } from '@landpass/server/attendance/events/event-options'
import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { beforeAll, expect, test } from 'vitest'

/** What an organiser does during an event: check the code, watch it, block players, take the lists home. */

const EDIT_CODE = 'evening-of-the-harbour-41'
const PLACE = { x: 7, y: 7 }

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('the controls of a live event', (open) => {
  let server: AttendanceServer
  let clock: TestClock
  const id = (n: number) => n + 89_000

  beforeAll(async () => {
    clock = testClock()
    server = await startAttendance(await open(), clock, outside, {
      TOKEN_KEY_FILE: join(mkdtempSync(join(tmpdir(), 'landpass-controls-')), 'token.key'),
      EVENT_MAKERS: 'anyone',
    })
    return () => server.close()
  })

  const ask = (call: string, event: number | string, body: object = {}) =>
    server.send('POST', `/event/${event}/${call}`, { editCode: EDIT_CODE, ...body })
  const claim = async (event: number, name: string) =>
    server.claim(String(event), await playerAt(outside, `controls ${name}`, PLACE, clock.nowMs()))
  async function givenEvent(n: number, plan: object = {}): Promise<string> {
    await outside.putEvent(id(n), { edit_code: EDIT_CODE, codes: 20, name: 'Harbour Lights', ...plan })
    return server.register(id(n), EDIT_CODE, `${PLACE.x},${PLACE.y}`)
  }

  test('an edit code is checked before the event is registered, and afterwards by number and uuid', async () => {
    await outside.putEvent(id(1), { edit_code: EDIT_CODE, codes: 2, name: 'Harbour Lights' })

    const before = await ask('check', id(1))
    const uuid = await server.register(id(1), EDIT_CODE, '7,7')
    const after = await ask('check', id(1))
    const byUuid = await ask('check', uuid)

    expect(before.status, before.text).toBe(200)
    expect(before.body.data).toMatchObject({
      ...{ id: id(1), uuid: null, name: 'Harbour Lights', registered: false, made_here: false },
      organiser_pass: { pass: expect.any(String) },
    })
    const known = { id: id(1), uuid, name: 'Harbour Lights', registered: true, made_here: false }
    expect([after.body.data, byUuid.body.data]).toMatchObject([known, known])
  })

  test('a wrong code and an unknown event get the same answer, and count as guesses', async () => {
    await givenEvent(2)

    const wrong = await ask('check', id(2), { editCode: 'a-guess' })
    const unknown = await ask('check', id(3))
    const noUuid = await ask('check', '00000000-0000-4000-8000-000000000000')
    for (let guess = 0; guess < 4; guess++) await ask('check', id(2), { editCode: `guess-${guess}` })
    const blocked = await ask('check', id(2))

    expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong_edit_code'])
    expect([unknown.status, unknown.body]).toEqual([401, wrong.body])
    expect([noUuid.status, noUuid.body.code]).toEqual([404, 'event_not_found'])
    expect([blocked.status, blocked.body.code]).toEqual([429, 'too_many_guesses'])
  })

  test('the code of an event that was made here is checked too', async () => {
    const made = await server.send('POST', '/events', {
      ...{ name: 'Lanterns', coordinates: '7,7', start_date: '2026-11-20', tokens: 5 },
    })
    const { edit_code: editCode, event } = made.body.data as {
      edit_code: string
      event: { id: number; uuid: string }
    }

    const right = await ask('check', event.uuid, { editCode })
    const wrong = await ask('check', event.id)

    expect(right.body.data).toEqual({
      ...{ id: event.id, uuid: event.uuid, name: 'Lanterns', registered: true, made_here: true },
    })
    expect(wrong.body.code).toBe('wrong_edit_code')
  })

  test('the report counts claims by minute for three hours, in the order of time', async () => {
    await givenEvent(4)
    await claim(id(4), 'early')
    clock.set(REFERENCE_TIME_MS + 3 * HOUR_MS)
    await claim(id(4), 'ann')
    await claim(id(4), 'ben')
    clock.set(clock.nowMs() + 2 * MINUTE_MS)
    await claim(id(4), 'cleo')

    const { body } = await ask('report', id(4))

    expect(body.data).toMatchObject({
      minutes: [
        { minute: '2026-11-20T03:00:00.000Z', claims: 2 },
        { minute: '2026-11-20T03:02:00.000Z', claims: 1 },
      ],
      blocked: 0,
      codes_load: null,
    })
    clock.set(REFERENCE_TIME_MS)
  })

  test('the report says whether the issuer and the presence providers answer', async () => {
    await givenEvent(5)
    const states = async () => {
      const { issuer, presence } = (await ask('report', id(5))).body.data as Record<string, object>
      return { issuer, presence }
    }
    await claim(id(5), 'dora')
    const well = await states()
    await outside.presenceSettings({ down: true })
    const refused = await claim(id(5), 'eve')
    await outside.presenceSettings({ down: false })
    const badly = await states()
    await server.send('PATCH', `/event/${id(5)}`, {
      ...{ editCode: EDIT_CODE, options: [['requires_presence', false]] },
    })

    expect(well).toMatchObject({ issuer: { status: 'ok' }, presence: { status: 'ok' } })
    expect(refused.body.code).toBe('presence_unavailable')
    const unsaid = await server.send('PATCH', `/event/${id(5)}`, { editCode: EDIT_CODE })
    expect(unsaid.body).toMatchObject({ data: { allowed: expect.stringContaining('[name, value] pairs') } })
    expect(badly.presence).toEqual({ status: 'failing', since: '2026-11-20T00:00:00.000Z' })
    expect((await states()).presence).toEqual({ status: 'not_asked', since: null })
  })

  test('a blocked player is refused whether at the place or not, keeps the captcha, and may be allowed again', async () => {
    await givenEvent(6)
    const ann = await playerAt(outside, `controls blocked ann`, PLACE, clock.nowMs())
    const mixed = ann.address.replace(/[a-f]/g, (digit) => digit.toUpperCase())

    const list = await ask('blocked', id(6), { add: [mixed] })
    await outside.presenceSettings({ down: true })
    const refused = await server.claim(String(id(6)), ann)
    await outside.presenceSettings({ down: false })
    const report = await ask('report', id(6))
    const emptied = await ask('blocked', id(6), { remove: [ann.address] })
    const claimed = await server.claim(String(id(6)), ann)

    expect(list.body.data).toMatchObject({
      blocked: [{ address: ann.address.toLowerCase(), since: '2026-11-20T00:00:00.000Z' }],
    })
    expect([refused.status, refused.body.code]).toEqual([403, 'player_blocked'])
    expect(report.body.data).toMatchObject({ blocked: 1, refusals: [{ code: 'player_blocked', count: 1 }] })
    expect(emptied.body.data).toMatchObject({ blocked: [] })
    expect(claimed.status, claimed.text).toBe(200)
  })

  test('who has a claim already keeps it, and hears so after being blocked', async () => {
    await givenEvent(7)
    const first = await claim(id(7), 'blocked late')
    const { address } = (first.body.data as { claim: { address: string } }).claim
    await ask('blocked', id(7), { add: [address] })

    const again = await claim(id(7), 'blocked late')

    expect(again.body.code).toBe('already_claimed')
    expect((await ask('report', id(7))).body.data).toMatchObject({ claims: { failed: 0, released: 0 } })
  })

  test('a list with a wrong address changes nothing, and no wrong code reads the list', async () => {
    await givenEvent(8)
    const ann = `0x${'a'.repeat(40)}`

    const bad = await ask('blocked', id(8), { add: [ann, 'ann'] })
    const guessed = await ask('blocked', id(8), { editCode: 'a-guess', add: [ann] })

    expect([bad.status, bad.body.code]).toEqual([400, 'invalid_parameter'])
    expect(bad.body.error).toBe(
      'add[1] is "a string that is not shown", but must be an address, 0x and 40 hex digits.',
    )
    expect(guessed.body.code).toBe('wrong_edit_code')
    expect((await ask('blocked', id(8))).body.data).toMatchObject({ blocked: [] })
  })

  test('codes that are not approved yet are loaded later where the organiser agrees, and until they change their mind', async () => {
    await outside.putEvent(id(10), { edit_code: EDIT_CODE, codes: 3, approved_after_ms: null })
    const given = { editCode: EDIT_CODE }
    await server.send('POST', `/event/${id(10)}`, { ...given, coordinates: '7,7' })
    const load = async (body: object) =>
      (await server.send('POST', `/addcodes/${id(10)}`, { ...given, ...body })).body.data as { body: object }

    const without = await load({})
    const agreed = await load({ load_when_approved: true })
    const again = await load({})
    const report = (await ask('report', id(10))).body.data
    const refused = await load({ load_when_approved: false })

    const loads_until = '2026-12-04T00:00:00.000Z'
    expect(without.body).not.toHaveProperty('loads_until')
    expect(agreed.body).toMatchObject({
      ...{ loads_until, waiting_for_issuer: true, message: expect.stringContaining('by itself') },
    })
    expect(again.body).toEqual(agreed.body)
    expect(report).toMatchObject({ codes_load: { until: loads_until, last_try_at: null } })
    expect(refused.body).toEqual(without.body)
    await load({ load_when_approved: true })
    await outside.putEvent(id(10), { edit_code: EDIT_CODE, codes: 3 })
    expect((await load({})).body).toEqual({ num: 3, total: 3, available: 3, claimed: 0 })
    expect((await ask('report', id(10))).body.data).toMatchObject({ codes_load: null })
  })

  test('the claims of an event are listed page by page, and as CSV, without codes', async () => {
    await givenEvent(9)
    const players: string[] = []
    for (const name of ['one', 'two', 'three']) {
      clock.set(clock.nowMs() + MINUTE_MS)
      const claimed = await claim(id(9), `listed ${name}`)
      players.push((claimed.body.data as { claim: { address: string } }).claim.address)
    }

    const first = (await ask('claims', id(9), { limit: 2 })).body.data as Page
    const second = (await ask('claims', id(9), { limit: 2, after: first.next })).body.data as Page
    const csv = await ask('claims', id(9), { format: 'csv', limit: 1 })

    expect([...first.claims, ...second.claims].map(({ address }) => address)).toEqual(players)
    expect(first.claims[0]).toEqual({
      ...{ made_at: '2026-11-20T00:01:00.000Z', address: players[0], state: 'minting' },
    })
    expect([typeof first.next, second.next]).toEqual(['string', null])
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="claims-${id(9)}.csv"`)
    expect(csv.text.split('\r\n')).toEqual([
      'made_at,address,state,reason,token,tx_hash,given',
      ...players.map((address, n) => `2026-11-20T00:0${n + 1}:00.000Z,${address},minting,,,,`),
      '',
    ])
    const bad = await ask('claims', id(9), { after: 'somewhere' })
    expect([bad.status, bad.body.code]).toEqual([400, 'invalid_parameter'])
    expect((await ask('claims', id(9), { editCode: 'a-guess' })).body.code).toBe('wrong_edit_code')
    clock.set(REFERENCE_TIME_MS)
  })

  test('the export has everything about an event made here, the tokens too, and no code', async () => {
    const made = await server.send('POST', '/events', {
      ...{ name: 'Lanterns', coordinates: '7,7;8,7', start_date: '2026-11-20', tokens: 5 },
    })
    const { edit_code: editCode, event } = made.body.data as {
      edit_code: string
      event: { id: number; uuid: string }
    }
    await claim(event.id, 'lantern ann')
    await ask('blocked', event.id, { editCode, add: [`0x${'c'.repeat(40)}`] })

    const file = await ask('export', event.uuid, { editCode })
    const { claims } = (await ask('claims', event.id, { editCode })).body.data as Page

    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="event-${event.id}.json"`)
    expect(file.body).toMatchObject({
      exported_at: '2026-11-20T00:00:00.000Z',
      event: { id: event.id, uuid: event.uuid, name: 'Lanterns' },
      options: { enabled: true, coordinates: '7,7;8,7', tokens: 5, hide_holders: false },
      places: [
        { x: 7, y: 7 },
        { x: 8, y: 7 },
      ],
      report: { codes: { used: 1, free: 4 }, blocked: 1 },
      blocked: [{ address: `0x${'c'.repeat(40)}`, since: '2026-11-20T00:00:00.000Z' }],
      claims,
    })
    expect(claims).toMatchObject([{ state: 'minted', token: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
    const { options } = file.body as unknown as { options: object }
    const kept = OPTION_NAMES.filter((name) => name !== 'revoke_passes') // which is no state of the event
    expect(Object.keys(options).sort()).toEqual(kept.sort())
    expect(file.text).not.toContain(editCode)
    expect(file.text).not.toContain('own:')
    expect((await ask('export', event.id)).body.code).toBe('wrong_edit_code')
  })
})

interface Page {
  readonly claims: readonly { readonly address: string }[]
  readonly next: string | null
}

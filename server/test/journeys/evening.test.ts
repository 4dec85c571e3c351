import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../src/clock.ts'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '../support/attendance-server.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '../support/land-server.ts'

/** What an organiser does during an event: check the code, watch it, block players, take the lists home. */

const EDIT_CODE = 'evening-of-the-harbour-41'
const PLACE = { x: 7, y: 7 }

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnBothEngines('the evening of an event', (open, kind) => {
  let server: AttendanceServer
  let clock: TestClock
  const id = (n: number) => n + (kind === 'embedded' ? 88_000 : 89_000)

  beforeAll(async () => {
    clock = testClock()
    server = await startAttendance(await open(), clock, outside, {
      TOKEN_KEY_FILE: join(mkdtempSync(join(tmpdir(), 'landpass-evening-')), 'token.key'),
      EVENT_MAKERS: 'anyone',
    })
    return () => server.close()
  })

  const ask = (call: string, event: number | string, body: object = {}) =>
    server.send('POST', `/event/${event}/${call}`, { editCode: EDIT_CODE, ...body })
  const claim = async (event: number, name: string) =>
    server.claim(String(event), await playerAt(outside, `evening ${kind} ${name}`, PLACE, clock.nowMs()))
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
    expect(badly.presence).toEqual({ status: 'failing', since: '2026-11-20T00:00:00.000Z' })
    expect((await states()).presence).toEqual({ status: 'not_asked', since: null })
  })
})

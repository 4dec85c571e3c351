import { MINUTE_MS } from '@landpass/server/clock'
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

/**
 * What the existing organiser page does, call by call: it looks whether the event is there, imports it, changes its
 * coordinates and loads codes. It parses every answer as JSON, never reads the status, and shows `error` as it is.
 */

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('the organiser page', (open) => {
  let server: AttendanceServer
  let clock: TestClock
  const id = (n: number) => n + 71_000
  beforeAll(async () => {
    clock = testClock()
    server = await startAttendance(await open(), clock, outside)
    return () => server.close()
  })

  test('an event that is new here: the text above the form says that the form is the next step', async () => {
    const answer = await server.get(`/event/${id(1)}`)

    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({
      ok: false,
      error: `Event ${id(1)} is not registered here yet. If it is yours, register it with its edit code and coordinates.`,
      code: 'event_not_found',
      data: { event_id: id(1) },
    })
  })

  test('import, update of the coordinates, update of the codes, twice', async () => {
    await outside.putEvent(id(2), {
      edit_code: '012345',
      codes: 25,
      name: 'Harbour Lights Opening',
      image_url: 'https://images.example.org/harbour.png',
      start_date: '05-Mar-2027',
      end_date: '06-Mar-2027',
      expiry_date: '2027-03-20',
    })

    const imported = await server.send('POST', `/event/${id(2)}`, {
      editCode: '012345',
      coordinates: '52,-10;53,-10',
    })
    const changed = await server.send('PATCH', `/event/${id(2)}`, {
      editCode: '012345',
      options: [['coordinates', '52,-10;53,-10;53,-11']],
    })
    const loaded = await server.send('POST', `/addcodes/${id(2)}`, { editCode: '012345' })
    // As it is copied from an e-mail: the issuer gets it without the blanks
    const again = await server.send('POST', `/addcodes/${id(2)}`, { editCode: ' 012345\u00a0\n' })
    const seen = await server.get(`/event/${id(2)}`)

    expect(imported.body).toMatchObject({
      ok: true,
      data: {
        id: id(2),
        name: 'Harbour Lights Opening',
        coordinates: '52,-10;53,-10',
        event_start_date: '2027-03-05T00:00:00.000Z',
        event_end_date: '2027-03-06T00:00:00.000Z',
        enabled: true,
        distribution_start_date: null,
        distribution_end_date: null,
        event: {
          id: id(2),
          name: 'Harbour Lights Opening',
          start_date: '05-Mar-2027',
          expiry_date: '20-Mar-2027',
        },
      },
    })
    expect(changed.body).toMatchObject({ ok: true, data: { coordinates: '52,-10;53,-10;53,-11' } })
    expect(loaded.body.data).toEqual({
      url: `/addcodes/${id(2)}`,
      body: { num: 25, total: 25, available: 25, claimed: 0 },
      organiser_pass: {
        pass: expect.stringMatching(/^[\w.-]{70,90}$/),
        expires_at: '2026-12-20T00:00:00.000Z',
      },
    })
    expect(again.body.data).toMatchObject({ body: { num: 0, total: 25 } })
    const { organiser_pass: _pass, approval, ...event } = changed.body.data as Record<string, unknown>
    expect(approval, 'of events made here alone').toBeNull()
    expect(seen.body.data).toEqual(event)
    expect(JSON.stringify([imported.body, changed.body, seen.body])).not.toMatch(/012345|secret_code|email/)
  })

  test('the same registration again keeps the uuid and takes the new coordinates; the uuid names the event everywhere', async () => {
    await outside.putEvent(id(3), { edit_code: '111222', codes: 2 })
    const first = await server.send('POST', `/event/${id(3)}`, { editCode: '111222', coordinates: '1,1' })
    const second = await server.send('POST', `/event/${id(3)}`, { editCode: '111222', coordinates: '2,2' })
    const { uuid } = first.body.data as { uuid: string }

    expect(second.body.data).toMatchObject({ uuid, coordinates: '2,2' })
    expect((await server.get(`/event/${uuid}`)).body.data).toMatchObject({ id: id(3), coordinates: '2,2' })
    expect((await server.send('POST', `/addcodes/${uuid}`, { editCode: '111222' })).body.data).toMatchObject({
      url: `/addcodes/${id(3)}`,
    })
    const paused = { editCode: '111222', options: [['enabled', false]] }
    expect((await server.send('PATCH', `/event/${uuid.toUpperCase()}`, paused)).body.data).toMatchObject({
      enabled: false,
    })
  })

  test('a refused load has the number that the older page reads: no new code', async () => {
    await outside.putEvent(id(30), { edit_code: '333444', codes: 2 })
    const refused = [
      await server.send('POST', `/addcodes/${id(30)}`, { editCode: '333444' }),
      await server.send('POST', `/addcodes/${id(3)}`, { editCode: '999999' }),
      await server.send('POST', `/addcodes/${id(3)}`, {}),
    ]

    expect(refused.map(({ body }) => [body.code, body.data])).toEqual([
      ['event_not_found', expect.objectContaining({ body: { num: 0 } })],
      ['wrong_edit_code', expect.objectContaining({ body: { num: 0 } })],
      ['invalid_parameter', expect.objectContaining({ body: { num: 0 } })],
    ])
  })

  test('the documented command line, whose body is labelled as a form', async () => {
    await outside.putEvent(id(4), { edit_code: '0123456', codes: 1 })

    const { status, bytes } = await server.ask('POST', `/event/${id(4)}`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '{"editCode":"0123456","coordinates":"52,-10"}',
    })

    expect(status, bytes.toString()).toBe(200)
  })

  test('a wrong code, an event that the issuer does not know, and the code of another event get the same answer', async () => {
    await outside.putEvent(id(5), { edit_code: '555555', codes: 1 })
    await outside.putEvent(id(6), { edit_code: '666666', codes: 1 })
    const ask = (event: number, editCode: string) =>
      server.send('POST', `/event/${event}`, { editCode, coordinates: '0,0' })

    const wrong = await ask(id(5), '000000')
    const unknown = await ask(id(7), '555555')
    const others = await ask(id(5), '666666')

    expect(wrong.status).toBe(401)
    expect(wrong.body).toEqual({
      ok: false,
      code: 'wrong_edit_code',
      error:
        "The issuer does not know this event id together with this edit code. Both are in the issuer's e-mail.",
      data: {},
    })
    expect([unknown.status, unknown.body]).toEqual([401, wrong.body])
    expect([others.status, others.body]).toEqual([401, wrong.body])
  })

  test('five wrong codes, in any calls, block clients without a pass for a quarter of an hour', async () => {
    await outside.putEvent(id(8), { edit_code: '888888', codes: 1 })
    await server.register(id(8), '888888', '0,0')
    const calls = [
      () => server.send('POST', `/event/${id(8)}`, { editCode: '1', coordinates: '0,0' }),
      () => server.send('PATCH', `/event/${id(8)}`, { editCode: '2', options: [['enabled', true]] }),
      () => server.send('POST', `/addcodes/${id(8)}`, { editCode: '3' }),
      () => server.send('POST', `/event/${id(8)}/report`, { editCode: '4' }),
      () => server.send('POST', `/addcodes/${id(8)}`, { editCode: '5' }),
    ]
    for (const call of calls) expect((await call()).status).toBe(401)

    const right = await server.send('POST', `/addcodes/${id(8)}`, { editCode: '888888' })
    clock.set(clock.nowMs() + 15 * MINUTE_MS)
    const later = await server.send('POST', `/addcodes/${id(8)}`, { editCode: '888888' })

    expect(right.status).toBe(429)
    expect(right.body.code).toBe('too_many_guesses')
    expect(right.body.data).toMatchObject({ proof_of_work: { bits: 22, algorithm: 'sha256' } })
    expect(Number(right.headers.get('retry-after'))).toBe(15 * 60)
    expect(later.status).toBe(200)
    clock.set(REFERENCE_TIME_MS)
  })

  test('an event that is not approved yet: no codes, no error, and what to do', async () => {
    await outside.putEvent(id(9), { edit_code: '999999', codes: 5, approved_after_ms: null })
    await server.send('POST', `/event/${id(9)}`, { editCode: '999999', coordinates: '0,0' })
    const before = await server.get(`/event/${id(9)}/availability`)

    const { status, body } = await server.send('POST', `/addcodes/${id(9)}`, { editCode: '999999' })
    const after = await server.get(`/event/${id(9)}/availability`)

    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      body: {
        num: 0,
        total: 0,
        waiting_for_issuer: true,
        message: expect.stringContaining('24 to 72 hours'),
      },
    })
    expect(before.body.data).toMatchObject({ open: false, reason: 'no_codes_loaded' })
    expect(after.body.data).toMatchObject({ open: false, reason: 'waiting_for_issuer', total: 0 })
  })

  test('codes that were used elsewhere are marked, and more codes are merged', async () => {
    await outside.putEvent(id(10), { edit_code: '101010', codes: 3 })
    await outside.useElsewhere(id(10), 1)
    await server.register(id(10), '101010', '0,0')
    await outside.useElsewhere(id(10), 1)

    const { body } = await server.send('POST', `/addcodes/${id(10)}`, { editCode: '101010' })

    expect(body.data).toMatchObject({ body: { num: 0, total: 3, available: 1, claimed: 2 } })
  })

  test('wrong input is named before the issuer is asked, and the edit code is never repeated', async () => {
    const bad = [
      [{ editCode: '123', coordinates: '52,-10;1.5,2' }, 'invalid_coordinates', '"1.5,2"'],
      [{ editCode: '123', coordinates: '52,-10;151,0' }, 'invalid_coordinates', '151,0'],
      [{ coordinates: '52,-10' }, 'invalid_parameter', 'editCode is missing'],
      [{ editCode: 4815162342, coordinates: '52,-10' }, 'invalid_parameter', 'editCode is'],
      [{ editCode: '4815162342'.repeat(10), coordinates: '1,1' }, 'invalid_parameter', 'editCode is'],
      [{ editCode: '123' }, 'invalid_parameter', 'coordinates is missing'],
      ['[1]', 'invalid_body', 'JSON object'],
      ['{', 'invalid_body', 'JSON object'],
    ] as const
    for (const [body, code, said] of bad) {
      const answer = await server.send('POST', `/event/${id(11)}`, body)
      expect(answer.status, answer.text).toBe(400)
      expect(answer.body.code).toBe(code)
      expect(answer.body.error).toContain(said)
      expect(answer.text).not.toContain('4815162342')
    }
    for (const path of ['/event/abc', '/event/2147483648', '/event/1.5', '/event/-1']) {
      const answer = await server.get(path)
      expect([answer.status, answer.body.code], path).toEqual([400, 'invalid_parameter'])
    }
    expect((await server.send('POST', `/addcodes/${id(11)}`, { editCode: '1' })).body.code).toBe(
      'event_not_found',
    )
  })

  test('while the issuer is down nothing is lost and the sentence says so; wrong credentials have another message', async () => {
    await outside.putEvent(id(12), { edit_code: '121212', codes: 1 })
    await outside.issuerSettings({ error_rate: 1, html_errors: true })

    const down = await server.send('POST', `/event/${id(12)}`, { editCode: '121212', coordinates: '0,0' })
    await outside.issuerSettings({ error_rate: 0, html_errors: false })
    const up = await server.send('POST', `/event/${id(12)}`, { editCode: '121212', coordinates: '0,0' })

    await outside.issuerSettings({ error_rate: 1 })
    await server.send('POST', `/addcodes/${id(12)}`, { editCode: '121212' })
    await outside.issuerSettings({ error_rate: 0 })
    const report = await server.send('POST', `/event/${id(12)}/report`, { editCode: '121212' })

    expect(report.body.data).toMatchObject({
      issuer_errors: [
        {
          at: '2026-11-20T00:00:00.000Z',
          call: 'isEditCode',
          kind: 'unavailable',
          status: expect.any(Number),
        },
      ],
    })
    expect([down.status, down.body.code]).toEqual([503, 'issuer_unavailable'])
    expect(down.body.error).toContain('Nothing was lost')
    expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(up.status).toBe(200)
  })

  test('the report counts claims by state, hour and reason, and has no codes', async () => {
    await outside.putEvent(id(13), { edit_code: '131313', codes: 2 })
    const uuid = await server.register(id(13), '131313', '5,5')
    const place = { x: 5, y: 5 }
    for (const name of ['ann', 'ben', 'cleo']) {
      await server.claim(uuid, await playerAt(outside, `report ${name}`, place, clock.nowMs()))
    }
    await server.claim(uuid, await playerAt(outside, `report elsewhere`, { x: 9, y: 9 }, clock.nowMs()))

    const { status, body, text } = await server.send('POST', `/event/${uuid}/report`, { editCode: '131313' })

    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      event: { id: id(13) },
      availability: { open: false, reason: 'no_codes_left', total: 2, available: 0, claimed: 2 },
      codes: { free: 0, held: 2 },
      claims: { minting: 2, minted: 0, failed: 0 },
      hours: [{ hour: '2026-11-20T00:00:00.000Z', minting: 2 }],
      refusals: [
        { code: 'no_codes_left', count: 1 },
        { code: 'not_at_event', count: 1 },
      ],
      issuer_errors: [],
    })
    const codes = (await outside.mintsOf(id(13))).map(({ code }) => code)
    expect(codes).toHaveLength(2)
    for (const secret of [...codes, '131313']) expect(text).not.toContain(secret)
    expect(text, 'no address of a player').not.toMatch(/0x[0-9a-f]{40}/i)
  })
})

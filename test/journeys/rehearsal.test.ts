import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { ERRORS, type ErrorCode } from '@landpass/server/errors'
import { readPages, tableBelow } from '@landpass/server/test/support/attendance/attendance-page'
import { attendanceDump, readCaptcha } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import {
  type Answer,
  REFERENCE_TIME_MS,
  type TestClock,
  testClock,
} from '@landpass/server/test/support/http/land-server'
import { PREVIEW_REALM, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { findNonce } from '@landpass/simulators/player/proof-of-work'
import { beforeAll, expect, test } from 'vitest'

/**
 * The builder of a scene tries the booth in a preview before the event: every answer of a claim, the right one and each
 * refusal, without a token.
 */

const EDIT_CODE = '123456'
const PROOF_BITS = 4
const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))

/** Every code of the table of errors that a claim can have: an image of a captcha has its own. */
const CODES = tableBelow(readPages(), '## Errors of /captcha and /claim')
  .map(([code = '']) => code.replaceAll('`', '') as ErrorCode)
  .filter((code) => code !== 'captcha_not_found')

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('a rehearsal', (open) => {
  let server: AttendanceServer
  let hard: AttendanceServer
  let db: Db
  let clock: TestClock
  let tick = 0
  const id = (n: number) => n + 92_000
  const player = (name: string) => playerAt(outside, `rehearsal ${name}`, { x: 0, y: 0 }, clock.nowMs())

  beforeAll(async () => {
    clock = testClock()
    const engine = await open()
    db = engine.db
    const folder = mkdtempSync(join(tmpdir(), 'landpass-rehearsal-'))
    const ofTokens = { EVENT_MAKERS: 'anyone', TOKEN_KEY_FILE: join(folder, 'token.key') }
    server = await startAttendance(engine, clock, outside, ofTokens)
    hard = await startAttendance(engine, clock, outside, { CLAIM_PROOF_OF_WORK_BITS: String(PROOF_BITS) })
    return async () => {
      await server.close()
      await hard.close()
    }
  })

  /** A registered event that has not begun, whose codes were never loaded. */
  async function event(n: number, ...options: unknown[][]): Promise<string> {
    await outside.putEvent(id(n), { edit_code: EDIT_CODE, codes: 2 })
    const place = { editCode: EDIT_CODE, coordinates: '10,20' }
    const { body } = await server.send('POST', `/event/${id(n)}`, place)
    const inTwoHours = new Date(clock.nowMs() + 2 * HOUR_MS).toISOString()
    const chosen = { distribution_start_date: inTwoHours, ...Object.fromEntries(options) }
    await change(n, ...Object.entries(chosen))
    return (body.data as { uuid: string }).uuid
  }
  const change = (n: number, ...options: unknown[][]) =>
    server.send('PATCH', `/event/${id(n)}`, { editCode: EDIT_CODE, options })
  const inAnHour = () => new Date(clock.nowMs() + HOUR_MS).toISOString()
  const claim = (uuid: string, who: SimulatedPlayer, body = {}, at = server) =>
    at.claim(uuid, who, { body, sign: { metadata: { realm: PREVIEW_REALM } } })
  const report = async (n: number) =>
    (await server.send('POST', `/event/${id(n)}/report`, { editCode: EDIT_CODE })).body.data as {
      refusals: unknown[]
      claims: Record<string, number>
      rehearsal: object
    }

  function askForCaptcha(who: SimulatedPlayer, at = server): Promise<Answer> {
    tick += 1
    const metadata = { realm: PREVIEW_REALM }
    const headers = who.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() + tick, metadata })
    return at.send('POST', '/captcha', undefined, headers)
  }

  /** Status and code of an answer, and whether it is marked, in its data and in its header. */
  const shown = ({ status, headers, body }: Answer) => ({
    status,
    code: body.code ?? 'ok',
    isMarked: [(body.data as { rehearsal?: boolean }).rehearsal, headers.get('x-rehearsal')],
  })
  const refused = (code: ErrorCode) => ({ status: ERRORS[code].status, code, isMarked: [true, 'true'] })
  const UNMARKED = [undefined, null]

  test('is off until the organiser switches it on, and then shows in the event', async () => {
    const uuid = await event(1)
    const ann = await player('ann')

    const off = await claim(uuid, ann, { rehearse: 'no_codes_left' })
    const captcha = await askForCaptcha(ann)
    const on = await change(1, ['rehearsal_until', inAnHour()])
    const shownEvent = await server.get(`/event/${uuid}`)

    // As a real claim: the event has not begun
    expect(shown(off)).toEqual({ status: 403, code: 'event_not_open', isMarked: UNMARKED })
    expect(shown(captcha)).toEqual({ status: 403, code: 'preview_realm', isMarked: UNMARKED })
    expect(captcha.body.error).toContain('Ask the organiser for a rehearsal')
    expect(on.body.data).toMatchObject({ rehearsal_until: inAnHour() })
    expect(shownEvent.body.data).toMatchObject({ rehearsal_until: inAnHour() })
  })

  test('goes through the whole claim before the event begins, and a repeated claim is a repeated one', async () => {
    const uuid = await event(2, ['enabled', false], ['rehearsal_until', inAnHour()])
    const ann = await player('ann')
    const before = await attendanceDump(db)

    const first = await claim(uuid, ann)
    const second = await claim(uuid, ann)
    const real = await server.claim(uuid, ann, { body: { rehearse: 'no_codes_left' } })

    expect(first.status, first.text).toBe(200)
    expect(first.headers.get('x-rehearsal')).toBe('true')
    expect(first.body.data).toMatchObject({
      rehearsal: true,
      event: { uuid },
      claim: { status: 'minting', address: ann.address, message: expect.stringContaining('rehearsal') },
    })
    expect(shown(second)).toEqual(refused('already_claimed'))
    expect(second.body.error).toBe('Address already claimed a code for this event')
    expect(shown(real)).toEqual({ status: 403, code: 'event_disabled', isMarked: UNMARKED })
    // Nothing but the memory of the rehearsal, and the signatures that are used now
    const added = (await attendanceDump(db)).split('\n').filter((row) => !before.includes(row))
    const tables = new Set(added.map((row) => row.split(' ')[0]))
    tables.delete('attendance_refusal') // counts of real refusals are written every few seconds
    expect(tables).toEqual(new Set(['attendance_rehearsal', 'seen_request']))
    expect(await outside.mintsOf(id(2))).toEqual([])
  })

  test('answers with each refusal that a claim can have, counts none of them as a real one', async () => {
    const uuid = await event(3, ['rehearsal_until', inAnHour()])
    const ben = await player('ben')

    for (const code of CODES) {
      const answer = await claim(uuid, ben, { rehearse: code })
      expect(shown(answer), code).toEqual(refused(code))
      expect(answer.body.error, code).toMatch(/^[A-Z].+[.\w]$/)
      if (answer.status === 429 || answer.status === 503)
        expect(Number(answer.headers.get('retry-after')), code).toBeGreaterThan(0)
    }
    const unknown = await claim(uuid, ben, { rehearse: 'rain' })

    const metrics = (await server.ask('GET', '/metrics')).bytes.toString()

    expect(CODES.length).toBeGreaterThan(30)
    expect(shown(unknown)).toEqual(refused('invalid_parameter'))
    expect(unknown.body.error).toContain('no_codes_left')
    expect(unknown.text).not.toContain('rain')
    expect(metrics).toMatch(/landpass_claims_total\{result="rehearsal"\} \d+/)
    expect(metrics).not.toMatch(/landpass_claims_total\{result="(not_at_event|no_codes_left)"/)
    expect((await claim(uuid, ben)).status).toBe(200)
    expect(await report(3)).toMatchObject({
      refusals: [],
      claims: { reserved: 0, minting: 0, minted: 0 },
      // All but too_many_requests, and the unknown one
      rehearsal: { claims: 1, refusals: CODES.length },
    })
  })

  test('a chosen refusal has the sentence and the data of the real one', async () => {
    const uuid = await event(4, ['rehearsal_until', inAnHour()])
    const cleo = await player('cleo')
    const sentenceOf = async (rehearse: string) => (await claim(uuid, cleo, { rehearse })).body

    expect(await sentenceOf('not_at_event')).toMatchObject({
      error: 'You are not at the event: stand on 10,20 and try again after a few seconds.',
      data: { coordinates: '10,20', rehearsal: true },
    })
    expect(await sentenceOf('wrong_captcha')).toMatchObject({ data: { tries_left: 2, rehearsal: true } })
    expect(await sentenceOf('event_not_open')).toMatchObject({ data: { opens_at: inAnHour() } })
    expect(await sentenceOf('event_disabled')).toMatchObject({
      error: 'The organiser has paused this event. Please try again later.',
    })
    expect(await sentenceOf('event_held')).toMatchObject({ data: { retry_after_s: 60 } })
    expect(await sentenceOf('too_many_requests')).toMatchObject({ data: { retry_after_s: 60 } })
    expect(await sentenceOf('proof_of_work_required')).toMatchObject({ data: { bits: 1 } })
    expect(await sentenceOf('already_claimed')).toMatchObject({ data: { claim: { status: 'minting' } } })
    expect(await sentenceOf('internal_error')).toMatchObject({ error: 'Something went wrong on our side.' })
  })

  test('asks for a captcha where the event does, and gives it back where a real claim does', async () => {
    const uuid = await event(5, ['requires_captcha', true], ['rehearsal_until', inAnHour()])
    const dora = await player('dora')

    const without = await claim(uuid, dora)
    const asked = await askForCaptcha(dora)
    const { answer } = await readCaptcha(db, vault, (asked.body.data as { uuid: string }).uuid)
    const wrong = await claim(uuid, dora, { captcha: 'WRONG' })
    const givenBack = ['presence_unavailable', 'player_blocked', 'grant_required', 'event_held'] as const
    const lost = []
    for (const rehearse of givenBack) lost.push(shown(await claim(uuid, dora, { captcha: answer, rehearse })))
    const right = await claim(uuid, dora, { captcha: answer })

    expect(shown(without)).toEqual(refused('captcha_required'))
    expect(shown(asked), 'nothing says for which event').toMatchObject({ code: 'ok', isMarked: UNMARKED })
    expect(shown(wrong)).toEqual(refused('wrong_captcha'))
    expect(lost).toEqual(givenBack.map(refused))
    expect(shown(right)).toEqual({ status: 200, code: 'ok', isMarked: [true, 'true'] })
  })

  test('asks for a proof of work where the server does', async () => {
    const uuid = await event(6, ['rehearsal_until', inAnHour()])
    const eve = await player('eve')

    const without = await claim(uuid, eve, {}, hard)
    const { body } = await askForCaptcha(eve, hard)
    const { proof_of_work: work } = body.data as { proof_of_work: { challenge: string; bits: number } }
    const proof = findNonce(work, { eventUuid: uuid, address: eve.address })
    const right = await claim(uuid, eve, { proof }, hard)

    expect(shown(without)).toEqual(refused('proof_of_work_required'))
    expect(shown(right)).toEqual({ status: 200, code: 'ok', isMarked: [true, 'true'] })
  })

  test('serves the booth of 2022, whose claim is not signed: the captcha comes from the preview', async () => {
    const uuid = await event(7, ['rehearsal_until', inAnHour()])
    const fay = await player('fay')
    const asked = await askForCaptcha(fay)
    const { answer } = await readCaptcha(db, vault, (asked.body.data as { uuid: string }).uuid)
    const send = (captcha: string) =>
      server.send('POST', `/claim/${uuid}`, { address: fay.address, room: '', captcha })

    expect(shown(await send('WRONG'))).toEqual(refused('wrong_captcha'))
    expect(shown(await send(answer))).toEqual({ status: 200, code: 'ok', isMarked: [true, 'true'] })
    // Without a captcha from a preview it is a real claim again
    expect(shown(await send(answer))).toEqual({ status: 403, code: 'event_not_open', isMarked: UNMARKED })
  })

  test('counts no refusal of a booth of 2022 that has no captcha yet, which may be in a preview', async () => {
    const uuid = await event(
      13,
      ['distribution_start_date', null],
      ['requires_captcha', true],
      ['rehearsal_until', inAnHour()],
    )
    const body = { address: (await player('max')).address, room: '' }
    const send = async () => shown(await server.send('POST', `/claim/${uuid}`, body))
    const asked = { ...refused('captcha_required'), isMarked: UNMARKED }

    expect(await send(), 'not counted').toEqual(asked)
    await change(13, ['rehearsal_until', null])
    expect(await send(), 'counted').toEqual(asked)
    expect((await report(13)).refusals).toMatchObject([{ code: 'captcha_required', count: 1 }])
  })

  test('a signature is used up, and has to be right', async () => {
    const uuid = await event(8, ['rehearsal_until', inAnHour()])
    const gil = await player('gil')
    const path = `/claim/${uuid}`
    const request = { method: 'POST', path, atMs: clock.nowMs(), metadata: { realm: PREVIEW_REALM } }
    const send = () => server.send('POST', path, undefined, gil.sign(request))

    expect(shown(await send())).toMatchObject({ code: 'ok' })
    expect(shown(await send())).toEqual(refused('signature_used'))
    expect(shown(await claim(uuid, gil, { address: (await player('hal')).address }))).toEqual(
      refused('bad_signature'),
    )
  })

  test('real claims of the same event go on as before, and count alone', async () => {
    const uuid = await event(9, ['distribution_start_date', null], ['rehearsal_until', inAnHour()])
    await server.send('POST', `/addcodes/${id(9)}`, { editCode: EDIT_CODE })
    const hal = await playerAt(outside, `rehearsal real`, { x: 10, y: 20 }, clock.nowMs())

    const rehearsed = await claim(uuid, hal)
    const real = await server.claim(uuid, hal, { body: { rehearse: 'no_codes_left' } })
    const again = await claim(uuid, hal)

    expect(shown(rehearsed)).toMatchObject({ code: 'ok', isMarked: [true, 'true'] })
    expect(shown(real)).toEqual({ status: 200, code: 'ok', isMarked: UNMARKED })
    expect(shown(again)).toEqual(refused('already_claimed'))
    expect(await outside.mintsOf(id(9))).toHaveLength(1)
    expect(await report(9)).toMatchObject({
      availability: { available: 1 },
      refusals: [],
      claims: { minting: 1 },
      rehearsal: { claims: 1, refusals: 1 },
    })
    await change(9, ['rehearsal_until', inAnHour()])
    expect(await report(9), 'the next one counts anew, at once').toMatchObject({
      rehearsal: { claims: 0, refusals: 0 },
    })
  })

  test('of an event that is made here ends with the token that there would be, and none is made', async () => {
    const made = await server.send('POST', '/events', {
      name: 'Lanterns',
      coordinates: '10,20',
      start_date: '2026-11-21',
      tokens: 1,
    })
    const { event: info, edit_code: editCode } = made.body.data as {
      event: { uuid: string }
      edit_code: string
    }
    const options = [['rehearsal_until', inAnHour()]]
    const on = await server.send('PATCH', `/event/${info.uuid}`, { editCode, options })
    const ida = await player('ida')

    const { body } = await claim(info.uuid, ida)
    const again = await claim(info.uuid, ida, { rehearse: 'already_claimed' })
    const tokens = await server.get(`/addresses/${ida.address}/tokens`)

    expect(on.status, on.text).toBe(200)
    expect(body.data).toMatchObject({ rehearsal: true, claim: { status: 'minted' } })
    expect(again.body.data).toMatchObject({ claim: { status: 'minted' } })
    expect(tokens.body.data).toMatchObject({ tokens: [] })
  })

  test('lasts a day at most, and ends at its time or when the organiser ends it', async () => {
    const uuid = await event(10, ['distribution_start_date', null])
    const jo = await player('jo')
    const at = (ms: number) => change(10, ['rehearsal_until', new Date(clock.nowMs() + ms).toISOString()])

    for (const wrong of [await at(0), await at(-MINUTE_MS), await at(24 * HOUR_MS + 1)])
      expect([wrong.status, wrong.body.error]).toEqual([
        400,
        expect.stringContaining('must be a time within the next 24 hours, or null'),
      ])
    expect((await at(24 * HOUR_MS)).status).toBe(200)
    expect((await claim(uuid, jo)).status).toBe(200)
    clock.set(REFERENCE_TIME_MS + 24 * HOUR_MS)
    expect(shown(await claim(uuid, jo))).toMatchObject({ code: 'preview_realm', isMarked: UNMARKED })

    await at(HOUR_MS)
    expect((await claim(uuid, jo)).status).toBe(200)
    const ended = await change(10, ['rehearsal_until', null])
    expect(ended.body.data).toMatchObject({ rehearsal_until: null })
    expect(shown(await claim(uuid, jo))).toMatchObject({ code: 'preview_realm', isMarked: UNMARKED })
    clock.set(REFERENCE_TIME_MS)
  })

  test('an event that is over cannot be rehearsed', async () => {
    const yesterday = new Date(clock.nowMs() - 24 * HOUR_MS).toISOString()
    const uuid = await event(
      11,
      ['distribution_start_date', null],
      ['distribution_end_date', yesterday],
      ['rehearsal_until', inAnHour()],
    )

    expect(shown(await claim(uuid, await player('kim')))).toEqual(refused('event_closed'))
  })

  test('has the limits of real claims', async () => {
    const uuid = await event(12, ['rehearsal_until', inAnHour()])
    const lee = await player('lee')
    const strict = await startAttendance(await open(), clock, outside, { LIMIT_PLAYER_PER_MINUTE: '2' })
    const answers = []
    for (let i = 0; i < 3; i++) answers.push(shown(await claim(uuid, lee, {}, strict)))
    await strict.close()

    expect(answers).toEqual([
      { status: 200, code: 'ok', isMarked: [true, 'true'] },
      refused('already_claimed'),
      refused('too_many_requests'),
    ])
  })
})

import { Vault } from '@landpass/server/attendance/secrets/vault'
import { MINUTE_MS } from '@landpass/server/clock'
import { readCaptcha } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { PREVIEW_REALM, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { findNonce } from '@landpass/simulators/player/proof-of-work'
import { beforeAll, expect, test } from 'vitest'

/** What an operator sees move when something happens: exactly these figures, and by how much. */

const PLACE = { x: 10, y: 20 }
const EDIT_CODE = '123456'
/** Figures of attendance; of the times only how many were measured. */
const FIGURE =
  /^landpass_((?:claims|claim_steps|issuer_calls|captchas|signed_requests|presence_answers)_total|issuer_call_duration_seconds_count|claim_codes)(\{[^}]*\}) (\S+)$/gm

const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))

let outside: OutsideWorld
let peers: string
beforeAll(async () => {
  outside = await startOutsideWorld()
  peers = `peers ${new URL(outside.presence).host}`
})

describeOnOneEngine('the figures of attendance', (open) => {
  let server: AttendanceServer
  let clock: TestClock
  let tick = 0
  const id = (n: number) => n + 83_000
  const player = (name: string, place = PLACE) => playerAt(outside, `figures ${name}`, place, clock.nowMs())

  beforeAll(async () => {
    clock = testClock()
    const engine = await open()
    server = await startAttendance(engine, clock, outside, {}, { presenceCacheMs: 5_000, metricsMaxAgeMs: 0 })
    return () => server.close()
  })

  async function event(n: number, codes: number): Promise<string> {
    await outside.putEvent(id(n), { edit_code: EDIT_CODE, codes })
    return server.register(id(n), EDIT_CODE, '10,20')
  }

  async function figures(of = server): Promise<ReadonlyMap<string, number>> {
    const { text } = await of.get('/metrics')
    return new Map(
      [...text.matchAll(FIGURE)].map(([, name, labels = '', value]) => [
        `${name}${labels.replaceAll('"', '')}`,
        Number(value),
      ]),
    )
  }

  /** What has moved since, and by how much. */
  async function since(before: ReadonlyMap<string, number>, of = server): Promise<Record<string, number>> {
    const moved = [...(await figures(of))].map(
      ([name, value]) => [name, value - (before.get(name) ?? 0)] as const,
    )
    return Object.fromEntries(moved.filter(([, by]) => by !== 0))
  }

  const moved = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
    const before = await figures()
    await work()
    return since(before)
  }

  function captcha(who: SimulatedPlayer, headers: Readonly<Record<string, string>> = {}) {
    tick += 1
    const request = { method: 'POST', path: '/captcha', atMs: clock.nowMs() + tick }
    return server.send('POST', '/captcha', undefined, { ...who.sign(request), ...headers })
  }

  const calls = (call: string, result: string | number, count = 1) => ({
    [`issuer_calls_total{call=${call},result=${result}}`]: count,
    [`issuer_call_duration_seconds_count{call=${call}}`]: count,
  })
  const seen = (result: string, cached = false, count = 1) => ({
    [`presence_answers_total{provider=${peers},result=${result},cached=${cached}}`]: count,
  })
  const ACCEPTED = { 'signed_requests_total{result=accepted}': 1 }

  test('an event and its codes', async () => {
    await outside.putEvent(id(1), { edit_code: EDIT_CODE, codes: 7 })

    expect(await moved(() => server.register(id(1), EDIT_CODE, '10,20'))).toEqual({
      ...calls('token', 200),
      ...calls('findEvent', 200),
      ...calls('isEditCode', 200, 2),
      ...calls('listCodes', 200),
      'claim_codes{state=free}': 7,
    })
    await outside.useElsewhere(id(1), 2)
    expect(await moved(() => server.send('POST', `/addcodes/${id(1)}`, { editCode: EDIT_CODE }))).toEqual({
      ...calls('isEditCode', 200),
      ...calls('listCodes', 200),
      'claim_codes{state=free}': -2,
      'claim_codes{state=used_elsewhere}': 2,
    })
  })

  test('a claim, a second one, and the token on the chain', async () => {
    const uuid = await event(2, 1)
    const ann = await player('ann')
    await outside.issuerSettings({ mint_ms: 10 * MINUTE_MS })

    expect(await moved(() => server.claim(uuid, ann))).toEqual({
      'claims_total{result=minting}': 1,
      'claim_steps_total{result=accept}': 1,
      ...calls('readCode', 200),
      ...calls('mint', 200),
      ...seen('present'),
      ...ACCEPTED,
      'claim_codes{state=free}': -1,
      'claim_codes{state=held}': 1,
    })
    expect(await moved(() => server.claim(uuid, ann))).toEqual({
      'claims_total{result=already_claimed}': 1,
      ...seen('present', true),
      ...ACCEPTED,
    })

    const before = await figures()
    clock.set(clock.nowMs() + MINUTE_MS)
    await untilMoved(before, 'claim_steps_total{result=wait}')
    await outside.issuerSettings({ mint_ms: 0 })
    clock.set(clock.nowMs() + MINUTE_MS)
    await untilMoved(before, 'claim_codes{state=used}')

    expect(await since(before)).toEqual({
      'claim_steps_total{result=wait}': 1,
      'claim_steps_total{result=confirm}': 1,
      ...calls('readCode', 200, 2),
      'claim_codes{state=held}': -1,
      'claim_codes{state=used}': 1,
    })
  })

  const untilMoved = (before: ReadonlyMap<string, number>, name: string) =>
    eventually(
      () => since(before),
      (changes) => name in changes,
      20_000,
    )

  test('claims that are refused here', async () => {
    const uuid = await event(3, 1)
    const elsewhere = await player('elsewhere', { x: 0, y: 0 })
    const ben = await player('ben')

    expect(await moved(() => server.claim(uuid, elsewhere))).toEqual({
      'claims_total{result=not_at_event}': 1,
      ...seen('absent'),
      ...ACCEPTED,
    })
    await outside.presenceSettings({ down: true })
    expect(await moved(() => server.claim(uuid, ben))).toEqual({
      'claims_total{result=presence_unavailable}': 1,
      ...seen('unknown'),
      ...ACCEPTED,
    })
    await outside.presenceSettings({ down: false })
    expect(
      await moved(() => server.claim(uuid, ben, { sign: { metadata: { realm: PREVIEW_REALM } } })),
    ).toEqual({ 'claims_total{result=preview_realm}': 1, ...ACCEPTED })
    expect(await moved(() => server.claim('31', ben)), 'no claim of any event').toEqual({})
  })

  test('steps of claims that the issuer refuses: codes used elsewhere, a player who has one already, an expired event', async () => {
    const uuid = await event(4, 2)
    const [cleo, dan] = [await player('cleo'), await player('dan')]
    await outside.useElsewhere(id(4), 2)

    expect(await moved(() => server.claim(uuid, cleo))).toEqual({
      'claims_total{result=no_codes_left}': 1,
      'claim_steps_total{result=swap}': 2,
      ...calls('readCode', 200, 2),
      ...seen('present'),
      ...ACCEPTED,
      'claim_codes{state=free}': -2,
      'claim_codes{state=used_elsewhere}': 2,
    })

    const other = await event(9, 1)
    await outside.giveToken(id(9), EDIT_CODE, dan.address)
    const released = await moved(() => server.claim(other, dan))
    expect(released).toMatchObject({
      'claims_total{result=already_claimed}': 1,
      'claim_steps_total{result=release}': 1,
    })

    await outside.putEvent(id(5), { edit_code: EDIT_CODE, codes: 1, expiry_date: '2026-11-18' })
    const expired = await server.register(id(5), EDIT_CODE, '10,20')
    clock.set(Date.UTC(2026, 10, 19, 11, 59)) // open here, over at the issuer
    const dora = await player('dora')
    expect(await moved(() => server.claim(expired, dora))).toMatchObject({
      'claims_total{result=event_expired}': 1,
      'claim_steps_total{result=swap}': 1,
    })
    clock.set(clock.nowMs() + 24 * 60 * MINUTE_MS)
  })

  test('an issuer that fails: unknown outcomes, and the results of its calls', async () => {
    const uuid = await event(6, 2)
    const [eve, fay] = [await player('eve'), await player('fay')]
    await outside.issuerSettings({ drop_rate: 1 })

    expect(await moved(() => server.claim(uuid, eve))).toEqual({
      'claims_total{result=reserved}': 1,
      'claim_steps_total{result=unknown}': 1,
      ...calls('readCode', 'unreachable'),
      ...seen('present'),
      ...ACCEPTED,
      'claim_codes{state=free}': -1,
      'claim_codes{state=held}': 1,
    })
    await outside.issuerSettings({ drop_rate: 0, error_rate: 1 })
    const errors = await moved(() => server.claim(uuid, fay))
    expect(errors).toMatchObject({
      'claims_total{result=reserved}': 1,
      'claim_steps_total{result=unknown}': 1,
    })
    expect(Object.keys(errors).join()).toMatch(/issuer_calls_total\{call=readCode,result=5\d\d\}/)
    await outside.issuerSettings({ error_rate: 0 })
  })

  test('captchas and signatures', async () => {
    const uuid = await event(7, 1)
    const gil = await player('gil')
    const claim = (answer: string) =>
      server.send('POST', `/claim/${uuid}`, { address: gil.address, captcha: answer })

    expect(await moved(() => captcha(gil))).toEqual({ 'captchas_total{result=created}': 1, ...ACCEPTED })
    expect(await moved(() => claim('wrong'))).toEqual({
      'captchas_total{result=wrong}': 1,
      'claims_total{result=wrong_captcha}': 1,
    })
    const { body } = await captcha(gil)
    const { uuid: pending } = body.data as { uuid: string }
    const { answer } = await readCaptcha((await open()).db, vault, pending)
    expect(await moved(() => claim(answer))).toMatchObject({
      'captchas_total{result=solved}': 1,
      'claims_total{result=minting}': 1,
    })
    expect(await moved(() => claim(answer))).toEqual({
      'captchas_total{result=missing}': 1,
      'claims_total{result=captcha_required}': 1,
    })

    const headers = gil.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() })
    expect(
      await moved(async () => {
        await server.send('POST', '/captcha')
        await captcha(gil, { 'x-identity-timestamp': 'seven' })
        await server.send('POST', '/captcha', undefined, headers)
        await server.send('POST', '/captcha', undefined, headers)
      }),
    ).toEqual({
      'signed_requests_total{result=not_signed}': 1,
      'signed_requests_total{result=bad_signature}': 1,
      'signed_requests_total{result=signature_used}': 1,
      ...ACCEPTED,
      'captchas_total{result=created}': 1,
    })
  })

  test('proofs of work', async () => {
    const uuid = await event(8, 1)
    const hal = await player('hal')
    const asking = await startAttendance(
      ...([await open(), clock, outside] as const),
      { CLAIM_PROOF_OF_WORK_BITS: '4' },
      { metricsMaxAgeMs: 0 },
    )
    const headers = hal.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() })
    const { body } = await asking.send('POST', '/captcha', undefined, headers)
    const { proof_of_work: work } = body.data as { proof_of_work: { bits: number; challenge: string } }
    const before = await figures(asking)

    await asking.claim(uuid, hal)
    await asking.claim(uuid, hal, {
      body: { proof: findNonce(work, { eventUuid: uuid, address: hal.address }) },
    })

    expect(await since(before, asking)).toMatchObject({
      'captchas_total{result=not_proved}': 1,
      'captchas_total{result=proved}': 1,
      'claims_total{result=proof_of_work_required}': 1,
      'claims_total{result=minting}': 1,
    })
    await asking.close()
  })

  test('with both interfaces there are at most 200 series', async () => {
    const { text } = await server.get('/metrics')
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

    expect(series.length).toBeGreaterThan(100)
    expect(series.length).toBeLessThanOrEqual(200)
  })
})

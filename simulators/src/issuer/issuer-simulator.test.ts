import { type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { expect, onTestFinished, test } from 'vitest'
import { DAY_MS } from './event-plan.ts'
import {
  SIMULATED_API_KEY,
  SIMULATED_CLIENT_ID,
  SIMULATED_CLIENT_SECRET,
  startIssuerSimulator,
} from './issuer-simulator.ts'

const ANN = `0x${'a'.repeat(40)}`
const BEN = `0x${'b'.repeat(40)}`
const EDIT_CODES = { 90001: '012345', 90002: '123456', 90003: '234567', 90004: '345678', 90005: '456789' }

test('the demo events exist: approved, not approved, expired, with one code, and approved later', async () => {
  const { ask, clock, codesOf } = await givenSimulator()

  expect((await ask('GET', '/events/id/90001')).json).toMatchObject({
    id: 90001,
    name: 'Harbour Lights Opening',
    fancy_id: 'harbour-lights-opening-90001',
    expiry_date: '20-Nov-2027',
  })
  expect((await ask('GET', '/events/harbour-lights-opening-90001')).json).toMatchObject({ id: 90001 })
  const counts = async () =>
    Promise.all(Object.entries(EDIT_CODES).map(async ([id, code]) => (await codesOf(id, code)).length))
  expect(await counts()).toEqual([100, 0, 10, 1, 0])
  clock.set(clock.nowMs() + 60_000)
  expect(await counts()).toEqual([100, 0, 10, 1, 50])
  const [expired] = await codesOf(90003, '234567')
  expect(await claim(ask, expired, ANN)).toMatchObject({ status: 400, json: { message: 'QR Claim expired' } })
})

test('codes have six letters or digits, and are the same for the same seed', async () => {
  const codes = await (await givenSimulator()).codesOf(90001, '012345')
  const again = await (await givenSimulator()).codesOf(90001, '012345')
  const other = await (await givenSimulator({ seed: 2 })).codesOf(90001, '012345')

  expect(codes.every((code) => /^[a-z0-9]{6}$/.test(code))).toBe(true)
  expect(new Set(codes).size).toBe(100)
  expect(again).toEqual(codes)
  expect(other).not.toEqual(codes)
})

test('reading needs the API key, calls with codes also an access token, which needs valid credentials', async () => {
  const { ask, address } = await givenSimulator()
  const key = { 'x-api-key': SIMULATED_API_KEY }
  const bare = (path: string, headers: Record<string, string>) => fetch(address + path, { headers })

  expect((await bare('/health-check', {})).status).toBe(200)
  expect((await bare('/events/id/90001', {})).status).toBe(403)
  expect((await bare('/events/id/90001', key)).status).toBe(200)
  expect((await bare('/actions/claim-qr?qr_hash=zzzzzz', key)).status).toBe(401)
  expect((await ask('GET', '/actions/claim-qr?qr_hash=zzzzzz')).status).toBe(404)
  const wrong = { grant_type: 'client_credentials', client_id: SIMULATED_CLIENT_ID, client_secret: 'x' }
  expect(await ask('POST', '/oauth/token', wrong)).toMatchObject({ status: 401 })
})

test('an access token expires', async () => {
  const { ask, clock } = await givenSimulator()

  clock.set(clock.nowMs() + DAY_MS)

  expect((await ask('POST', '/event/validate', { event_id: 90001, secret_code: '012345' })).status).toBe(401)
})

test('a claim marks code and player at once; the token is made later', async () => {
  const { ask, codesOf, clock } = await givenSimulator()
  const [code, next] = await codesOf(90001, '012345')

  const accepted = await claim(ask, code, ANN)
  const read = async () => (await ask('GET', `/actions/claim-qr?qr_hash=${code}`)).json
  const stages = [await read()]
  for (const step of [1_500, 1_500]) {
    clock.set(clock.nowMs() + step)
    stages.push(await read())
  }

  expect(accepted).toMatchObject({
    status: 200,
    json: { claimed: true, user_input: ANN, transaction_request_id: 31_337 },
  })
  expect(accepted.json).not.toHaveProperty('tx_status')
  expect(stages.map((stage) => (stage as { tx_status: string }).tx_status)).toEqual([
    'waiting_tx',
    'pending',
    'passed',
  ])
  expect(stages[2]).toMatchObject({
    tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    result: { token: expect.any(Number) },
  })
  expect((await ask('GET', `/actions/scan/${ANN}/90001`)).status).toBe(200)
  expect((await ask('GET', `/actions/scan/${BEN}/90001`)).status).toBe(404)
  expect((await ask('GET', '/transaction-requests/31337')).json).toMatchObject({ status: 'passed' })
  expect(await claim(ask, code, ANN)).toMatchObject({
    json: { message: 'You already minted a POAP for this drop.' },
  })
  expect(await claim(ask, next, ANN)).toMatchObject({
    json: { message: 'You already minted a POAP for this drop.' },
  })
  expect(await claim(ask, code, BEN)).toMatchObject({ json: { message: 'QR Claim already claimed' } })
})

test('the ledger lists tokens and counts requests', async () => {
  const { ask, control, codesOf, clock } = await givenSimulator()
  const [first, second] = await codesOf(90001, '012345')
  await claim(ask, first, ANN)
  await claim(ask, second, ANN)
  await control('PATCH', 'settings', { one_per_player: false })
  await claim(ask, second, ANN)

  const at = new Date(clock.nowMs()).toISOString()
  expect(await control('GET', 'ledger')).toMatchObject({
    mints: [
      { event_id: 90001, code: first, address: ANN, at },
      { event_id: 90001, code: second, address: ANN, at },
    ],
    count: 2,
    double_mints: 1,
    double_codes: 0,
    posts: 3,
    posts_by_code: { [first!]: 1, [second!]: 2 },
    refused: { player_has_one: 1 },
    token_requests: 1,
  })
  await control('POST', 'reset')
  expect(await control('GET', 'ledger')).toMatchObject({ mints: [], count: 0, posts: 0 })
})

test('events are created and replaced, and their codes added and used', async () => {
  const { ask, control, codesOf } = await givenSimulator()
  const event = {
    edit_code: '7654321',
    codes: 3,
    name: 'Jazz Night',
    expiry_date: '2027-01-31',
    city: 'Lisbon',
  }

  expect(await control('PUT', 'events/7', event)).toMatchObject({ codes: 3, claimed: 0, approved: true })
  expect((await ask('GET', '/events/id/7')).json).toMatchObject({
    name: 'Jazz Night',
    city: 'Lisbon',
    expiry_date: '31-Jan-2027',
  })
  const before = await codesOf(7, '7654321')
  await control('POST', 'events/7/codes', { count: 2 })
  expect((await codesOf(7, '7654321')).slice(0, 3)).toEqual(before)
  expect(await control('POST', 'events/7/use', { count: 2 })).toMatchObject({ codes: 5, claimed: 2 })
  expect(await claim(ask, before[0], ANN)).toMatchObject({ json: { message: 'QR Claim already claimed' } })
  expect(await control('GET', 'ledger')).toMatchObject({ count: 0 })
  expect(await control('PUT', 'events/7', { ...event, codes: 1, approved_after_ms: null })).toMatchObject({
    codes: 1,
    claimed: 0,
    approved: false,
  })
})

test.each([
  ['PUT', 'events/7', { codes: 3 }, 'edit_code is missing'],
  ['PUT', 'events/7', { edit_code: '1', codes: 50_001 }, 'codes is a whole number from 0 to 50000'],
  ['PUT', 'events/7', { edit_code: '1', codes: 1, expiry_date: 'soon' }, 'expiry_date is a day: 2026-03-20'],
  ['POST', 'events/8/use', { count: 1 }, 'there is no event 8'],
  ['POST', 'events/90001/use', {}, 'count is missing: how many?'],
  ['PATCH', 'settings', { colour: 1 }, 'there is no setting colour'],
  ['PATCH', 'settings', { drop_rate: 1.5 }, 'drop_rate is a share from 0 to 1'],
  ['PATCH', 'settings', { wording: 'new' }, 'wording is current, 2022, oldest'],
])('%s /simulator/%s %j is refused: %s', async (method, path, body, message) => {
  const { ask } = await givenSimulator()

  expect(await ask(method, `/simulator/${path}`, body)).toMatchObject({ status: 400, json: { message } })
})

test('faults happen as set: not performed, performed but not answered, performed twice, rate limit', async () => {
  const { ask, control, codesOf } = await givenSimulator()
  const [first, second, third] = await codesOf(90001, '012345')
  const minted = async () => ((await control('GET', 'ledger')) as { count: number }).count

  await control('PATCH', 'settings', { error_rate: 1, html_errors: true })
  const before = await claim(ask, first, ANN)
  expect([before.status >= 500, before.json, await minted()]).toEqual([true, undefined, 0])
  await control('PATCH', 'settings', { error_rate: 0, error_after_rate: 1 })
  expect([(await claim(ask, first, ANN)).status >= 500, await minted()]).toEqual([true, 1])
  await control('PATCH', 'settings', { error_after_rate: 0, duplicate_rate: 1 })
  expect([(await claim(ask, second, BEN)).status, await minted()]).toEqual([400, 2])
  await control('PATCH', 'settings', { duplicate_rate: 0, failed_mint_rate: 1, mint_ms: 0 })
  await claim(ask, third, `0x${'c'.repeat(40)}`)
  expect((await ask('GET', `/actions/claim-qr?qr_hash=${third}`)).json).toMatchObject({
    claimed: true,
    tx_status: 'failed',
  })
  expect(await minted()).toBe(2)
  await control('PATCH', 'settings', { rate_limit_per_minute: 1 })
  await ask('GET', '/events/id/90001')
  const refused = await ask('GET', '/events/id/90001')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
})

test('connections are dropped half before and half after the claim, the same ones for the same seed', async () => {
  const run = async () => {
    const { ask, control, codesOf } = await givenSimulator()
    const codes = await codesOf(90001, '012345')
    await control('PATCH', 'settings', { drop_rate: 1, seed: 5 })
    for (const [index, code] of codes.slice(0, 40).entries())
      await expect(claim(ask, code, `0x${String(index).padStart(40, '0')}`)).rejects.toThrow()
    const { mints } = (await control('GET', 'ledger')) as { mints: { code: string }[] }
    return mints.map(({ code }) => code)
  }

  const minted = await run()

  expect(minted.length).toBeGreaterThan(10)
  expect(minted.length).toBeLessThan(30)
  expect(await run()).toEqual(minted)
})

test('late answers are delayed, and closing does not wait for them', async () => {
  const { ask, control, close } = await givenSimulator()
  await control('PATCH', 'settings', { late_rate: 1, late_ms: 60_000 })

  const answer = ask('GET', '/events/id/90001').catch(() => 'cut off')
  await control('GET', 'ledger')
  await close()

  expect(await answer).toBe('cut off')
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Undefined for an HTML page. */
  readonly json: unknown
}
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>

async function givenSimulator({ seed = 1 } = {}) {
  const clock: TestClock = testClock()
  const { address, close } = await startIssuerSimulator({ host: '127.0.0.1', port: 0, seed, clock })
  onTestFinished(close)
  const credentials = { client_id: SIMULATED_CLIENT_ID, client_secret: SIMULATED_CLIENT_SECRET }
  const request = { audience: 'x', grant_type: 'client_credentials', ...credentials }
  const { access_token } = (await send(address, 'POST', '/oauth/token', request)).json as {
    access_token: string
  }
  const headers = { 'x-api-key': SIMULATED_API_KEY, authorization: `Bearer ${access_token}` }

  const ask: Ask = (method, path, body) => send(address, method, path, body, headers)
  const control = async (method: string, path: string, body?: unknown) =>
    (await ask(method, `/simulator/${path}`, body)).json
  const codesOf = async (eventId: number | string, editCode: string) => {
    const { json } = await ask('POST', `/event/${eventId}/qr-codes`, { secret_code: editCode })
    return (json as { qr_hash: string }[]).map(({ qr_hash }) => qr_hash)
  }
  return { address, ask, control, codesOf, clock, close }
}

async function send(
  address: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(address + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(text) : undefined }
}

function claim(ask: Ask, code: string | undefined, address: string): Promise<Answer> {
  return ask('POST', '/actions/claim-qr', {
    address,
    qr_hash: code,
    secret: 'NOT_REQUIRED_ANYMORE',
    sendEmail: false,
  })
}

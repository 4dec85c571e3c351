import { createHash } from 'node:crypto'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { readCaptcha } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
  untilMinted,
} from '@landpass/server/test/support/attendance/attendance-server'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type Answer, testClock } from '@landpass/server/test/support/http/land-server'
import type { SimulatedPlayer } from '@landpass/simulators/player/player'
import { beforeAll, describe, expect, test } from 'vitest'

const EDIT_CODE = '123456'
const LIMITS = {
  LIMIT_CLIENT_PER_MINUTE: '6',
  LIMIT_PLAYER_PER_MINUTE: '3',
  LIMIT_ORGANISER_PER_MINUTE: '4',
}

const open = freshEngine('postgres')
const clock = testClock()
let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

/** A server whose counts are all at their beginning, with an event. */
async function startLimited(eventId: number, env = {}): Promise<AttendanceServer> {
  const server = await startAttendance(await open(), clock, outside, { ...LIMITS, ...env })
  await outside.putEvent(eventId, { edit_code: EDIT_CODE, codes: 20 })
  await server.register(eventId, EDIT_CODE, '10,20')
  return server
}

/** What an answer says of its limit. */
function remaining({ headers }: Answer) {
  const [limit, remaining, resetS] = ['limit', 'remaining', 'reset'].map((name) =>
    headers.get(`ratelimit-${name}`),
  )
  expect(Number(resetS)).toBeGreaterThan(0)
  expect(Number(resetS)).toBeLessThanOrEqual(MINUTE_MS / SECOND_MS)
  return `${remaining} of ${limit}`
}

function assertRefused(answer: Answer, sender: RegExp): void {
  expect([answer.status, answer.body.code], answer.text).toEqual([429, 'too_many_requests'])
  expect(answer.body.error).toMatch(sender)
  expect(answer.headers.get('retry-after')).toBe(answer.headers.get('ratelimit-reset'))
  expect(answer.headers.get('access-control-expose-headers')).toMatch(/Retry-After.*RateLimit-Remaining/)
  expect(remaining(answer)).toMatch(/^0 of /)
}

describe('requests that come too often', () => {
  test('from one network address: captchas and claims count together, and headers of proxies are ignored', async () => {
    const server = await startLimited(89_001)
    const players = await Promise.all(
      ['ann', 'ben', 'cleo', 'dora', 'eve', 'fay', 'gil'].map((name) => at(`client ${name}`)),
    )
    const answers: Answer[] = []
    for (const [n, player] of players.slice(0, 6).entries()) {
      // No proxy is trusted here: the header changes nothing
      const headers = { 'x-forwarded-for': `203.0.113.${n}` }
      answers.push(await (n % 2 ? captcha(server, player, headers) : claim(server, 89_001, player, headers)))
    }

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(answers.slice(3).map(remaining), 'with the fewest left').toEqual(['2 of 6', '1 of 6', '0 of 6'])
    assertRefused(await captcha(server, players[6]!), /this network address: 6 a minute/)
    assertRefused(await claim(server, 89_001, players[6]!), /this network address/)
    for (const path of [
      '/event/89001',
      '/event/89001/availability',
      '/captcha/6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
    ]) {
      const looked = await server.get(path) // images are fetched by the world's own servers, for everybody
      expect([200, 404], path).toContain(looked.status)
      expect(looked.headers.get('ratelimit-limit'), path).not.toBe('6')
    }
    expect(await outside.mintsOf(89_001)).toHaveLength(3)
    await server.close()
  })

  test('from one player: only signed requests of this player count', async () => {
    const server = await startLimited(89_002, { LIMIT_CLIENT_PER_MINUTE: '0' })
    const [hal, ida] = [await at('player hal'), await at('player ida')]
    const unsigned = (captcha?: string) =>
      server.send('POST', '/claim/89002', { address: hal.address.toUpperCase().replace('X', 'x'), captcha })

    const first = await captcha(server, hal)
    expect(remaining(first)).toBe('2 of 3')
    for (const guess of ['guess', undefined]) {
      const stranger = await unsigned(guess)
      expect(stranger.status).toBe(403)
      expect(stranger.headers.get('ratelimit-limit'), 'an address is a mere word').toBeNull()
    }
    const { uuid } = first.body.data as { uuid: string }
    const { answer } = await readCaptcha((await open()).db, new Vault(Buffer.from(TEST_KEY, 'hex')), uuid)
    expect(remaining(await unsigned(answer))).toBe('1 of 3')
    expect(remaining(await claim(server, 89_002, hal))).toBe('0 of 3')
    assertRefused(await captcha(server, hal), /this player: 3 a minute/)
    assertRefused(await claim(server, 89_002, hal), /this player/)
    expect(remaining(await captcha(server, ida)), 'another player').toBe('2 of 3')
    expect((await server.send('POST', '/captcha')).headers.get('ratelimit-limit'), 'no player').toBeNull()
    await server.close()
  })

  test('with edit codes: all calls count together', async () => {
    const server = await startLimited(89_003) // two of four calls
    const body = { editCode: EDIT_CODE }
    const changed = await server.send('PATCH', '/event/89003', { ...body, options: [['enabled', true]] })
    const report = await server.send('POST', '/event/89003/report', body)

    expect([remaining(changed), remaining(report)]).toEqual(['1 of 4', '0 of 4'])
    assertRefused(await server.send('POST', '/addcodes/89003', body), /this network address: 4 a minute/)
    assertRefused(await server.send('POST', '/event/89003', { ...body, coordinates: '0,0' }), /this network/)
    expect((await captcha(server, await at('organiser'))).status, 'players are counted apart').toBe(200)
    await server.close()
  })
})

test('behind a trusted proxy the client is the address that this proxy names, and no other', async () => {
  const server = await startLimited(89_004, { TRUSTED_PROXIES: '127.0.0.1', LIMIT_CLIENT_PER_MINUTE: '2' })
  const from = async (address: string, name: string) =>
    captcha(server, await at(`proxy ${name}`), { 'x-forwarded-for': address })

  expect(remaining(await from('203.0.113.7', 'ann'))).toBe('1 of 2')
  // The proxy appends whom it saw: what a client wrote before that is not believed
  expect(remaining(await from('198.51.100.1, 203.0.113.7', 'ben'))).toBe('0 of 2')
  assertRefused(await from('198.51.100.2, 203.0.113.7', 'cleo'), /this network address/)
  expect(remaining(await from('203.0.113.8', 'dora')), 'another client').toBe('1 of 2')
  // A household or a host has 2^64 of the longer addresses
  expect(remaining(await from('2001:db8:1:2::1', 'eve'))).toBe('1 of 2')
  expect(remaining(await from('2001:db8:1:2:ffff::9', 'fay'))).toBe('0 of 2')
  await server.close()
})

test('reads are limited by what they cost, and what has a limit of its own is not', async () => {
  // A unit comes back in three seconds
  const server = await startLimited(89_005, { READ_COST_PER_MINUTE: '20', LIMIT_CLIENT_PER_MINUTE: '0' })
  const log = '/tokens/log?limit=100'
  const first = await server.get(log)
  expect([first.status, remaining(first)]).toEqual([200, `${20 - 4 - 100 / 10} of 20`])
  const refused = await server.get(log)
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests'])
  expect(refused.body.error).toContain('has used up its budget of reads')

  const uuid = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
  const ofAttendance = [`/tokens/${uuid}`, '/event/89005', '/.well-known/attendance-issuers.json']
  for (const path of [
    ...ofAttendance,
    '/openapi.json',
    '/',
    '/organise',
    '/docs/',
    '/translations/en',
    '/x',
  ]) {
    let status = 0
    for (let tries = 0; tries < 20 && status !== 429; tries++) ({ status } = await server.ask('GET', path))
    expect(status, path).toBe(429)
  }

  expect((await server.get('/health/live')).status).toBe(200)
  expect((await captcha(server, await at('beside reads'))).status).toBe(200)
  await server.close()
})

describe('strangers with many addresses', () => {
  const DAY_MS = 24 * 60 * MINUTE_MS

  /** Wrong codes for an event, each from an address of its own. @returns how many of each answer */
  async function guess(server: AttendanceServer, event: number, count: number) {
    const answers: Record<string, number> = {}
    for (let n = 0; n < count; n++) {
      const headers = { 'x-forwarded-for': `198.51.${n % 250}.${Math.floor(n / 250)}` }
      const { status } = await server.send('POST', `/event/${event}`, registration('000001'), headers)
      answers[status] = (answers[status] ?? 0) + 1
    }
    return answers
  }
  const registration = (editCode: string, more = {}) => ({ editCode, coordinates: '10,20', ...more })
  const startAttacked = async () =>
    startAttendance(
      ...([await open(), clock, outside] as const),
      { ...LIMITS, LIMIT_ORGANISER_PER_MINUTE: '20', TRUSTED_PROXIES: '127.0.0.1' },
      { organiserProofBits: 6 },
    )
  const passOf = ({ body }: Answer) =>
    (body.data as { organiser_pass?: { pass: string } }).organiser_pass?.pass
  const challengeIn = ({ body }: Answer) =>
    (body.data as { proof_of_work: { challenge: string; bits: number } }).proof_of_work

  test('an organiser with a pass gets in at once, until it expires, is revoked, or for another event', async () => {
    const server = await startAttacked()
    const [event, neighbour] = [89_010, 89_011]
    await outside.putEvent(event, { edit_code: EDIT_CODE, codes: 1 })
    await outside.putEvent(neighbour, { edit_code: EDIT_CODE, codes: 1 })
    const first = await server.send('POST', `/event/${event}`, registration(EDIT_CODE))
    const pass = passOf(first)
    expect(first.headers.get('organiser-pass')).toBe(pass)

    expect(await guess(server, event, 40)).toEqual({ 401: 5, 429: 35 })
    expect((await server.send('POST', `/event/${event}`, registration(EDIT_CODE))).status).toBe(429)
    const withPass = await server.send('POST', `/event/${event}`, registration(EDIT_CODE, { pass }))
    expect([withPass.status, passOf(withPass)], 'a pass that lasts is kept').toEqual([200, undefined])
    const body = { editCode: EDIT_CODE, options: [['revoke_passes', true]] }
    const revoked = await server.send('PATCH', `/event/${event}`, body, { 'organiser-pass': pass! })
    expect([revoked.status, revoked.text]).toEqual([200, expect.stringContaining('"enabled":true')])

    const refused = await server.send('POST', `/addcodes/${event}`, { editCode: EDIT_CODE, pass })
    expect(refused.status, 'revoked').toBe(429)
    const newPass = passOf(revoked)
    const loaded = await server.send('POST', `/addcodes/${event}`, { editCode: EDIT_CODE, pass: newPass })
    expect(loaded.status).toBe(200)
    for (let n = 0; n < 5; n++) {
      const stolen = await server.send('POST', `/addcodes/${event}`, { editCode: '000002', pass: newPass })
      expect(stolen.status, 'a pass alone gives no right').toBe(401)
    }
    expect(
      (await server.send('POST', `/addcodes/${event}`, { editCode: '000002', pass: newPass })).status,
    ).toBe(429)

    await guess(server, neighbour, 5)
    const foreign = await server.send(
      'POST',
      `/event/${neighbour}`,
      registration(EDIT_CODE, { pass: newPass }),
    )
    expect(foreign.status, 'of another event').toBe(429)
    const startMs = clock.nowMs()
    clock.set(startMs + 30 * DAY_MS)
    await guess(server, event, 5)
    const expired = await server.send('POST', `/addcodes/${event}`, { editCode: EDIT_CODE, pass: newPass })
    expect(expired.status, 'expired').toBe(429)
    clock.set(startMs)
    await server.close()
  })

  test('an organiser without a pass gets in with a proof of work, also before the first registration', async () => {
    const server = await startAttacked()
    const event = 89_012
    await outside.putEvent(event, { edit_code: EDIT_CODE, codes: 1 })
    expect(await guess(server, event, 40)).toEqual({ 401: 5, 429: 35 })
    const locked = await server.send('POST', `/event/${event}`, registration(EDIT_CODE))
    expect([locked.body.code, Number(locked.headers.get('retry-after'))]).toEqual([
      'too_many_guesses',
      15 * 60,
    ])

    // The attacker pays too: six of eight are judged, and the next challenge is harder
    const paid: number[] = []
    for (let n = 0; n < 8; n++) {
      const asked = await server.send('POST', `/event/${event}`, registration('000003'))
      const proof = solve(challengeIn(asked))
      const headers = { 'x-forwarded-for': `203.0.113.${n}` }
      paid.push(
        (await server.send('POST', `/event/${event}`, registration('000003', { proof }), headers)).status,
      )
    }
    expect(paid).toEqual([401, 401, 401, 401, 401, 401, 429, 429])
    const harder = challengeIn(await server.send('POST', `/event/${event}`, registration(EDIT_CODE)))
    expect([challengeIn(locked).bits, harder.bits]).toEqual([6, 7])

    const proof = solve(harder)
    const send = () => server.send('POST', `/event/${event}`, registration(EDIT_CODE, { proof }))
    const waiting = await send()
    expect(waiting.body.data, 'the proof stays valid').toEqual({ retry_after_s: expect.any(Number) })
    const startMs = clock.nowMs()
    // It comes some seconds before the next place is free, and waits
    expect(Number(waiting.headers.get('retry-after'))).toBeLessThanOrEqual(55)
    clock.set(startMs + Number(waiting.headers.get('retry-after')) * SECOND_MS)
    const sent = send()
    clock.set(startMs + MINUTE_MS)
    const right = await sent
    expect([right.status, passOf(right)]).toEqual([200, expect.any(String)])
    const again = await send()
    expect([again.status, challengeIn(again).bits], 'each proof counts once').toEqual([429, 7])
    clock.set(startMs)
    await server.close()
  })

  test('invented event ids cost one call to the issuer each, and claims go on', async () => {
    const server = await startAttacked()
    await outside.putEvent(89_013, { edit_code: EDIT_CODE, codes: 5 })
    const uuid = await server.register(89_013, EDIT_CODE, '10,20')
    const ann = await at('invented ann')
    const before = await callsAtIssuer()

    for (let event = 700_001; event <= 700_005; event++) {
      expect(await guess(server, event, 6), 'as for an event that the issuer knows').toEqual({
        401: 5,
        429: 1,
      })
    }

    expect((await callsAtIssuer()) - before).toBe(5)
    expect((await server.claim(uuid, ann)).body.data).toMatchObject({ claim: { status: 'minting' } })
    await server.close()
  })

  test('at a low pace strangers are asked for a proof, which an organiser gets in by, and claims say how long they wait', async () => {
    const server = await startAttendance(
      ...([await open(), clock, outside] as const),
      { TRUSTED_PROXIES: '127.0.0.1', ISSUER_CALLS_PER_SECOND: '2', CLAIM_WAIT_MS: '1' },
      { organiserProofBits: 6 },
    )
    await outside.putEvent(89_014, { edit_code: EDIT_CODE, codes: 5 })
    const uuid = await server.register(89_014, EDIT_CODE, '10,20')
    const strangers = Array.from({ length: 20 }, (_, n) =>
      server.send('POST', `/event/${710_001 + n}`, registration('000001'), {
        'x-forwarded-for': `203.0.113.${n}`,
      }),
    )
    const ben = await at('pace ben')
    const claimed = await server.claim(uuid, ben)

    expect(claimed.status).toBe(200)
    const { claim } = claimed.body.data as {
      claim: { status: string; queue_length: number; retry_after_s: number }
    }
    expect(claim).toMatchObject({ status: 'pending', queue_length: 1, retry_after_s: expect.any(Number) })
    expect(claimed.headers.get('retry-after')).toBe(String(claim.retry_after_s))
    // An organiser without a pass, for the first time
    await outside.putEvent(89_015, { edit_code: EDIT_CODE, codes: 1 })
    const register = (more = {}) => server.send('POST', '/event/89015', registration(EDIT_CODE, more))
    const proof = solve(challengeIn(await register()))
    expect((await register({ proof })).status).toBe(200)
    await untilMinted(outside, 89_014, 1)
    const answers = await Promise.all(strangers)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(10)
    for (const answer of refused) {
      expect(challengeIn(answer).bits).toBe(6)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await server.close()
  })

  async function callsAtIssuer(): Promise<number> {
    const ledger = await (await fetch(`${outside.issuer}/simulator/ledger`)).json()
    return (ledger as { requests: number }).requests
  }

  function solve({ challenge, bits }: { challenge: string; bits: number }): string {
    for (let nonce = 0; ; nonce++) {
      const proof = `${challenge}:${nonce}`
      const hash = createHash('sha256').update(proof).digest()
      if (hash.readUInt32BE(0) >>> (32 - bits) === 0) return proof
    }
  }
})

const at = (name: string) => playerAt(outside, `limits ${name}`, { x: 10, y: 20 }, clock.nowMs())

let tick = 0
function captcha(server: AttendanceServer, player: SimulatedPlayer, headers = {}): Promise<Answer> {
  tick += 1
  const request = { method: 'POST', path: '/captcha', atMs: clock.nowMs() + tick }
  return server.send('POST', '/captcha', undefined, { ...player.sign(request), ...headers })
}

function claim(
  server: AttendanceServer,
  event: number,
  player: SimulatedPlayer,
  headers = {},
): Promise<Answer> {
  tick += 1
  const path = `/claim/${event}`
  const request = { method: 'POST', path, atMs: clock.nowMs() + tick }
  return server.send('POST', path, undefined, { ...player.sign(request), ...headers })
}

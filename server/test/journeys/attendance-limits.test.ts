import { beforeAll, describe, expect, test } from 'vitest'
import { Vault } from '../../src/attendance/vault.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/clock.ts'
import type { SimulatedPlayer } from '../../src/simulate/player/player.ts'
import { readCaptcha } from '../support/attendance-rows.ts'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '../support/attendance-server.ts'
import { freshEngine } from '../support/engines.ts'
import { type Answer, testClock } from '../support/land-server.ts'

const EDIT_CODE = '123456'
const LIMITS = {
  LIMIT_CLIENT_PER_MINUTE: '6',
  LIMIT_PLAYER_PER_MINUTE: '3',
  LIMIT_ORGANISER_PER_MINUTE: '4',
}

const open = freshEngine('embedded')
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
      expect(looked.headers.get('ratelimit-limit'), path).toBeNull()
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

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import { openEngine } from '@landpass/server/db/open-engine'
import { claimsByState, codesByState } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type OutsideWorld,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import {
  emptyDir,
  freshDatabaseUrl,
  freshDataDir,
  TEST_SETTINGS,
} from '@landpass/server/test/support/database/engines'
import { type Env, type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { makePlayer } from '@landpass/simulators/player/player'
import { beforeAll, describe, expect, test } from 'vitest'

const EDIT_CODE = '123456'
const LAND_PATHS = [
  '/v1/parcels/0/0',
  '/parcels',
  '/map.png',
  '/tiles/0/0/0.png',
  '/v2/tiles',
  '/districts',
  '/v2/changes',
  '/v2/feed',
  '/v2/search?q=a',
  '/v2/offers',
]
const ATTENDANCE_PATHS = ['/event/1', '/event/1/availability', '/captcha/1', '/claim/1', '/addcodes/1']

let outside: OutsideWorld
/** The settings of attendance without a key: the embedded database makes one. */
let settings: Env
beforeAll(async () => {
  outside = await startOutsideWorld()
  const { ATTENDANCE_KEY: _, ...others } = outside.env as Env
  settings = others
})

describe('one interface alone', () => {
  test('attendance: ready without a world, and nothing of the land', async () => {
    const place = { DATABASE_URL: await freshDatabaseUrl(), ATTENDANCE_KEY: 'a1'.repeat(32) }
    const server = await serve({ ...settings, ...place }, ['--only', 'attendance'])

    expect(server.stdout()).toMatch(/^Landpass is ready\.$/m)
    expect(server.stdout()).not.toContain('/v1/')
    for (const path of ['/health/ready', '/health/ready/attendance'])
      expect(await ask(server, path)).toMatchObject({ status: 200 })
    for (const path of LAND_PATHS) {
      expect(await ask(server, path), path).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await ask(server, '/event/1')).body).toMatchObject({ code: 'event_not_found' })
    expect(await describedPaths(server)).toEqual([
      '/.well-known/attendance-issuers.json',
      '/.well-known/attendance-revocations.json',
      '/addcodes/{event}',
      '/addresses/{address}/tokens',
      '/captcha',
      '/captcha/{uuid}',
      '/claim/{event}',
      '/event/{event}',
      '/event/{event}/availability',
      '/event/{event}/blocked',
      '/event/{event}/check',
      '/event/{event}/claims',
      '/event/{event}/export',
      '/event/{event}/gifts',
      '/event/{event}/grant-secret',
      '/event/{event}/report',
      '/event/{event}/sentences',
      '/events',
      '/events/waiting',
      '/events/{event}',
      '/events/{event}/approval',
      '/events/{event}/codes',
      '/events/{event}/deletion',
      '/events/{event}/first-code',
      '/events/{event}/holders',
      '/events/{event}/holders.csv',
      '/events/{event}/holders/{address}',
      '/events/{event}/image.png',
      '/grants/{uuid}',
      '/health/live',
      '/health/ready',
      '/health/ready/attendance',
      '/metrics',
      '/openapi.json',
      '/operate/parts',
      '/tokens/log',
      '/tokens/{id}',
      '/tokens/{id}/attestation',
      '/tokens/{id}/image.png',
      '/tokens/{id}/metadata',
      '/tokens/{id}/revocation',
      '/tokens/{id}/share.png',
      '/translations/{locale}',
    ])
    await stopped(server)
  })

  test('land: nothing of attendance, not even a key', async () => {
    const dataDir = emptyDir()
    writeFileSync(join(dataDir, 'attendance.key'), 'damaged')
    const place = { DATABASE_URL: await freshDatabaseUrl(), DATA_DIR: dataDir }
    const server = await serve({ ...settings, ...place }, ['--only', 'land'])

    for (const path of ATTENDANCE_PATHS) {
      expect(await ask(server, path), path).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await ask(server, '/parcels')).body).toMatchObject({ code: 'world_not_loaded' })
    const paths = await describedPaths(server)
    expect(paths).toContain('/parcels/{x}/{y}')
    expect(paths.filter((path) => /event|claim|captcha|addcodes/.test(path))).toEqual([])
    expect((await ask(server, '/metrics')).text).not.toContain('landpass_claim')
    await stopped(server)
  })

  test('attendance without its settings fails by name', async () => {
    const bare = { PORT: '0', DATA_DIR: emptyDir(), DATABASE_URL: await freshDatabaseUrl() }
    const [missing, onPostgres, alone] = await Promise.all([
      landpassHere(['serve', '--only', 'attendance'], {
        PORT: '0',
        DATA_DIR: await freshDataDir(),
        EVENT_MAKERS: 'nobody',
      }),
      landpassHere(['serve', '--only', 'attendance'], {
        ...settings,
        PORT: '0',
        DATABASE_URL: bare.DATABASE_URL,
      }),
      landpassHere(['serve', '--only', 'attendance'], bare),
    ])

    expect(missing).toMatchObject({
      code: 1,
      stderr:
        'landpass: Attendance cannot be served without ISSUER_API_KEY, ISSUER_CLIENT_ID, ISSUER_CLIENT_SECRET. See docs/attendance/operators.md.\n',
    })
    expect(onPostgres).toMatchObject({
      code: 1,
      stderr:
        'landpass: Attendance cannot be served without ATTENDANCE_KEY. "landpass make-keys" makes it. See docs/attendance/operators.md.\n',
    })
    expect(alone).toMatchObject({
      code: 1,
      stderr:
        'landpass: Attendance cannot be served without ATTENDANCE_KEY, TOKEN_KEY_FILE. "landpass make-keys" makes both. See docs/attendance/operators.md.\n',
    })
  })
})

test('with PostgreSQL alone, one command makes both keys, once; then events are made here, without the other issuer', async () => {
  const env = {
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
    EVENT_MAKERS: 'anyone',
  }
  const files = [join(env.DATA_DIR, 'attendance.key'), join(env.DATA_DIR, 'token.key')] as const
  const keysIn = () => files.map((file) => readFileSync(file, 'utf8'))
  const event = { name: 'Lanterns', coordinates: '0,0', start_date: dayIn(0), end_date: dayIn(2), tokens: 2 }
  const make = (server: Serving) => ask(server, '/events', { method: 'POST', body: JSON.stringify(event) })

  const before = await serve(env)
  expect(before.stdout()).toContain('started without ATTENDANCE_KEY, TOKEN_KEY_FILE')
  expect(before.stdout()).toContain('"landpass make-keys" makes both.')
  expect(before.stdout()).not.toContain('ISSUER_API_KEY')
  expect(await make(before)).toMatchObject({
    status: 503,
    body: { code: 'attendance_not_configured', data: { missing: ['ATTENDANCE_KEY', 'TOKEN_KEY_FILE'] } },
  })
  expect((await ask(before, '/organise')).text).toContain('data-event-makers="nobody" data-has-own="false"')
  await stopped(before)

  const made = await landpassHere(['make-keys'], env)
  const keys = keysIn()
  const again = await landpassHere(['make-keys'], env)
  expect([made.code, again.code]).toEqual([0, 0])
  expect(JSON.parse(made.stdout)).toMatchObject({ ok: true, made: files })
  expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, made: [] })
  expect(keysIn()).toEqual(keys)
  for (const [at, file] of files.entries()) {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const { stdout, stderr } of [made, again]) expect(stdout + stderr).not.toContain(keys[at]!.trim())
  }

  const after = await serve(env)
  expect(after.stdout()).not.toContain('Attendance tokens are not served')
  expect(await make(after)).toMatchObject({ status: 200, body: { ok: true } })
  expect((await ask(after, '/organise')).text).toContain(
    'data-event-makers="anyone" data-has-own="true" data-has-poap="false"',
  )
  await stopped(after)
})

test('without an issuer the land works, and attendance says what is missing', async () => {
  const server = await serve({
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
    ATTENDANCE_KEY: 'a1'.repeat(32),
    EVENT_MAKERS: 'nobody',
  })

  expect(server.stdout()).toContain('ISSUER_API_KEY, ISSUER_CLIENT_ID, ISSUER_CLIENT_SECRET')
  expect((await ask(server, '/v1/parcels/0/0')).body).toMatchObject({ code: 'world_not_loaded' })
  const calls = [
    ['/event/1', { editCode: EDIT_CODE, coordinates: '0,0' }],
    ['/addcodes/1', { editCode: EDIT_CODE }],
    ['/claim/1', {}],
    ['/captcha', undefined],
  ] as const
  for (const [path, body] of calls) {
    const answer = await ask(server, path, { method: 'POST', ...(body && { body: JSON.stringify(body) }) })
    expect(answer, path).toMatchObject({
      status: 503,
      body: {
        code: 'attendance_not_configured',
        data: { missing: ['ISSUER_API_KEY', 'ISSUER_CLIENT_ID', 'ISSUER_CLIENT_SECRET'] },
      },
    })
  }
  expect((await ask(server, '/event/1')).body).toMatchObject({ code: 'event_not_found' })
  await stopped(server)
})

test('production refuses simulators, names their settings, and creates nothing', async () => {
  const dataDir = emptyDir()
  const { code, stdout, stderr } = await landpassHere(['serve'], {
    ...settings,
    NODE_ENV: 'production',
    DATA_DIR: dataDir,
    ISSUER_URL: 'http://api.issuer.example',
    PRESENCE_PROVIDERS: 'peers=https://stats.example/peers participants=https://127.0.0.1/scene-participants',
  })

  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr.split('\n')).toEqual([
    'landpass: Wrong settings for NODE_ENV=production:',
    '  ISSUER_URL: http://api.issuer.example is not an https:// address of another machine',
    `  ISSUER_TOKEN_URL: ${outside.issuer}/oauth/token is not an https:// address of another machine`,
    '  PRESENCE_PROVIDERS: https://127.0.0.1/scene-participants is not an https:// address of another machine',
    '',
  ])
  expect(() => statSync(join(dataDir, 'attendance.key'))).toThrow('ENOENT')
})

describe('the key of the claim codes', () => {
  test('is made beside the embedded database for its owner alone, used again, and never overwritten', async () => {
    const dataDir = await freshDataDir()
    const env = { ...settings, DATA_DIR: dataDir, LOG_LEVEL: 'info' }
    const file = join(dataDir, 'attendance.key')
    await outside.putEvent(85_001, { edit_code: EDIT_CODE, codes: 1 })

    const first = await serve(env, ['--only', 'attendance'])
    await register(first, 85_001)
    await stopped(first)
    const [news] = first.stdout().split('\n')
    expect(JSON.parse(news ?? '')).toMatchObject({ path: file, msg: expect.stringContaining('made a key') })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const key = readFileSync(file, 'utf8')
    expect(key).toMatch(/^[0-9a-f]{64}\n$/)

    await serveHere({ dataDir }, {}, async (second) => {
      expect(await claim(second, 85_001, 'key ann')).toMatchObject({ status: 200 })
    })
    expect(readFileSync(file, 'utf8')).toBe(key)
    expect(await outside.mintsOf(85_001)).toHaveLength(1)

    const damaged = key.slice(0, 40)
    writeFileSync(file, damaged)
    const { code, stderr } = await landpassHere(['serve'], { ...env, PORT: '0' })
    expect(code).toBe(1)
    expect(stderr).toBe(
      `landpass: ${file} does not hold a key of 64 hex digits. Restore it from a backup to read the stored codes.\n`,
    )
    expect(readFileSync(file, 'utf8')).toBe(damaged)
  })

  test('that is another one touches no code and no claim, says so, and the right one goes on', async () => {
    const databaseUrl = await freshDatabaseUrl()
    const right = { ATTENDANCE_KEY: 'a1'.repeat(32), CLAIM_WAIT_MS: '100' }
    await outside.putEvent(85_002, { edit_code: EDIT_CODE, codes: 3 })
    await serveHere({ databaseUrl }, right, async (before) => {
      await register(before, 85_002)
      await outside.issuerSettings({ error_rate: 1 })
      expect((await claim(before, 85_002, 'other key ann')).body).toMatchObject({
        data: { claim: { status: 'pending' } },
      })
    })
    await outside.issuerSettings({ error_rate: 0 })
    const rows = await storedRows(databaseUrl)

    const wrong = { ...right, ATTENDANCE_KEY: 'b2'.repeat(32) }
    const server = await serve({ ...settings, ...wrong, DATABASE_URL: databaseUrl })
    expect(server.stdout()).toContain('with an ATTENDANCE_KEY that does not decrypt the stored claim codes')
    const refusals = [
      await claim(server, 85_002, 'other key ben'),
      await ask(server, '/addcodes/85002', { method: 'POST', body: JSON.stringify({ editCode: EDIT_CODE }) }),
    ]
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        status: 503,
        body: { code: 'attendance_not_configured', data: { missing: ['ATTENDANCE_KEY'] } },
      })
    }
    expect((await ask(server, '/event/85002/availability')).body).toMatchObject({ data: { available: 2 } })
    await stopped(server)
    expect(await storedRows(databaseUrl)).toEqual(rows)

    await serveHere({ databaseUrl }, right, async (after) => {
      expect(await claim(after, 85_002, 'other key ben')).toMatchObject({ status: 200 })
    })
  })
})

type AnyServing = Pick<Serving, 'origin'>

/** Uses a server inside this process, with no key but that of `env` or of the data folder. */
async function serveHere(
  place: { readonly dataDir: string } | { readonly databaseUrl: string },
  env: Env,
  use: (server: AnyServing) => Promise<void>,
): Promise<void> {
  const engine = await openEngine({ ...TEST_SETTINGS, ...place })
  const { ATTENDANCE_KEY: _, ...others } = outside.env
  const dataDir = 'dataDir' in place ? { DATA_DIR: place.dataDir } : {}
  const server = await startAttendance(
    engine,
    SYSTEM_CLOCK,
    { ...outside, env: others },
    { ...dataDir, ...env },
  )
  try {
    await use(server)
  } finally {
    await server.close()
    await engine.close()
  }
}

async function storedRows(databaseUrl: string) {
  const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
  try {
    return { claims: await claimsByState(engine.db), codes: await codesByState(engine.db) }
  } finally {
    await engine.close()
  }
}

async function register(server: AnyServing, eventId: number): Promise<void> {
  for (const [path, body] of [
    [`/event/${eventId}`, { editCode: EDIT_CODE, coordinates: '10,20' }],
    [`/addcodes/${eventId}`, { editCode: EDIT_CODE }],
  ] as const) {
    const answer = await ask(server, path, { method: 'POST', body: JSON.stringify(body) })
    expect(answer.status, answer.text).toBe(200)
  }
}

async function claim(server: AnyServing, eventId: number, name: string) {
  const player = makePlayer(name)
  const nowMs = SYSTEM_CLOCK.nowMs()
  await outside.stand(player.address, 10, 20, nowMs)
  const path = `/claim/${eventId}`
  return ask(server, path, { method: 'POST', headers: player.sign({ method: 'POST', path, atMs: nowMs }) })
}

/** A day as `YYYY-MM-DD`, so many days from now. */
function dayIn(days: number): string {
  return new Date(SYSTEM_CLOCK.nowMs() + days * 24 * HOUR_MS).toISOString().slice(0, 10)
}

async function ask(server: AnyServing, path: string, request: RequestInit = {}) {
  const response = await fetch(server.origin + path, request)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: response.status, text, body: isJson ? (JSON.parse(text) as object) : undefined }
}

async function describedPaths(server: Serving): Promise<readonly string[]> {
  const { body } = await ask(server, '/openapi.json')
  return Object.keys((body as { paths: object }).paths).sort()
}

async function stopped(server: Serving): Promise<void> {
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
}

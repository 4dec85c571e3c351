import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { startPostgres, type TestPostgres } from '@landpass/server/test/support/database/postgres'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import {
  eventually,
  landpass,
  type Serving,
  serve,
  startLandpass,
  statusOf,
} from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PASSWORD = 'correct-horse-battery'
const RADIUS = 8
/** Only ends a test that hangs: a stopped database refuses at once. */
const BOUND_MS = MINUTE_MS
const HEALED_MS = 15 * SECOND_MS

const bidder = demoWorld(1, { radius: RADIUS }).bids[0]!.bidder
const HISTORIES = [
  `/v1/addresses/${bidder}/bids`,
  '/v1/parcels/0/0/publications',
  '/parcels/0/0/mortgages',
  `/addresses/${bidder}/contributions`,
  `/publications/0x${'1'.repeat(64)}`,
]
const FROM_MEMORY = [
  '/v1/parcels/0/0',
  '/map?nw=-8,8&se=8,-8',
  '/districts',
  '/estates',
  '/v1/parcels?status=open',
  '/translations/fr',
  '/health/live',
  '/health/ready/land',
  '/metrics',
  '/openapi.json',
]

let postgres: TestPostgres
let env: Record<string, string>
/** All outputs and answers of our processes. */
const outputs: string[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  const url = new URL(postgres.url)
  url.password = PASSWORD // PostgreSQL trusts local connections here, so the password is never used
  env = { DATABASE_URL: url.href, LOG_LEVEL: 'trace' }
})

afterAll(() => postgres.stop())

test('a server survives the loss of its database, recovers, and never shows the password', async () => {
  await importWorld(1)
  const server = await serve(env)
  for (const path of [...HISTORIES, ...FROM_MEMORY, '/health/ready']) {
    expect((await ask(server, path)).status, path).toBe(path.startsWith('/publications') ? 404 : 200)
  }

  await postgres.pause()
  for (const path of HISTORIES) {
    const startedMs = performance.now()
    const answer = await ask(server, path)
    expect(answer, path).toMatchObject({ status: 503, body: { ok: false, code: 'database_unavailable' } })
    expect(Number(answer.retryAfter), path).toBeGreaterThan(0)
    expect(performance.now() - startedMs, path).toBeLessThan(BOUND_MS)
    expect(answer.text, 'where the database is').not.toContain(new URL(postgres.url).host)
  }
  expect(await ask(server, '/health/ready')).toMatchObject({
    status: 503,
    body: { code: 'database_unavailable' },
  })
  for (const path of FROM_MEMORY) expect((await ask(server, path)).status, path).toBe(200)
  for (const command of [['import', await demoSnapshot(2, RADIUS)], ['migrate']]) {
    const { code, stdout, stderr } = await landpassHere(command, { ...env, PORT: '0' })
    outputs.push(stdout, stderr)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^landpass: Cannot open the database at 127\.0\.0\.1:\d+\/postgres: .*\n$/)
  }
  const late = startLandpass(['serve', '--only', 'land'], { ...env, PORT: '0' })
  await late.said('the server waits for it')
  const origin = /Server listening at (http:\/\/[\d.]+:\d+)/.exec(late.stdout())?.[1] ?? ''
  expect(await statusOf(`${origin}/health/live`)).toBe(200)
  expect(await ask({ origin }, '/health/ready')).toMatchObject({
    status: 503,
    body: { code: 'database_unavailable', data: { retry_after_s: 5 } },
    retryAfter: '5',
  })

  await postgres.resume()
  await late.said('Ctrl-C stops it.')
  expect(await statusOf(`${origin}/health/ready`)).toBe(200)
  late.child.kill('SIGINT')
  const { code: lateCode, stdout: lateOutput, stderr: lateErrors } = await late.ended
  outputs.push(lateOutput, lateErrors)
  expect(lateCode).toBe(0)
  const unknown = await landpass(['serve'], {
    ...env,
    DATABASE_URL: env.DATABASE_URL!.replace(/[^/]*$/, 'nowhere'),
  })
  expect(unknown.stderr).toMatch(
    /^landpass: Cannot open the database at .*\/nowhere: database "nowhere" does not exist\n$/,
  )
  await eventually(
    () => statusOf(`${server.origin}/health/ready`),
    (status) => status === 200,
    HEALED_MS,
  )
  for (const path of HISTORIES) expect([200, 404]).toContain((await ask(server, path)).status)
  const before = (await ask(server, '/districts')).text
  await importWorld(2)
  await eventually(
    () => ask(server, '/districts'),
    ({ text }) => text !== before,
    HEALED_MS,
  )

  await ask(server, '/metrics')
  const { code, stdout, stderr } = await server.stop()
  expect(code).toBe(0)
  outputs.push(stdout, stderr)
  expect(stdout).toContain('"msg":"incoming request"') // it did speak as much as it can
  const failures = stdout.split('\n').filter((line) => line.includes('"msg":"The database did not answer."'))
  expect(failures.length).toBeGreaterThan(0)
  for (const line of failures) expect(line.match(/"reqId"/g), line).toHaveLength(1)
  for (const text of outputs) expect(text).not.toContain(PASSWORD)
})

async function importWorld(seed: number): Promise<void> {
  const { code, stdout, stderr } = await landpassHere(['import', await demoSnapshot(seed, RADIUS)], env)
  outputs.push(stdout, stderr)
  expect(stderr).toBe('')
  expect(code).toBe(0)
}

async function ask(server: Pick<Serving, 'origin'>, path: string) {
  const response = await fetch(server.origin + path)
  const text = await response.text()
  outputs.push(text, JSON.stringify([...response.headers]))
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const body: unknown = isJson ? JSON.parse(text) : undefined
  return { status: response.status, text, body, retryAfter: response.headers.get('retry-after') }
}

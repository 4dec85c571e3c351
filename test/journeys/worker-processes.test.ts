import { once } from 'node:events'
import http from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { openEngine } from '@landpass/server/db/open-engine'
import { freshDatabaseUrl, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import { childrenOf } from '@landpass/server/test/support/processes/children'
import { eventually, landpass, type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { OPERATOR_KEY, operated } from './operated-parts.ts'

const RADIUS = 10
/** Only for tests that hang: processes start slowly on a busy machine. */
const SOON_MS = 150_000
const LIMIT = 5

describe('two processes on one port', () => {
  let server: Serving
  let metrics: string
  beforeAll(async () => {
    const databaseUrl = await freshDatabaseUrl()
    const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
    await importWorld(engine.db, await demoSnapshot(1, RADIUS), SYSTEM_CLOCK)
    await engine.close()
    server = await serve({
      ...{ WORKERS: '2', DATABASE_URL: databaseUrl, WORLD: `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}` },
      ...{
        LOG_LEVEL: 'warn',
        LIMIT_CLIENT_PER_MINUTE: String(LIMIT),
        OPERATOR_KEY,
        SHUTDOWN_DELAY_MS: '200',
      },
    })
    metrics = `${server.origin}/metrics`
    await untilBothServe()
  })

  const workers = () => childrenOf(server.child.pid ?? 0)
  const scrape = async () => (await fetch(metrics)).text()
  const valuesOf = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}\\{worker="(\\d)"\\} (\\S+)$`, 'gm'))].map(([, worker, value]) => [
      worker,
      value,
    ])
  const untilBothServe = () =>
    eventually(
      async () => valuesOf(await scrape(), 'landpass_land_revision'),
      (revisions) => revisions.length === 2 && revisions.every(([, revision]) => revision === '1'),
      SOON_MS,
    )

  test('one scrape has the metrics of both, each described once', async () => {
    // A process that does not answer in time is left out
    const text = await eventually(
      scrape,
      (metrics) => valuesOf(metrics, 'landpass_land_revision').length === 2,
      SOON_MS,
    )

    expect(valuesOf(text, 'landpass_land_revision').sort()).toEqual([
      ['1', '1'],
      ['2', '1'],
    ])
    expect(text.match(/^# TYPE landpass_land_revision gauge$/gm)).toHaveLength(1)
  })

  test('requests of an address are counted together, whichever process they reach', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 3 * LIMIT; i++) statuses.push(await statusOf('POST', '/captcha'))

    expect(statuses.filter((status) => status !== 429)).toHaveLength(LIMIT)
  })

  test('the operator sees the counts of both, whichever process answers', async () => {
    const sixAnswers = async () => {
      const answers = []
      for (let i = 0; i < 6; i++) {
        const parts = await operated(server.origin)
        answers.push(parts.get('limits'))
      }
      return answers
    }

    const refused = 2 * LIMIT
    const expected = Array(6).fill({
      part: 'limits',
      condition: 'look',
      problem: 'requests_refused',
      facts: { refused, shed: 0 },
    })
    await eventually(sixAnswers, (answers) => isDeepStrictEqual(answers, expected), SOON_MS)
  })

  test('what an address has spent in one process is known in the other', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1, localAddress: '127.0.0.2' })
    onTestFinished(() => agent.destroy())
    const addresses = async () =>
      valuesOf(await scrape(), 'landpass_cost_addresses').map(([, count]) => Number(count))
    const before = await eventually(addresses, ([one, other]) => one === other, SOON_MS)

    expect(await statusOf('GET', '/v1/parcels/1/2', agent)).toBe(200)

    await eventually(addresses, (counts) => counts.every((count) => count === (before[0] ?? 0) + 1), SOON_MS)
  })

  test('a process that is killed is replaced', async () => {
    const [killed = 0, other] = workers()
    process.kill(killed, 'SIGKILL')

    await eventually(workers, (pids) => pids.length === 2 && !pids.includes(killed), SOON_MS)
    await untilBothServe()
    expect(workers()).toContain(other)
    expect(server.stderr()).toContain('ended (SIGKILL); another one takes its place')
  })

  test('after SIGHUP both are replaced, one after the other, and no request is lost', async () => {
    const before = workers()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 2 })
    onTestFinished(() => agent.destroy())
    const statuses = new Map<number, number>()
    let isOver = false
    const clients = [undefined, agent].map(async (of) => {
      while (!isOver) {
        const status = await statusOf('GET', '/v1/parcels/3/4', of)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })

    server.child.kill('SIGHUP')
    await eventually(
      workers,
      (pids) => pids.length === 2 && pids.every((pid) => !before.includes(pid)),
      SOON_MS,
    ).finally(() => {
      isOver = true
    })

    await Promise.all(clients)
    expect([...statuses.keys()]).toEqual([200])
    await untilBothServe()
  })

  test('SIGTERM stops both, and ends with 0', async () => {
    const pids = workers()
    const { code } = await server.stop('SIGTERM')

    expect(code).toBe(0)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  /** Over a connection of its own, unless an agent has one. */
  async function statusOf(method: string, path: string, agent: http.Agent | false = false): Promise<number> {
    const request = http.request(server.origin + path, { method, agent })
    request.end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    await response.resume().toArray()
    return response.statusCode ?? 0
  }
})

test('several processes are refused on the embedded database, and for the demo', async () => {
  const [embedded, demo] = await Promise.all([
    landpass(['serve'], { WORKERS: '2' }),
    landpass(['serve', '--demo'], { WORKERS: '2' }),
  ])

  expect([embedded.code, demo.code]).toEqual([1, 1])
  expect(embedded.stderr).toContain('needs PostgreSQL')
  expect(demo.stderr).toContain('served by one process')
})

import { createApp } from '@landpass/server/app'
import { DatabaseWait, tryToOpen } from '@landpass/server/cli/database-wait'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import { createEngine } from '@landpass/server/db/open-engine'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { emptyDir, freshDatabaseUrl, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { type LossyProxy, startLossyProxy } from '@landpass/server/test/support/database/lossy-proxy'
import { TINY_WORLD, tinySnapshot } from '@landpass/server/test/support/land/tiny-world'
import { startLandpass, statusOf } from '@landpass/server/test/support/processes/landpass'
import { expect, onTestFinished, test } from 'vitest'

/** Settings with which attendance is configured; nothing is sent to the issuer. */
const ATTENDANCE = {
  ATTENDANCE_KEY: 'a1'.repeat(32),
  ISSUER_API_KEY: 'key',
  ISSUER_CLIENT_ID: 'client',
  ISSUER_CLIENT_SECRET: 'secret',
}

async function absentDatabase(): Promise<LossyProxy> {
  const proxy = await startLossyProxy(await freshDatabaseUrl())
  onTestFinished(() => proxy.stop())
  proxy.refuse()
  return proxy
}

test('a server of land and attendance waits for its database, and says so', async () => {
  const proxy = await absentDatabase()
  const server = startLandpass(['serve'], { ...ATTENDANCE, DATABASE_URL: proxy.url, PORT: '0' })

  await server.said('the database is not there yet')
  const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout())?.[0]
  expect(await statusOf(`${origin}/health/live`)).toBe(200)
  for (const path of ['/health/ready', '/v1/parcels/0/0', '/event/1/availability'])
    expect(await statusOf(`${origin}${path}`), path).toBe(503)
  const isUp = async () => {
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    return /^landpass_database_up (\d)$/m.exec(metrics)?.[1]
  }
  proxy.thaw()
  await server.said('Ctrl-C stops it.')
  await expect.poll(isUp).toBe('1')
  expect(await statusOf(`${origin}/health/ready/attendance`)).toBe(200)
  expect(await statusOf(`${origin}/event/1/availability`)).toBe(404)
  proxy.refuse()
  await expect.poll(isUp).toBe('0')
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
})

test('a database that goes away again while the server starts is waited for again', async () => {
  const proxy = await absentDatabase()
  const config = readConfig({
    ...ATTENDANCE,
    DATABASE_URL: proxy.url,
    DATA_DIR: emptyDir(),
    LOG_LEVEL: 'silent',
    SHUTDOWN_DELAY_MS: '0',
    WORLD: '-2,-2,2,2',
  })
  const engine = await createEngine({ ...TEST_SETTINGS, databaseUrl: proxy.url, statementTimeoutMs: 5_000 })
  onTestFinished(() => engine.close())
  const app = await createApp({ config, engine, clock: SYSTEM_CLOCK })
  onTestFinished(() => app.close())
  const waiting = new DatabaseWait(engine, app.server, await tryToOpen(engine))
  proxy.thaw()
  // Before the first step, and after it
  const away = [
    async () => proxy.refuse(),
    async () => {
      await app.attendance?.open()
      await importSnapshot(engine.db, tinySnapshot(), {
        world: TINY_WORLD,
        clock: SYSTEM_CLOCK,
        dryRun: false,
      })
      proxy.refuse()
    },
  ]
  let starts = 0

  const isStarted = await waiting.start(new Promise(() => {}), async () => {
    starts += 1
    await away.shift()?.()
    const starting = app.start()
    if (starts < 3) await expect(starting).rejects.toMatchObject({ code: 'database_unavailable' })
    if (starts < 3) setImmediate(() => proxy.thaw())
    await starting
    return true
  })

  expect([isStarted, starts]).toEqual([true, 3])
  expect(app.keeper.revision).toBe(1)
  expect(app.attendance?.setupProblem).toBeUndefined()
})

import { sql } from 'kysely'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabaseUrl } from '../../../test/support/database/engines.ts'
import { holdTime, passDuring, passUntil } from '../../../test/support/database/held-time.ts'
import { type LossyProxy, startLossyProxy } from '../../../test/support/database/lossy-proxy.ts'
import { inTransaction } from '../transaction.ts'
import { PostgresListener } from './listener.ts'
import { openPostgres, type PostgresSettings } from './postgres-engine.ts'

const POOL_SIZE = 3
const STATEMENT_TIMEOUT_MS = 3_000
/** How long a statement waits for a database that does not answer: the pool adds up to a second. */
const UNANSWERED_MS = STATEMENT_TIMEOUT_MS + 1_000
const proxies: LossyProxy[] = []

afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

/** An engine behind a proxy, with all connections of its pool open and idle. */
async function openBehindProxy(settings: Partial<PostgresSettings> = {}) {
  const proxy = await startLossyProxy(await freshDatabaseUrl())
  proxies.push(proxy)
  const engine = await openPostgres({
    databaseUrl: proxy.url,
    poolSize: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    ...settings,
  })
  onTestFinished(() => engine.close())
  await Promise.all(Array.from({ length: POOL_SIZE }, () => sql`select pg_sleep(0.05)`.execute(engine.db)))
  const isAnswered = () =>
    sql`select 1`.execute(engine.db).then(
      () => true,
      () => false,
    )
  return { proxy, engine, isAnswered }
}

test('after one time-out no dead connection is used again: all others of the pool are replaced too', async () => {
  const { proxy, engine, isAnswered } = await openBehindProxy()
  expect(engine.pool().idle).toBe(POOL_SIZE)

  proxy.freeze()
  holdTime()

  const unanswered = sql`select 1`.execute(engine.db)
  await expect(passDuring(unanswered)).rejects.toMatchObject({ code: 'database_unavailable' })
  expect(await Promise.all(Array.from({ length: POOL_SIZE * 4 }, isAnswered))).not.toContain(false)
  expect(engine.pool().total).toBeLessThanOrEqual(POOL_SIZE)
})

test('under load the pool recovers after one time-out of the calls that were running', async () => {
  const { proxy, engine, isAnswered } = await openBehindProxy()
  proxy.freeze()
  holdTime()

  const { answer: answers } = await passDuring(Promise.all(Array.from({ length: POOL_SIZE }, isAnswered)))
  expect(answers).toEqual(answers.map(() => false))

  expect(await Promise.all(Array.from({ length: 20 }, isAnswered))).not.toContain(false)
  expect(proxy.open, 'the dead ones are closed on our side').toBeLessThanOrEqual(POOL_SIZE)
  expect(engine.pool().waiting).toBe(0)
})

test('a transaction on a dead connection ends after one time-out, not two, and its connection is gone', async () => {
  const { proxy, engine } = await openBehindProxy({ poolSize: 1 })
  holdTime()
  let freeze = () => {}
  const frozen = new Promise<void>((resolve) => (freeze = resolve))

  const transaction = inTransaction(engine.db, async (tx) => {
    await sql`select 1`.execute(tx)
    proxy.freeze()
    freeze()
    await sql`select 2`.execute(tx)
  }).catch((error) => error)
  await Promise.race([frozen, transaction])
  const { answer, passedMs } = await passDuring(transaction)

  expect(answer).toMatchObject({ code: 'database_unavailable' })
  expect(passedMs).toBeLessThan(UNANSWERED_MS + 500)
  expect((await sql`select 3 as three`.execute(engine.db)).rows).toEqual([{ three: 3 }])
})

test('an engine with dead connections is closed without waiting for them', async () => {
  const { proxy, engine } = await openBehindProxy()
  await engine.listen('land', () => {})

  proxy.freeze()

  await engine.close()
  expect(engine.pool().total).toBe(0)
})

test('a listener notices a dead connection by itself, and hears again', async () => {
  const { proxy, engine } = await openBehindProxy()
  holdTime()
  const heard: string[] = []
  let hear = () => {}
  const next = () => new Promise<void>((resolve) => (hear = resolve))
  await engine.listen('land', (payload) => {
    heard.push(payload)
    hear()
  })

  const healed = next()
  proxy.freeze()
  const accepted = proxy.accepted
  await passUntil(() => proxy.accepted > accepted)
  await healed
  const arrived = next()
  await passDuring(sql`select pg_notify('land', 'after')`.execute(engine.db).catch(() => undefined))
  await sql`select pg_notify('land', 'after')`.execute(engine.db)
  await arrived

  expect(heard).toEqual(['', 'after'])
})

test('a listener that connects before its retry is due makes one connection, for all its channels', async () => {
  holdTime()
  const proxy = await startLossyProxy(await freshDatabaseUrl())
  proxies.push(proxy)
  let connections = 0
  const config = async () => {
    connections += 1
    return { connectionString: proxy.url }
  }
  const listener = new PostgresListener(config)
  onTestFinished(() => listener.close())
  let hear: (payload: string) => void = () => {}
  const heard = new Promise<string>((resolve) => (hear = resolve))
  await listener.listen('first', hear)

  proxy.refuse()
  proxy.thaw()
  while (connections === 1) await listener.listen('second', () => {}).catch(() => undefined)
  await listener.listen('second', () => {})
  await vi.advanceTimersByTimeAsync(1_000)

  expect(await heard, 'a notification may have been missed').toBe('')
  expect(connections).toBe(2)
})

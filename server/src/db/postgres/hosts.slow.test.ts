import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabaseUrl } from '../../../test/support/database/engines.ts'
import { holdTime, passDuring } from '../../../test/support/database/held-time.ts'
import { startLossyProxy } from '../../../test/support/database/lossy-proxy.ts'
import { CommandError } from '../../errors.ts'
import { parseHosts } from './hosts.ts'
import { createPostgres, openPostgres } from './postgres-engine.ts'

test('a list of hosts is one URL for each, with its own port and the rest in common', () => {
  expect(parseHosts('postgres://u:p@a:5432,b:5433/land')).toEqual({
    urls: ['postgres://u:p@a:5432/land', 'postgres://u:p@b:5433/land'],
    needsWrites: true,
  })
  expect(
    parseHosts('postgres://u:p%2C@[::1]:5432,b/land?target_session_attrs=read-write&sslmode=disable'),
  ).toEqual({
    urls: ['postgres://u:p%2C@[::1]:5432/land?sslmode=disable', 'postgres://u:p%2C@b/land?sslmode=disable'],
    needsWrites: true,
  })
})

test('one host is left as it is, and may be a standby unless it says otherwise', () => {
  const one = 'postgresql://u:p@a/land?sslmode=no-verify'
  expect(parseHosts(one)).toEqual({ urls: [one], needsWrites: false })
  expect(parseHosts('postgres://a/land?target_session_attrs=primary').needsWrites).toBe(true)
  expect(parseHosts('postgres:///land?host=/run/postgresql').urls).toHaveLength(1)
})

test.each(['hush://::hush', 'postgres://hush@a,,b/land', 'postgres://u:hush@a:b:c,d/land', 'postgres:hush'])(
  'text that is no such URL is refused without being shown: %s',
  (text) => {
    expect(() => parseHosts(text)).toThrow(CommandError)
    expect(() => parseHosts(text)).not.toThrow('hush')
  },
)

test('attributes with which a server could not write are refused', () => {
  expect(() => parseHosts('postgres://a,b/land?target_session_attrs=standby')).toThrow(
    'target_session_attrs=standby: the server writes',
  )
})

/** A URL with a host that refuses connections, and two hosts with the same database behind proxies. */
async function threeHosts() {
  const databaseUrl = await freshDatabaseUrl()
  const proxies = [await startLossyProxy(databaseUrl), await startLossyProxy(databaseUrl)] as const
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy.stop()
  })
  const places = ['127.0.0.1:1', ...proxies.map(({ url }) => new URL(url).host)]
  return { databaseUrl, proxies, url: databaseUrl.replace(new URL(databaseUrl).host, places.join(',')) }
}

test('of several hosts one that works is used, and another one when that is lost', async () => {
  const { databaseUrl, proxies, url } = await threeHosts()
  const engine = await openPostgres({ databaseUrl: url, poolSize: 2, statementTimeoutMs: 3_000 })
  onTestFinished(() => engine.close())
  const notices: string[] = []
  engine.onNotice((notice) => notices.push(notice))
  const noticeOf = (host: string) => `The database at ${host}${new URL(databaseUrl).pathname} is used now.`
  const used = proxies.findIndex((proxy) => notices[0] === noticeOf(new URL(proxy.url).host))
  await sql`select 1`.execute(engine.db)

  proxies[used]!.freeze({ newOnes: true })
  holdTime()
  await expect(passDuring(sql`select 1`.execute(engine.db))).rejects.toMatchObject({
    code: 'database_unavailable',
  })

  expect((await sql`select 1 as one`.execute(engine.db)).rows).toEqual([{ one: 1 }])
  expect(notices[1]).toBe(noticeOf(new URL(proxies[1 - used]!.url).host))
})

test('requests that wait for a connection when their host is lost get one of the next host', async () => {
  const { proxies, url } = await threeHosts()
  const engine = await openPostgres({ databaseUrl: url, poolSize: 1, statementTimeoutMs: 0 })
  onTestFinished(() => engine.close())
  const used = await new Promise<string>((resolve) => engine.onNotice(resolve))
  const running = sql`select pg_sleep(10)`.execute(engine.db).catch((error) => error)
  const waiting = [1, 2, 3].map(() => sql`select 1 as one`.execute(engine.db))
  while (engine.pool().waiting < waiting.length) await new Promise(setImmediate)

  proxies.find((proxy) => used.includes(new URL(proxy.url).host))!.refuse()

  expect(await running).toMatchObject({ code: 'database_unavailable' })
  for (const { rows } of await Promise.all(waiting)) expect(rows).toEqual([{ one: 1 }])
})

test('hosts that accept no changes are not used, until one does', async () => {
  const { databaseUrl, url } = await threeHosts()
  await setReadOnly(databaseUrl, 'on')
  const engine = createPostgres({ databaseUrl: url, poolSize: 2, statementTimeoutMs: 20_000 })
  onTestFinished(() => engine.close())
  await expect(engine.open()).rejects.toMatchObject({ code: 'database_read_only' })
  await expect(sql`select 1`.execute(engine.db)).rejects.toMatchObject({ code: 'database_read_only' })

  await setReadOnly(databaseUrl, 'off')
  await engine.open()

  await sql`create table written (n integer)`.execute(engine.db)
  // The next connection is refused, so another host is chosen: none accepts changes
  await setReadOnly(databaseUrl, 'on')
  await Promise.all([1, 2].map(() => sql`select pg_sleep(0.05)`.execute(engine.db))).catch(() => undefined)
  await expect(sql`select 1`.execute(engine.db)).rejects.toMatchObject({ code: 'database_read_only' })
})

async function setReadOnly(databaseUrl: string, value: 'on' | 'off'): Promise<void> {
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const engine = await openPostgres({ databaseUrl: url.href, poolSize: 1, statementTimeoutMs: 0 })
  await sql`alter database ${sql.id(name)} set default_transaction_read_only = ${sql.lit(value)}`.execute(
    engine.db,
  )
  await engine.close()
}

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'
import { holdTime, passDuring } from '../../../test/support/database/held-time.ts'
import { CommandError } from '../../errors.ts'
import { createPostgres, openPostgres } from './postgres-engine.ts'

const open = freshEngine('postgres')

test('a server that cannot be reached is named, its password is not', async () => {
  const databaseUrl = 'postgres://somebody:hush@127.0.0.1:1/land'

  const refused = await openPostgres({ databaseUrl, poolSize: 1, statementTimeoutMs: 1_000 }).catch(
    (error) => error,
  )

  expect(refused).toBeInstanceOf(CommandError)
  expect(refused.message).toContain('127.0.0.1:1/land')
  expect(refused.message).toContain('ECONNREFUSED')
  expect(refused.message).not.toContain('hush')
})

test('a host that is away may come, whatever words its name contains', async () => {
  const databaseUrl = 'postgres:///land?host=/no-ssl-here'
  const engine = createPostgres({ databaseUrl, poolSize: 1, statementTimeoutMs: 1_000 })

  await expect(engine.open()).rejects.toMatchObject({ code: 'database_unavailable' })
  await engine.close()
})

test('text that is not a URL is refused without being shown', async () => {
  const settings = { databaseUrl: 'hush://::hush', poolSize: 1, statementTimeoutMs: 1_000 }
  const refused = await openPostgres(settings).catch((error) => error)

  expect(refused).toBeInstanceOf(CommandError)
  expect(refused.message).not.toContain('hush')
})

test('lost connections are reopened, and listeners get an empty payload because they may have missed something', async () => {
  const engine = await open()
  const killer = await open({ poolSize: 1 })
  const heard: string[] = []
  let hear = () => {}
  const next = () => new Promise<void>((resolve) => (hear = resolve))
  await engine.listen('land', (payload) => {
    heard.push(payload)
    hear()
  })

  const healed = next()
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where pid <> pg_backend_pid() and datname = current_database()`.execute(killer.db)
  await healed
  const arrived = next()
  await sql`select pg_notify('land', 'after')`.execute(killer.db)
  await arrived

  expect(heard).toEqual(['', 'after'])
  expect((await sql`select 1 as one`.execute(engine.db)).rows).toEqual([{ one: 1 }])
})

test('a pool with no connection left says so in bounded time', async () => {
  const { db } = await open({ poolSize: 1, statementTimeoutMs: 20_000 })

  await db.connection().execute(async (connection) => {
    holdTime()
    const refused = passDuring(sql`select 1`.execute(db))
    await expect(refused).rejects.toMatchObject({ code: 'database_unavailable' })
    await sql`select 1`.execute(connection)
  })
})

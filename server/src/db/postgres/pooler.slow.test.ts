import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabaseUrl } from '../../../test/support/database/engines.ts'
import { isOld, PGBOUNCERS, startPgBouncer } from '../../../test/support/database/pgbouncer.ts'
import { type PoolerOptions, startSimulatedPooler } from '../../../test/support/database/simulated-pooler.ts'
import type { Db } from '../engine.ts'
import { migrate } from '../migrate.ts'
import { inTransaction } from '../transaction.ts'
import { openPostgres } from './postgres-engine.ts'

const SETTINGS = { poolSize: 4, statementTimeoutMs: 500 } as const

async function simulated(prepared: PoolerOptions['prepared']): Promise<string> {
  const pooler = await startSimulatedPooler(await freshDatabaseUrl(), { prepared })
  onTestFinished(() => pooler.stop())
  return pooler.url
}

async function real(program: string): Promise<string> {
  const pooler = await startPgBouncer(program, await freshDatabaseUrl())
  onTestFinished(() => pooler.stop())
  return pooler.url
}

const POOLERS: readonly (readonly [string, boolean, () => Promise<string>])[] = [
  ['simulated', true, () => simulated('tracked')],
  ['simulated, without prepared statements', false, () => simulated('passed-on')],
  ...PGBOUNCERS.map((program) => [program, !isOld(program), () => real(program)] as const),
]

async function openThrough(databaseUrl: string, settings = {}) {
  const engine = await openPostgres({ ...SETTINGS, ...settings, databaseUrl })
  onTestFinished(() => engine.close())
  return engine
}

describe.each(POOLERS)('behind a pooler in transaction mode: %s', (_name, keepsPrepared, givenPooler) => {
  test('statements and transactions work, prepared or not, with more clients than connections', async () => {
    const engine = await openThrough(await givenPooler(), { statementTimeoutMs: 10_000 })
    await migrate(engine)
    await sql`create table counted (n integer)`.execute(engine.db)
    const insert = (db: Db, n: number) =>
      sql`/* prepared */ insert into counted values (${n}::integer)`.execute(db)

    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => insert(engine.db, n)),
      ...Array.from({ length: 20 }, (_, n) => inTransaction(engine.db, (tx) => insert(tx, 20 + n))),
    ])

    const { rows } = await sql`select count(*) as count, sum(n) as sum from counted`.execute(engine.db)
    expect(rows).toEqual([{ count: 40, sum: (39 * 40) / 2 }])
  })

  test('transactions keep their time limits, and leave none on the connections that others share', async () => {
    const engine = await openThrough(await givenPooler())
    const limits = (db: Db) =>
      sql`select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`.execute(db)

    const inside = await inTransaction(engine.db, limits)
    const outside = await limits(engine.db)

    expect(inside.rows).toEqual([{ statement: '500ms', idle: '1min' }])
    expect(outside.rows).toEqual([{ statement: '0', idle: '0' }])
    const slow = inTransaction(engine.db, (tx) => sql`select pg_sleep(5)`.execute(tx))
    await expect(slow).rejects.toMatchObject({
      code: 'database_unavailable',
      cause: expect.stringMatching(/^57014 /),
    })
    await expect(sql`select pg_sleep(5)`.execute(engine.db)).rejects.toMatchObject({
      cause: 'Query read timeout',
    })
  })

  test('the log says what the pooler cannot do', async () => {
    const url = await givenPooler()
    // The second finds on its connection what the first may have left there
    const engines = [await openThrough(url), await openThrough(url)]

    for (const engine of engines) {
      const notices: string[] = []
      engine.onNotice((notice) => notices.push(notice))
      expect(notices).toEqual([
        expect.stringContaining('there are no notifications'),
        ...(keepsPrepared ? [] : [expect.stringContaining('does not support prepared statements')]),
        expect.stringContaining('Set statement_timeout for the role'),
      ])
    }
  })
})

test('parameters that a pooler does not know are an error at once, not a reason to wait', async () => {
  const databaseUrl = `${await simulated('tracked')}?options=-c%20statement_timeout%3D5`

  await expect(openPostgres({ ...SETTINGS, databaseUrl })).rejects.toThrow(
    'unsupported startup parameter: options',
  )
})

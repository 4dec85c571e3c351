import path from 'node:path'
import { expect, test } from 'vitest'
import { freshDataDir } from '../../../test/support/database/engines.ts'
import { EmbeddedDatabase } from './database.ts'
import { openPGlite } from './pglite.ts'
import { PreparedStatements } from './prepared-statements.ts'

test('a statement keeps its name until a table changes', () => {
  const prepared = new PreparedStatements()

  expect(prepared.take('a')).toEqual({ name: 's1', isNew: true, stale: [] })
  prepared.noteCommand('INSERT')
  expect(prepared.take('a')).toEqual({ name: 's1', isNew: false, stale: [] })
  prepared.noteCommand('ALTER')
  expect(prepared.take('a')).toEqual({ name: 's2', isNew: true, stale: ['s1'] })
})

test('the least recently used statement is closed when there are too many', () => {
  const prepared = new PreparedStatements()
  for (let n = 0; n < 200; n++) prepared.take(`statement ${n}`)
  prepared.take('statement 0')

  expect(prepared.take('one more')?.stale).toEqual(['s2'])
  expect(prepared.take('statement 0')?.isNew).toBe(false)
  expect(prepared.take('x'.repeat(10_000))).toBeUndefined()
})

test('statements see the current columns of a table that changed after they were prepared', async () => {
  const pglite = await openPGlite(path.join(await freshDataDir(), 'database'), false)
  const database = new EmbeddedDatabase(pglite, () => {})
  const ask = async (sql: string, ...params: string[]) => database.run(sql, params)
  const select = () => ask('select * from t where n = $1', '1')
  await ask('create table t (n integer)')
  await ask('insert into t values ($1)', '1')
  expect(await select()).toMatchObject({ columns: ['n'], rows: [['1']] })

  await ask(`alter table t add column m text default 'new'`)
  expect(await select()).toMatchObject({ columns: ['n', 'm'], rows: [['1', 'new']] })

  await ask('begin')
  await ask('alter table t drop column m')
  expect(await select()).toMatchObject({ columns: ['n'] })
  await ask('rollback')
  expect(await select()).toMatchObject({ columns: ['n', 'm'] })

  await ask('drop table t')
  expect(await select()).toMatchObject({ code: '42P01' })
  await ask('create table t (n bigint)')
  await ask('insert into t values ($1)', '1')
  expect(await select()).toMatchObject({ columns: ['n'], types: [20], rows: [['1']] })

  const { rows } = await pglite.query<{ count: number }>(
    'select count(*)::int as count from pg_prepared_statements',
  )
  expect(rows[0]?.count).toBeLessThan(4)
  await pglite.close()
})

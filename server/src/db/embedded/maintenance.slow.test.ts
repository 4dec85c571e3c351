import fs from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshDataDir, TEST_SETTINGS } from '../../../test/support/database/engines.ts'
import { openEngine } from '../open-engine.ts'
import { Maintenance } from './maintenance.ts'
import { Sessions } from './sessions.ts'

test('maintain shortens the write-ahead log and refreshes the statistics of the planner', async () => {
  const dataDir = await freshDataDir()
  const engine = await openEngine({ ...TEST_SETTINGS, dataDir })
  await sql`create table big (n integer, padding text)`.execute(engine.db)
  for (let i = 0; i < 5; i++) {
    await sql`insert into big select n, repeat('x', 500) from generate_series(1, 30000) n`.execute(engine.db)
  }
  const logFiles = () =>
    fs.readdirSync(path.join(dataDir, 'database', 'pg_wal')).filter((name) => /^0/.test(name))
  const before = logFiles().length

  await engine.maintain()

  expect(logFiles().length).toBeLessThan(before)
  const { rows } = await sql`select reltuples::integer as rows from pg_class where relname = 'big'`.execute(
    engine.db,
  )
  expect(rows).toEqual([{ rows: 150_000 }])
  await engine.close()
})

test('a check does the work that is due and no other', async () => {
  const { maintenance, ran, log } = givenMaintenance()

  await maintenance.look()
  expect(ran()).toEqual([])

  log.bytes = 17 * 1024 * 1024
  await maintenance.look()
  expect(ran()).toEqual(['checkpoint'])

  await maintenance.look()
  expect(ran()).toEqual(['checkpoint'])

  await maintenance.runNow()
  expect(ran()).toEqual(['checkpoint', 'vacuum (analyze) public.parcel', 'checkpoint'])
})

/** On a database that has one table and a log of any size. */
function givenMaintenance() {
  const log = { bytes: 0 }
  const statements: string[] = []
  const run = async (statement: string) => {
    statements.push(statement)
    const cells = /lsn/.test(statement)
      ? [String(log.bytes)]
      : /pg_class/.test(statement)
        ? ['public.parcel']
        : []
    return {
      columns: ['c'],
      types: [25],
      rows: cells.map((cell) => [cell]),
      command: '',
      rowCount: undefined,
      isInTransaction: false,
    }
  }
  const ran = () => statements.filter((statement) => /^(checkpoint|vacuum)/.test(statement))
  return { maintenance: new Maintenance(new Sessions({ run })), ran, log }
}

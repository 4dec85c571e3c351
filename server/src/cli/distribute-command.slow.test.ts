import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshDatabaseUrl, TEST_SETTINGS } from '../../test/support/database/engines.ts'
import { landpassHere } from '../../test/support/processes/landpass-here.ts'
import { ON_CITUS } from '../../test/support/run/prepared.ts'
import { storedTables } from '../db/distribution.ts'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { openEngine } from '../db/open-engine.ts'

test.skipIf(ON_CITUS)(
  'without the extension nothing is distributed, and the command says what is missing',
  async () => {
    const env = { DATABASE_URL: await freshDatabaseUrl() }

    const refused = await landpassHere(['distribute'], env)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('does not have the extension Citus. Install it on each node')

    const checked = await landpassHere(['distribute', '--check'], env)
    expect(checked.code).toBe(1)
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: false, parts: [] })
    expect(checked.stdout).toContain('{"table":"claim","storage":"on the coordinator","wanted":"by event"}')
  },
)

test.runIf(ON_CITUS)(
  '--check says which table is distributed where, and a second run moves nothing',
  async () => {
    const env = { DATABASE_URL: await freshDatabaseUrl() }

    const checked = await landpassHere(['distribute', '--check'], env)
    expect(checked.code).toBe(0)
    const { ok, parts } = JSON.parse(checked.stdout) as {
      ok: boolean
      parts: { table: string; node: string; shards: number }[]
    }
    expect(ok).toBe(true)
    expect(parts.filter(({ table }) => table === 'claim').map(({ shards }) => shards)).toEqual([2, 2])
    expect(parts.filter(({ table }) => table === 'attendance_event').map(({ shards }) => shards)).toEqual([
      1, 1, 1,
    ])

    const again = await landpassHere(['distribute'], env)
    expect(JSON.parse(again.stdout)).toEqual({ ok: true, moved: [] })
  },
)

test.runIf(ON_CITUS)(
  'a later migration changes distributed tables, and tables that it makes are distributed too',
  async () => {
    const databaseUrl = await freshDatabaseUrl()
    const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
    const statements = [
      'alter table claim add column note text',
      'create index claim_by_note on claim (event_id, note)',
      'drop table attendance_rehearsal',
      `create table attendance_rehearsal (
      event_id integer not null references attendance_event, id bigint generated always as identity, primary key (event_id, id)
    )`,
    ]
    const up = async (db: Kysely<never>) => {
      for (const statement of statements) await sql.raw(statement).execute(db)
    }

    try {
      expect(await migrate(engine, { ...MIGRATIONS, '0002-next': { up } })).toEqual(['0002-next'])

      const tables = await storedTables(engine.db)
      expect(tables.filter(({ storage, wanted }) => storage !== wanted)).toEqual([])
      await sql`update claim set note = 'x' where event_id = 1`.execute(engine.db)
      const { rows } = await sql`
      select from pg_constraint where contype = 'f' and conrelid = 'attendance_rehearsal'::regclass`.execute(
        engine.db,
      )
      expect(rows).toHaveLength(1)
    } finally {
      await engine.close()
    }
  },
)

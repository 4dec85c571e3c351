import { fileURLToPath } from 'node:url'
import { type Migration, sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/database/engines.ts'
import { tablesText } from '../../test/support/database/tables-text.ts'
import { CommandError } from '../errors.ts'
import { MIGRATION_NAMES, MIGRATIONS, migrate } from './migrate.ts'

/** As it is compiled, this file lies in `dist`. */
const TABLES_FILE = fileURLToPath(new URL('../../../src/db/tables.txt', import.meta.url))

describeOnBothEngines('migrate', (open, kind) => {
  test('makes the tables of db/tables.txt: after a change "npm test -- migrate -u" writes it', async () => {
    const { db } = await open()
    await expect(await tablesText(db)).toMatchFileSnapshot(TABLES_FILE)
  })

  test('applies everything once, however many start at once', async () => {
    const engines = [await open(), await open(), await open()]
    await sql.raw('drop schema public cascade; create schema public').execute(engines[0]!.db)

    const applied = await Promise.all(engines.map((engine) => migrate(engine)))

    expect(applied.flat()).toEqual(MIGRATION_NAMES)
    expect(MIGRATION_NAMES[0]).toBe('0001-first-tables')
    expect(await migrate(engines[0]!)).toEqual([])
  })

  // The embedded engine has one session at a time: no other one can lock a table.
  if (kind === 'postgres')
    test('waits for a long reader without holding up the others', async () => {
      const [engine, reader] = [await open(), await open()]
      const next: Migration = {
        up: (db) => sql`alter table parcel add column test_field text`.execute(db).then(),
      }
      let migrating: Promise<readonly string[]> | undefined

      await reader.db.transaction().execute(async (tx) => {
        await sql`select count(*) from parcel`.execute(tx)
        migrating = migrate(engine, { ...MIGRATIONS, '0002-next': next })
        // Until the migration has asked for its lock and given up at least once.
        for (let gaveUp = false; !gaveUp; ) {
          await sql`select count(*) from parcel`.execute(engine.db)
          const { rows } = await sql<{ count: string }>`
          select xact_rollback as count from pg_stat_database where datname = current_database()`.execute(
            engine.db,
          )
          gaveUp = Number(rows[0]!.count) > 0
        }
      })

      expect(await migrating).toEqual(['0002-next'])
      await sql`delete from kysely_migration where name = '0002-next'`.execute(engine.db)
    })

  test('refuses a database of a newer version', async () => {
    const engine = await open()
    await sql`insert into kysely_migration values ('9999-future', '2099-01-01T00:00:00.000Z')`.execute(
      engine.db,
    )

    const refused = await migrate(engine).catch((error) => error)

    expect(refused).toBeInstanceOf(CommandError)
    expect(refused.message).toContain('a newer version of the server (9999-future)')
    await sql`delete from kysely_migration where name = '9999-future'`.execute(engine.db)
  })
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/engines.ts'
import { CommandError } from '../errors.ts'
import { isMigrated, migrate } from './migrate.ts'

describeOnBothEngines('migrate', (open) => {
  test('applies everything once, however many start at once', async () => {
    const engines = [await open(), await open(), await open()]
    await sql.raw('drop schema public cascade; create schema public').execute(engines[0]!.db)
    expect(await isMigrated(engines[0]!)).toBe(false)

    const applied = await Promise.all(engines.map(migrate))

    expect(applied.flat()).toEqual(['0001-land', '0002-change-journal', '0003-attendance', '0004-rights'])
    expect(await isMigrated(engines[0]!)).toBe(true)
    expect(await migrate(engines[0]!)).toEqual([])
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

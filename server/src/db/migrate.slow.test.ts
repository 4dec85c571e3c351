import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/database/engines.ts'
import { type Insertion, insertClaim } from '../attendance/claims/reserve-queries.ts'
import { saveEvent } from '../attendance/events/event-queries.ts'
import { CommandError } from '../errors.ts'
import { isMigrated, MIGRATION_NAMES, MIGRATIONS, migrate } from './migrate.ts'
import * as locationAndCounts from './migrations/0005-location-and-counts.ts'

/** The migrations up to this one. */
const upTo = (last: string): Record<string, Migration> =>
  Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name <= last))

describeOnBothEngines('migrate', (open, kind) => {
  test('applies everything once, however many start at once', async () => {
    const engines = [await open(), await open(), await open()]
    await sql.raw('drop schema public cascade; create schema public').execute(engines[0]!.db)
    expect(await isMigrated(engines[0]!)).toBe(false)

    const applied = await Promise.all(engines.map(migrate))

    expect(applied.flat()).toEqual(MIGRATION_NAMES)
    expect(MIGRATION_NAMES.slice(0, 2)).toEqual(['0001-land', '0002-change-journal'])
    expect(await isMigrated(engines[0]!)).toBe(true)
    expect(await migrate(engines[0]!)).toEqual([])
  })

  // The embedded engine has one session at a time: no other one can lock a table.
  if (kind === 'postgres')
    test('waits for a long reader without holding up the others', async () => {
      const [engine, reader] = [await open(), await open()]
      await sql.raw('drop schema public cascade; create schema public').execute(engine.db)
      const first = upTo('0003-attendance')
      await new Migrator({
        db: engine.db,
        provider: { getMigrations: async () => first },
      }).migrateToLatest()
      let migrating: Promise<readonly string[]> | undefined

      await reader.db.transaction().execute(async (tx) => {
        await sql`select count(*) from parcel`.execute(tx)
        migrating = migrate(engine)
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

      expect(await migrating).toEqual(MIGRATION_NAMES.slice(3))
    })

  if (kind === 'postgres')
    test('a claim that begins in the middle waits, and the migration goes on', async () => {
      const [engine, claiming, watching] = [await open(), await open(), await open()]
      await sql.raw('drop schema public cascade; create schema public').execute(engine.db)
      let claim: Promise<Insertion> | undefined
      const claimNow = async () => {
        const ann = { eventId: 7, address: '0xann', nowMs: 0, nextStepAtMs: 0 }
        claim = insertClaim(claiming.db, ann, { request: undefined, wait: false })
        for (let isWaiting = false; !isWaiting; ) {
          const { rows } = await sql`
            select from pg_locks where not granted and relation in ('claim'::regclass, 'claim_code'::regclass)`.execute(
            watching.db,
          )
          isWaiting = rows.length > 0
        }
      }
      const claimedBetween = {
        ...MIGRATIONS,
        '0005-location-and-counts': {
          up: async (db: Kysely<never>) => {
            await locationAndCounts.up(db)
            await claimNow()
          },
        },
      }
      const migrateTo = (migrations: Record<string, Migration>) =>
        new Migrator({ db: engine.db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
      await migrateTo(upTo('0004-rights'))
      const event = { eventId: 7, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: 0 }
      await saveEvent(engine.db, event)
      await sql`insert into claim_code (event_id, fingerprint, sealed, state, created_at_ms)
        values (7, '1', '1', 'free', 0)`.execute(engine.db)

      const { error } = await migrateTo(claimedBetween)

      expect(error).toBeUndefined()
      expect(await claim).toMatchObject({ made: { address: '0xann' } })
      expect(await isMigrated(engine)).toBe(true)
    })

  if (kind === 'postgres')
    test('the migration of grants waits for a claim before it locks events, which the claim needs', async () => {
      const [engine, claiming, watching] = [await open(), await open(), await open()]
      await sql.raw('drop schema public cascade; create schema public').execute(engine.db)
      await new Migrator({
        db: engine.db,
        provider: { getMigrations: async () => upTo('0013-rehearsal') },
      }).migrateToLatest()
      let migrating: Promise<readonly string[]> | undefined
      let locked: readonly { name: string; granted: boolean }[] = []

      await claiming.db.transaction().execute(async (tx) => {
        await sql`lock table claim in row exclusive mode`.execute(tx)
        migrating = migrate(engine)
        while (!locked.some(({ name, granted }) => name === 'claim' && !granted)) {
          const { rows } = await sql<{ name: string; granted: boolean }>`
            select relation::regclass::text as name, granted from pg_locks
            where relation in ('claim'::regclass, 'attendance_event'::regclass)
              and mode in ('ShareRowExclusiveLock', 'AccessExclusiveLock')`.execute(watching.db)
          locked = rows
        }
      })

      expect(locked).toEqual([{ name: 'claim', granted: false }])
      expect(await migrating).toEqual([
        '0014-grants',
        '0015-code-numbers',
        '0016-answered-events',
        '0017-claims-of-address',
        '0018-approved-content',
        '0019-moved-events',
        '0020-named-edit-codes',
        '0021-gifts-and-guests',
        '0023-chain-completeness',
        '0024-drawn-pictures',
      ])
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

import { setTimeout } from 'node:timers/promises'
import { type Migration, Migrator, sql } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { CommandError } from '../errors.ts'
import { allowTableChanges, distributeNewTables } from './distribution.ts'
import type { Db, Engine } from './engine.ts'
import * as firstTables from './migrations/0001-first-tables.ts'
import { StatementError } from './statement-error.ts'

/**
 * All migrations, oldest first. Forward only: a database is never taken back, it is restored from an export.
 * A name that has been released is never changed and never leaves this list.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-first-tables': firstTables }
/** SQLSTATE of a statement that waited for a lock longer than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03'
/** Together about a minute. Readers queue behind a lock request that waits: it gives up soon, and is tried again. */
const LOCK_TRIES = 60
const LOCK_WAIT_MS = SECOND_MS / 4
const LOCK_PAUSE_MS = SECOND_MS

/** Their names, oldest first. */
export const MIGRATION_NAMES = Object.keys(MIGRATIONS)

/**
 * Brings the tables up to date. Of several processes that start at once, one does the work and the others wait.
 * @returns the names of the migrations that were applied by this call
 * @throws {CommandError} for a database that a newer version of the server has migrated, and when another program
 * keeps the tables locked
 */
export async function migrate({ db }: Engine, migrations = MIGRATIONS): Promise<readonly string[]> {
  const applied = await appliedNames(db)
  const names = Object.keys(migrations)
  refuseNewer(applied, names)
  // Usually nothing is left to do. Kysely's migrator would first read the whole catalogue, which takes 0.1 to 0.2 s.
  if (areAll(applied, names)) return []
  const provider = { getMigrations: async () => givingUpLocks(migrations) }
  for (let tried = 1; ; tried++) {
    const migrator = new Migrator({ db, provider })
    const { error, results = [] } = await migrator.migrateToLatest()
    if (!error) return results.map(({ migrationName }) => migrationName)
    if (!isLockTimeout(error)) throw error
    if (tried === LOCK_TRIES) throw tablesInUse()
    await setTimeout(LOCK_PAUSE_MS)
  }
}

/** The migrations, each with a limit for how long a statement of it waits for a lock. */
function givingUpLocks(migrations: Readonly<Record<string, Migration>>): Record<string, Migration> {
  const limited = ({ up }: Migration): Migration => ({
    up: async (db) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(db)
      await allowTableChanges(db)
      await up(db)
      await distributeNewTables(db)
    },
  })
  return Object.fromEntries(Object.entries(migrations).map(([name, migration]) => [name, limited(migration)]))
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof StatementError && error.code === LOCK_NOT_AVAILABLE
}

function tablesInUse(): CommandError {
  return new CommandError(
    'The tables cannot be brought up to date: another program has been using them all the time. ' +
      'Wait until an export or a backup has ended, and try again. Nothing was changed.',
  )
}

function areAll(applied: readonly string[], names: readonly string[]): boolean {
  return names.every((name) => applied.includes(name))
}

function refuseNewer(applied: readonly string[], names: readonly string[]): void {
  const unknown = applied.filter((name) => !names.includes(name))
  if (unknown.length === 0) return
  throw new CommandError(
    `This database was migrated by a newer version of the server (${unknown.join(', ')}). ` +
      'Start that version or a newer one, or use another database.',
  )
}

async function appliedNames(db: Db): Promise<readonly string[]> {
  const table = await sql<{
    oid: string | null
  }>`select to_regclass('kysely_migration')::text as oid`.execute(db)
  if (table.rows[0]?.oid == null) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

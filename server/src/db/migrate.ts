import { setTimeout } from 'node:timers/promises'
import { type Migration, Migrator, sql } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { CommandError } from '../errors.ts'
import type { Db, Engine } from './engine.ts'
import * as land from './migrations/0001-land.ts'
import * as changeJournal from './migrations/0002-change-journal.ts'
import * as attendance from './migrations/0003-attendance.ts'
import * as rights from './migrations/0004-rights.ts'
import * as locationAndCounts from './migrations/0005-location-and-counts.ts'
import * as organiserPasses from './migrations/0006-organiser-passes.ts'
import * as attendanceGuards from './migrations/0007-attendance-guards.ts'
import * as chain from './migrations/0008-chain.ts'
import * as historyNotices from './migrations/0009-history-notices.ts'
import * as closingTransactions from './migrations/0010-closing-transactions.ts'
import * as ownIssuer from './migrations/0011-own-issuer.ts'
import * as evening from './migrations/0012-evening.ts'
import * as rehearsal from './migrations/0013-rehearsal.ts'
import * as grants from './migrations/0014-grants.ts'
import * as codeNumbers from './migrations/0015-code-numbers.ts'
import * as answeredEvents from './migrations/0016-answered-events.ts'
import * as claimsOfAddress from './migrations/0017-claims-of-address.ts'
import * as approvedContent from './migrations/0018-approved-content.ts'
import * as movedEvents from './migrations/0019-moved-events.ts'
import * as namedEditCodes from './migrations/0020-named-edit-codes.ts'
import * as giftsAndGuests from './migrations/0021-gifts-and-guests.ts'
import * as chainCompleteness from './migrations/0023-chain-completeness.ts'
import * as drawnPictures from './migrations/0024-drawn-pictures.ts'
import { StatementError } from './statement-error.ts'

/**
 * All migrations, oldest first. Forward only: a database is never taken back, it is restored from an export.
 * A name that has been released is never changed and never leaves this list.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-land': land,
  '0002-change-journal': changeJournal,
  '0003-attendance': attendance,
  '0004-rights': rights,
  '0005-location-and-counts': locationAndCounts,
  '0006-organiser-passes': organiserPasses,
  '0007-attendance-guards': attendanceGuards,
  '0008-chain': chain,
  '0009-history-notices': historyNotices,
  '0010-closing-transactions': closingTransactions,
  '0011-own-issuer': ownIssuer,
  '0012-evening': evening,
  '0013-rehearsal': rehearsal,
  '0014-grants': grants,
  '0015-code-numbers': codeNumbers,
  '0016-answered-events': answeredEvents,
  '0017-claims-of-address': claimsOfAddress,
  '0018-approved-content': approvedContent,
  '0019-moved-events': movedEvents,
  '0020-named-edit-codes': namedEditCodes,
  '0021-gifts-and-guests': giftsAndGuests,
  '0023-chain-completeness': chainCompleteness,
  '0024-drawn-pictures': drawnPictures,
}
/** SQLSTATE of a statement that waited for a lock longer than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03'
/** Together about a minute. Readers are blocked only while an attempt waits for its lock. */
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = SECOND_MS

/** Their names, oldest first. */
export const MIGRATION_NAMES = Object.keys(MIGRATIONS)

/**
 * Brings the tables up to date. Of several processes that start at once, one does the work and the others wait.
 * @returns the names of the migrations that were applied by this call
 * @throws {CommandError} for a database that a newer version of the server has migrated, and when another program
 * keeps the tables locked
 */
export async function migrate({ db }: Engine): Promise<readonly string[]> {
  const applied = await appliedNames(db)
  refuseNewer(applied)
  // Usually nothing is left to do. Kysely's migrator would first read the whole catalogue, which takes 0.1 to 0.2 s.
  if (areAll(applied)) return []
  for (let tried = 1; ; tried++) {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
    const { error, results = [] } = await migrator.migrateToLatest()
    if (!error) return results.map(({ migrationName }) => migrationName)
    if (!isLockTimeout(error)) throw error
    if (tried === LOCK_TRIES) throw tablesInUse()
    await setTimeout(LOCK_PAUSE_MS)
  }
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

/** Whether every migration has been applied. */
export async function isMigrated({ db }: Engine): Promise<boolean> {
  return areAll(await appliedNames(db))
}

function areAll(applied: readonly string[]): boolean {
  return MIGRATION_NAMES.every((name) => applied.includes(name))
}

function refuseNewer(applied: readonly string[]): void {
  const unknown = applied.filter((name) => !(name in MIGRATIONS))
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

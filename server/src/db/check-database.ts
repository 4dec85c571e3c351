import { sql } from 'kysely'
import type { Engine } from './engine.ts'
import { databaseFull, databaseReadOnly } from './statement-error.ts'

/**
 * Whether the database does its work, in one short statement.
 *
 * @param needs.writes whether it also has to accept changes: not a standby, not set to read-only, and no write failed
 * for want of disk space in the last seconds
 * @throws {AppError} `database_unavailable`, `database_read_only` or `database_full`
 * @example
 * await checkDatabase(engine, { writes: true })
 */
export async function checkDatabase(engine: Engine, needs: { readonly writes: boolean }): Promise<void> {
  // On in a transaction of a standby, and where default_transaction_read_only is
  const { rows } = await sql<{ read_only: string }>`
    select current_setting('transaction_read_only') as read_only`.execute(engine.db)
  if (!needs.writes) return
  if (rows[0]?.read_only === 'on') throw databaseReadOnly('transaction_read_only is on')
  if (engine.refusedWrites() === 'database_full') throw databaseFull('a write failed some seconds ago')
}

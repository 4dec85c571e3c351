import { type Kysely, sql } from 'kysely'

/**
 * `chain_position.completeness`: how far the land of the world has been compared with the contracts, in JSON; null before the
 * first comparison.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table chain_position add column completeness text`,
  `set local lock_timeout = default`,
]

import { type Kysely, sql } from 'kysely'

/**
 * `chain_position.completeness`: how far the land of the world has been compared with the contracts, in JSON; null before the
 * first comparison.
 * `estate.registry_order`: the order in which the registry keeps the parcels of an estate, where that is another one than the order in
 * which they joined.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table chain_position add column completeness text`,
  `alter table estate add column registry_order text`,
  `set local lock_timeout = default`,
]

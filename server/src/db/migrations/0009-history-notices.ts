import { type Kysely, sql } from 'kysely'

/**
 * - `chain_history`: which processes read the history of the chain, and how far they are, so that every server can say so.
 *   A row is valid until its lease ends, by the clock of the database.
 * - Indexes for the land of an owner: each logged right over all land of an owner is written on every asset of that owner.
 *   A table that an import of the version before fills gets its index when it becomes a partition.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Writers queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `create index parcel_by_owner on parcel (owner) where owner is not null`,
  `create index estate_by_owner on estate (owner)`,
  `create table chain_history (
    holder text primary key,
    network text not null,
    chain_id bigint not null,
    progress text not null,
    lease_until_ms bigint not null
  )`,
  `set local lock_timeout = default`,
]

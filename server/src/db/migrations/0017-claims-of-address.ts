import { type Kysely, sql } from 'kysely'

/** `claim_minted_by_address`: finds what an address has claimed of events of the other issuer. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `create index claim_minted_by_address on claim (address, created_at_ms)
    where state = 'minted' and event_id < 2000000000`,
  `set local lock_timeout = default`,
]

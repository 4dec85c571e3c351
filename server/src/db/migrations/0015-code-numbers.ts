import { type Kysely, sql } from 'kysely'

/**
 * `claim_code.number`: the number of the token that a code of our own issuer becomes, which is no secret. A claim then needs no
 * decrypted code to store its token. Null for codes of the other issuer, and for codes that the version before has stored or
 * stores meanwhile: servers number them within a minute (attendance/codes/number-codes.ts), and until then their tokens are
 * signed in a step of their own.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Claims queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  'alter table claim_code add column number integer',
  `create index claim_code_unnumbered on claim_code (id) where number is null and event_id >= 2000000000`,
  `set local lock_timeout = default`,
]

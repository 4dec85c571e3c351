import { type Kysely, sql } from 'kysely'

/**
 * Organisers who cannot be locked out by the wrong edit codes of others (attendance/edit-code-guard.ts): each guess has a
 * budget, a paid one names the challenge that was solved for it, and the passes of an event can be revoked.
 *
 * A server of the version before goes on: its guesses get the budget `open`, and it counts all guesses of an event
 * together, which refuses more than it has to.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Guesses queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table edit_code_guess add column budget text not null default 'open', add column challenge text unique`,
  `create table organiser_pass_generation (
    event_id integer primary key,
    generation integer not null
  )`,
  `set local lock_timeout = default`,
]

import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { IssuerError } from './issuer.ts'

/** How many failures of the issuer are stored for each event. */
export const MAX_STORED_FAILURES = 20

/** Stores a failure of the issuer for an event, and deletes the oldest beyond {@link MAX_STORED_FAILURES}. */
export async function addFailure(db: Db, eventId: number, error: IssuerError, nowMs: number): Promise<void> {
  await db
    .insertInto('issuer_failure')
    .values({
      event_id: eventId,
      at_ms: nowMs,
      call: error.call,
      kind: error.kind,
      status: error.status ?? null,
    })
    .execute()
  await sql`
    delete from issuer_failure where event_id = ${eventId} and id not in (
      select id from issuer_failure where event_id = ${eventId} order by at_ms desc, id desc limit ${MAX_STORED_FAILURES}
    )`.execute(db)
}

export async function lastFailures(db: Db, eventId: number) {
  return db
    .selectFrom('issuer_failure')
    .select(['at_ms', 'call', 'kind', 'status'])
    .where('event_id', '=', eventId)
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_STORED_FAILURES)
    .execute()
}

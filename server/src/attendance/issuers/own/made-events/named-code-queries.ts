import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../../../db/engine.ts'
import type { Tx } from '../../../../db/transaction.ts'

/** How many codes that ended an event keeps. */
const MAX_ENDED = 20

/** The codes of an event, also those that ended, the newest first. */
export function listCodes(db: Db, eventId: number) {
  return db
    .selectFrom('event_edit_code')
    .select(['name', 'made_at_ms', 'ended_at_ms'])
    .where('event_id', '=', eventId)
    .orderBy('made_at_ms', 'desc')
    .orderBy('id')
    .execute()
}

/** Hashes of the named codes of an event that are valid. */
export async function validHashes(db: Db, eventId: number): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('event_edit_code')
    .select('code_hash')
    .where('event_id', '=', eventId)
    .where('code_hash', 'is not', null)
    .execute()
  return rows.flatMap(({ code_hash }) => (code_hash ? [Buffer.from(code_hash)] : []))
}

/** Names of the valid codes of an event, whose row in `made_event` is locked until the transaction ends. */
export async function lockNames(tx: Tx, eventId: number): Promise<readonly string[]> {
  await tx.selectFrom('made_event').select('event_id').where('event_id', '=', eventId).forUpdate().execute()
  const rows = await tx
    .selectFrom('event_edit_code')
    .select('name')
    .where('event_id', '=', eventId)
    .where('ended_at_ms', 'is', null)
    .execute()
  return rows.flatMap(({ name }) => name ?? [])
}

/** @param code `name`: null for a first code, which ends the one before */
export async function insertCode(
  tx: Tx,
  eventId: number,
  {
    name,
    hash,
    nowMs,
  }: { readonly name: string | null; readonly hash: Buffer | null; readonly nowMs: number },
): Promise<void> {
  await tx
    .insertInto('event_edit_code')
    .values({
      ...{ id: randomUUID(), event_id: eventId, name, code_hash: hash },
      ...{ made_at_ms: nowMs, ended_at_ms: null },
    })
    .execute()
}

/** @param name null for the first code */
export async function endCode(
  tx: Tx,
  eventId: number,
  { name, nowMs }: { readonly name: string | null; readonly nowMs: number },
): Promise<void> {
  await tx
    .updateTable('event_edit_code')
    .set({ code_hash: null, ended_at_ms: nowMs })
    .where('event_id', '=', eventId)
    .where('name', name === null ? 'is' : '=', name)
    .where('ended_at_ms', 'is', null)
    .execute()
  await sql`delete from event_edit_code where event_id = ${eventId} and ended_at_ms is not null and id not in (
    select id from event_edit_code where event_id = ${eventId} and ended_at_ms is not null
    order by ended_at_ms desc, id limit ${MAX_ENDED})`.execute(tx)
}

/** The maker's code of an event is another one from now on. @returns false for an event that was not made here */
export async function replaceFirstCode(tx: Tx, eventId: number, hash: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('made_event')
    .set({ edit_code_hash: hash, is_answered: true })
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

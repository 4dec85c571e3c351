import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { ClaimCodeTable, CodeState } from '../../db/schema.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { ListedCode } from '../issuer/issuer.ts'
import { parseOwnCode } from '../issuer/own-codes.ts'
import { FIRST_OWN_EVENT_ID, isOwnEvent } from '../issuer/own-event-ids.ts'
import { lockCodes } from '../seal-queries.ts'
import type { Vault } from '../vault.ts'

/** Rows of one statement: six parameters each, far below the 65,535 that a statement may have. */
const BATCH_ROWS = 500

interface CodesOfEvent {
  readonly eventId: number
  readonly listed: readonly ListedCode[]
  readonly nowMs: number
}

/**
 * Merges the list of the issuer: adds new codes, marks free codes that were used elsewhere, and frees those codes that
 * the issuer now lists as unused after it had called them used, unknown or expired. No claim holds such a code, and each
 * step of a claim reads its code before it asks for a token. All other stored codes stay as they are, also codes of
 * another event. Works in small statements, so that claims can run between them.
 *
 * @returns how many codes are new
 */
export async function mergeCodes(
  db: Db,
  vault: Vault,
  { eventId, listed, nowMs }: CodesOfEvent,
): Promise<number> {
  const codes = listed.map(({ code, isClaimed }) => ({
    code,
    isClaimed,
    fingerprint: vault.fingerprint('claim-code', code),
    others: vault.otherFingerprints('claim-code', code),
  }))
  // All processes write in the same order: no deadlock between two of them. Codes that are made here are listed by number, and
  // claims take the first free one: so tokens are numbered from 1
  if (!isOwnEvent(eventId)) codes.sort((a, b) => Buffer.compare(a.fingerprint, b.fingerprint))
  let added = 0
  for (let from = 0; from < codes.length; from += BATCH_ROWS) {
    const batch = codes.slice(from, from + BATCH_ROWS)
    const rows = batch.map(({ code, isClaimed, fingerprint, others }) => ({
      others,
      row: {
        event_id: eventId,
        fingerprint,
        sealed: vault.seal('claim-code', code, String(eventId)),
        number: parseOwnCode(code)?.number ?? null,
        state: isClaimed ? ('used_elsewhere' as const) : ('free' as const),
        created_at_ms: nowMs,
      },
    }))
    added += vault.hasOtherKeys
      ? await inTransaction(db, (tx) => insertUnknown(tx, rows))
      : await insertRows(
          db,
          rows.map(({ row }) => row),
        )
    const fingerprintsOf = (claimed: boolean) =>
      batch
        .filter(({ isClaimed }) => isClaimed === claimed)
        .flatMap(({ fingerprint, others }) => [fingerprint, ...others])
    await changeState(db, {
      eventId,
      fingerprints: fingerprintsOf(true),
      from: ['free'],
      to: 'used_elsewhere',
    })
    const unused = fingerprintsOf(false)
    await changeState(db, { eventId, fingerprints: unused, from: ['void', 'used_elsewhere'], to: 'free' })
  }
  await db
    .updateTable('attendance_event')
    .set({ codes_asked_at_ms: nowMs })
    .where('event_id', '=', eventId)
    .execute()
  return added
}

/**
 * Voids the free codes of an event that was made here beyond what the operator approved: all of them where the event was
 * refused, or those with numbers above its supply.
 */
export async function voidUnapproved(db: Db, eventId: number): Promise<void> {
  await db
    .updateTable('claim_code')
    .set({ state: 'void' })
    .where('event_id', '=', eventId)
    .where('state', '=', 'free')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('made_event')
          .select('event_id')
          .where('event_id', '=', eventId)
          .where(({ eb, or, ref }) =>
            or([eb('approval', '!=', 'approved'), eb('supply', '<', ref('claim_code.number'))]),
          ),
      ),
    )
    .execute()
}

/** Codes of our own issuer that were stored without their numbers, with higher ids than `after`: at most a batch. */
export function unnumberedCodes(db: Db, after: number) {
  return db
    .selectFrom('claim_code')
    .select(['id', 'event_id', 'sealed'])
    .where('number', 'is', null)
    .where('event_id', '>=', sql.lit(FIRST_OWN_EVENT_ID)) // a constant, as in the index
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH_ROWS)
    .execute()
}

export async function storeNumbers(
  db: Db,
  codes: readonly { readonly id: number; readonly number: number }[],
): Promise<void> {
  const [ids, numbers] = [codes.map(({ id }) => id), codes.map(({ number }) => number)]
  await sql`
    update claim_code set number = read.number from unnest(${ids}::bigint[], ${numbers}::integer[]) as read (id, number)
    where claim_code.id = read.id`.execute(db)
}

type NewCode = Omit<Selectable<ClaimCodeTable>, 'id'>

/** Codes that are not stored with the current key. @returns how many were inserted */
async function insertRows(db: Db, rows: readonly NewCode[]): Promise<number> {
  if (rows.length === 0) return 0
  const inserted = await db
    .insertInto('claim_code')
    .values(rows)
    .onConflict((conflict) => conflict.column('fingerprint').doNothing())
    .returning('id')
    .execute()
  return inserted.length
}

/** While keys are being changed: a code that is stored with another key is not inserted a second time. */
async function insertUnknown(
  tx: Db,
  rows: readonly { readonly row: NewCode; readonly others: readonly Buffer[] }[],
): Promise<number> {
  await lockCodes(tx)
  const stored = await tx
    .selectFrom('claim_code')
    .select('fingerprint')
    .where(
      'fingerprint',
      'in',
      // The current ones too, although the constraint compares them: `landpass reseal` may change a row between two statements
      rows.flatMap(({ row, others }) => [row.fingerprint, ...others]),
    )
    .execute()
  const known = new Set(stored.map(({ fingerprint }) => fingerprint.toString('hex')))
  const isKnown = (fingerprint: Buffer) => known.has(fingerprint.toString('hex'))
  const unknown = rows.filter(({ row, others }) => ![row.fingerprint, ...others].some(isKnown))
  return insertRows(
    tx,
    unknown.map(({ row }) => row),
  )
}

interface StateChange {
  readonly eventId: number
  readonly fingerprints: readonly Buffer[]
  readonly from: readonly CodeState[]
  readonly to: CodeState
}

/** Changes only codes in the states `from`: the state of a code that a claim holds depends on that claim. */
async function changeState(db: Db, { eventId, fingerprints, from, to }: StateChange): Promise<void> {
  if (fingerprints.length === 0) return
  await db
    .updateTable('claim_code')
    .set({ state: to })
    .where('event_id', '=', eventId)
    .where('fingerprint', 'in', fingerprints)
    .where('state', 'in', from)
    .execute()
}

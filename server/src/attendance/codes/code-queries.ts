import type { Db } from '../../db/engine.ts'
import type { CodeState } from '../../db/schema.ts'
import type { ListedCode } from '../issuer/issuer.ts'
import type { Vault } from '../vault.ts'

/** Rows of one statement: six parameters each, far below the 65,535 that a statement may have. */
const BATCH_ROWS = 500

interface CodesOfEvent {
  readonly eventId: number
  readonly listed: readonly ListedCode[]
  readonly nowMs: number
}

/**
 * Merges the list of the issuer: adds new codes, marks free codes that were used elsewhere, and frees void codes that
 * the issuer now lists as unused. All other stored codes stay as they are, also codes of another event. Works in small
 * statements, so that claims can run between them.
 *
 * @returns how many codes are new
 */
export async function mergeCodes(
  db: Db,
  vault: Vault,
  { eventId, listed, nowMs }: CodesOfEvent,
): Promise<number> {
  const codes = listed
    .map(({ code, isClaimed }) => ({ code, isClaimed, fingerprint: vault.fingerprint('claim-code', code) }))
    // All processes write in the same order: no deadlock between two of them
    .sort((a, b) => Buffer.compare(a.fingerprint, b.fingerprint))
  let added = 0
  for (let from = 0; from < codes.length; from += BATCH_ROWS) {
    const batch = codes.slice(from, from + BATCH_ROWS)
    const rows = batch.map(({ code, isClaimed, fingerprint }) => ({
      event_id: eventId,
      fingerprint,
      sealed: vault.seal('claim-code', code),
      state: isClaimed ? ('used_elsewhere' as const) : ('free' as const),
      created_at_ms: nowMs,
    }))
    const inserted = await db
      .insertInto('claim_code')
      .values(rows)
      .onConflict((conflict) => conflict.column('fingerprint').doNothing())
      .returning('id')
      .execute()
    added += inserted.length
    const fingerprintsOf = (claimed: boolean) =>
      batch.filter(({ isClaimed }) => isClaimed === claimed).map(({ fingerprint }) => fingerprint)
    await changeState(db, { eventId, fingerprints: fingerprintsOf(true), from: 'free', to: 'used_elsewhere' })
    await changeState(db, { eventId, fingerprints: fingerprintsOf(false), from: 'void', to: 'free' })
  }
  await db
    .updateTable('attendance_event')
    .set({ codes_asked_at_ms: nowMs })
    .where('event_id', '=', eventId)
    .execute()
  return added
}

/** Any stored code, encrypted; undefined when there is none. */
export async function findAnySealed(db: Db): Promise<Buffer | undefined> {
  const row = await db.selectFrom('claim_code').select('sealed').orderBy('id').limit(1).executeTakeFirst()
  return row?.sealed
}

interface StateChange {
  readonly eventId: number
  readonly fingerprints: readonly Buffer[]
  readonly from: CodeState
  readonly to: CodeState
}

/** Changes only codes in the state `from`: the state of a code that a claim holds depends on that claim. */
async function changeState(db: Db, { eventId, fingerprints, from, to }: StateChange): Promise<void> {
  if (fingerprints.length === 0) return
  await db
    .updateTable('claim_code')
    .set({ state: to })
    .where('event_id', '=', eventId)
    .where('fingerprint', 'in', fingerprints)
    .where('state', '=', from)
    .execute()
}

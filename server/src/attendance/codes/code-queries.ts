import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { CodeState } from '../../db/schema.ts'
import { inTransaction } from '../../db/transaction.ts'
import { countMoves } from '../events/event-count-queries.ts'
import type { ListedCode } from '../issuers/issuer.ts'
import { lockCodes } from '../secrets/encryption-queries.ts'
import type { Vault } from '../secrets/vault.ts'

/** Codes of one statement, some 5 ms of work: other requests run between two of them. */
const BATCH_ROWS = 250

interface CodesOfEvent {
  readonly eventId: number
  readonly listed: readonly ListedCode[]
  readonly nowMs: number
}

/**
 * Merges the list of the issuer: adds new codes, marks free codes that were used elsewhere, and frees those codes that
 * the issuer now lists as unused after it had called them used, unknown or expired. No claim holds such a code, and each
 * step of a claim reads its code before it asks for a token. All other stored codes stay as they are. Works in small statements, so that claims can run between them, and only new codes are encrypted and sent.
 *
 * @returns how many codes are new
 */
export async function mergeCodes(
  db: Db,
  vault: Vault,
  { eventId, listed, nowMs }: CodesOfEvent,
): Promise<number> {
  const named = await fingerprinted(vault, listed)
  // All processes write in the same order: no deadlock between two of them
  named.sort((a, b) => Buffer.compare(a.fingerprint, b.fingerprint))
  let added = 0
  for (let from = 0; from < named.length; from += BATCH_ROWS) {
    const batch = named.slice(from, from + BATCH_ROWS)
    const merge = (tx: Db) => mergeBatch(tx, vault, { eventId, batch, nowMs })
    // While keys are being changed, a code that is stored with another key must not be inserted a second time
    added += vault.hasOtherKeys
      ? await inTransaction(db, (tx) => lockCodes(tx).then(() => merge(tx)))
      : await merge(db)
  }
  await db
    .updateTable('attendance_event')
    .set({ codes_asked_at_ms: nowMs })
    .where('event_id', '=', eventId)
    .execute()
  return added
}

interface NamedCode extends ListedCode {
  /** With the current key. */
  readonly fingerprint: Buffer
  /** With all keys, the current one first. */
  readonly fingerprints: readonly Buffer[]
}

/** Names the codes as they are stored. Yields to the event loop. */
async function fingerprinted(vault: Vault, listed: readonly ListedCode[]): Promise<NamedCode[]> {
  const named: NamedCode[] = []
  for (const [at, { code, isClaimed }] of listed.entries()) {
    if (at > 0 && at % BATCH_ROWS === 0) await setImmediate()
    const fingerprint = vault.fingerprint('claim-code', code)
    const fingerprints = [fingerprint, ...vault.otherFingerprints('claim-code', code)]
    named.push({ code, isClaimed, fingerprint, fingerprints })
  }
  return named
}

interface Batch {
  readonly eventId: number
  readonly batch: readonly NamedCode[]
  readonly nowMs: number
}

async function mergeBatch(db: Db, vault: Vault, { eventId, batch, nowMs }: Batch): Promise<number> {
  const { rows: stored } = await sql<{ fingerprint: Buffer; state: CodeState }>`
    select known.* from unnest(${batch.flatMap(({ fingerprints }) => fingerprints)}::bytea[]) as given (fingerprint)
    cross join lateral ( -- a look into the index for each, or all codes of the event would be read
      select fingerprint, state from claim_code
      where event_id = ${eventId} and claim_code.fingerprint = given.fingerprint limit 1
    ) as known`.execute(db)
  const storedAs = new Map(stored.map((row) => [row.fingerprint.toString('hex'), row]))
  const rowOf = ({ fingerprints }: NamedCode) =>
    fingerprints.map((fingerprint) => storedAs.get(fingerprint.toString('hex'))).find((row) => row)
  const unknown = batch.filter((code) => !rowOf(code))
  const storedIn = (from: CodeState, areClaimed: boolean) =>
    batch
      .filter(({ isClaimed }) => isClaimed === areClaimed)
      .flatMap((code) => rowOf(code) ?? [])
      .filter(({ state }) => state === from)
      .map(({ fingerprint }) => fingerprint)
  for (const { from, to, areClaimed } of CHANGES)
    await changeState(db, { eventId, fingerprints: storedIn(from, areClaimed), from, to })
  // Last, because the counts of the event stay locked until the end of a transaction
  return insertCodes(db, vault, { eventId, batch: unknown, nowMs })
}

/** What becomes of a stored code that the issuer lists as claimed, or not. */
const CHANGES: readonly (Pick<StateChange, 'from' | 'to'> & { readonly areClaimed: boolean })[] = [
  { areClaimed: true, from: 'free', to: 'used_elsewhere' },
  { areClaimed: false, from: 'void', to: 'free' },
  { areClaimed: false, from: 'used_elsewhere', to: 'free' },
]

/** One parameter for each column: a statement with one for each value takes several times as long. @returns how many were inserted */
async function insertCodes(db: Db, vault: Vault, { eventId, batch, nowMs }: Batch): Promise<number> {
  if (batch.length === 0) return 0
  const fingerprints = batch.map(({ fingerprint }) => fingerprint)
  const encrypted = batch.map(({ code }) => vault.encrypt('claim-code', code, String(eventId)))
  const states = batch.map(({ isClaimed }) => (isClaimed ? 'used_elsewhere' : 'free'))
  const { rows } = await sql<{ count: number }>`
    with added as (
      insert into claim_code (event_id, fingerprint, encrypted, state, created_at_ms)
      select ${eventId}::integer, fingerprint, encrypted, state, ${nowMs}::bigint
      from unnest(${fingerprints}::bytea[], ${encrypted}::bytea[], ${states}::text[])
        with ordinality as new (fingerprint, encrypted, state, position)
      order by position
      on conflict (event_id, fingerprint) do nothing returning event_id, state
    ), ${COUNT_ADDED} select count(*)::integer as count from added cross join counted`.execute(db)
  return rows[0]!.count
}

const COUNT_ADDED = countMoves(
  { rows: "added where state = 'free'", of: 'codes', to: 'free' },
  { rows: "added where state = 'used_elsewhere'", of: 'codes', to: 'used_elsewhere' },
)

interface StateChange {
  readonly eventId: number
  readonly fingerprints: readonly Buffer[]
  readonly from: CodeState
  readonly to: CodeState
}

/** Changes only codes in the state `from`: the state of a code that a claim holds depends on that claim. */
async function changeState(db: Db, { eventId, fingerprints, from, to }: StateChange): Promise<void> {
  if (fingerprints.length === 0) return
  await sql`
    with changed as (
      update claim_code set state = ${to} where event_id = ${eventId}
        and fingerprint = any(${fingerprints}::bytea[]) and state = ${from} returning event_id
    ), ${countMoves({ rows: 'changed', of: 'codes', from, to })}
    select from changed cross join counted`.execute(db)
}

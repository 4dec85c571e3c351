import { type RawBuilder, sql } from 'kysely'
import { allowTableChanges } from '../db/distribution.ts'
import type { Db } from '../db/engine.ts'
import type { ClaimState } from '../db/schema.ts'
import { inSnapshot, inTransaction, type Tx } from '../db/transaction.ts'
import { findClaim } from './claims/claim-queries.ts'
import { countMoves } from './events/event-count-queries.ts'
import { getEvent } from './events/event-queries.ts'
import { isoText, windowOf } from './events/openness.ts'
import { noteSignedTokens } from './issuers/own/log/token-log-queries.ts'

/**
 * What an operator removes for good: an event, or what is stored of a player. Each is one transaction, while servers run.
 *
 * Two things of a token stay, which name neither player nor event: its entry in the public log, which is append-only, and its
 * entry in the list of revocations, without the reason. So a removed token is checked as before by those who hold its file.
 */

/** Removed rows by table; a table without any is left out. */
export type RemovedRows = Readonly<Record<string, number>>

export interface RemovalOptions {
  readonly nowMs: number
  /** Only counts the rows. */
  readonly isDryRun: boolean
}

/** A claim that stays for now, with its token: without it, the player could claim a second token. */
export interface KeptAtEvent {
  readonly event: number
  /** `unfinished`: the issuer may still make its token. `open`: the event can still give out tokens. */
  readonly because: 'unfinished' | 'open'
  /** When the event stops giving out tokens, in RFC 3339; null where it has no end. */
  readonly until: string | null
}

export interface PlayerRemoval {
  readonly rows: RemovedRows
  readonly kept: readonly KeptAtEvent[]
}

/**
 * Rows of an event, those that refer to others first. Not here: `seen_request` and `edit_code_guess`, which are deleted after
 * minutes, and `organiser_pass_generation`: without its number, withdrawn passes would be valid for an event that is registered again.
 */
const TABLES_OF_EVENT = [
  'captcha',
  'attendance_grant',
  'grant_secret',
  'attendance_gift',
  'attendance_blocked',
  'attendance_rehearsal',
  'attendance_refusal',
  'issuer_failure',
  'event_hold',
  'code_load',
  'token',
  'claim',
  'claim_code',
  'event_count',
  'event_place',
  'event_edit_code',
  'made_event_change',
  'made_event',
  'attendance_event',
] as const
type Table = (typeof TABLES_OF_EVENT)[number]

/** Rows of a player, by event and address: nothing that prevents a second token. */
const REMOVED_AT_ONCE = ['attendance_gift', 'attendance_rehearsal', 'attendance_grant'] as const

const FINISHED: readonly ClaimState[] = ['minted', 'failed', 'released']
const COUNT_REMOVED = countMoves(
  ...FINISHED.map((from) => ({ rows: `removed where state = '${from}'`, of: 'claims' as const, from })),
)

/**
 * Removes an event with all that belongs to it: codes, claims, tokens, grants, counts. Claims of it wait for the end of the
 * transaction, and then find no event. An event that is not there has no rows.
 *
 * @example
 * await removeEvent(db, 2_000_000_001, { nowMs: Date.now(), isDryRun: true }) // { claim: 3, token: 3, event_count: 2, … }
 */
export function removeEvent(
  db: Db,
  eventId: number,
  { nowMs, isDryRun }: RemovalOptions,
): Promise<RemovedRows> {
  return inWork(db, isDryRun, async (tx) => {
    const rows = new Rows(tx, isDryRun)
    const ofEvent = sql<boolean>`event_id = ${eventId}`
    if (!isDryRun) {
      await lockEvent(tx, ofEvent)
      await noteSignedTokens(tx, nowMs)
      await keepRevocations(tx, ofEvent)
    }
    for (const table of TABLES_OF_EVENT) await rows.remove(table, ofEvent)
    return rows.counts
  })
}

/**
 * Removes what is stored of a player. A claim that could become, or be followed by, a token stays until its event is over;
 * so does what blocks the player there.
 *
 * @param address in lower case
 */
export function removePlayer(
  db: Db,
  address: string,
  { nowMs, isDryRun }: RemovalOptions,
): Promise<PlayerRemoval> {
  return inWork(db, isDryRun, async (tx) => {
    const rows = new Rows(tx, isDryRun)
    if (!isDryRun) await noteSignedTokens(tx, nowMs)
    await rows.remove('captcha', sql`address = ${address}`)
    for (const table of REMOVED_AT_ONCE)
      for (const eventId of await eventsWith(tx, table, address)) {
        const isUnused = table === 'attendance_grant' ? sql` and claim_id is null` : sql``
        await rows.remove(table, sql`event_id = ${eventId} and address = ${address}${isUnused}`)
      }
    const events = [
      ...(await eventsWith(tx, 'claim', address)),
      ...(await eventsWith(tx, 'attendance_blocked', address)),
    ]
    const kept: KeptAtEvent[] = []
    for (const eventId of new Set(events.sort((a, b) => a - b))) {
      const keptHere = await whatIsKept(tx, eventId, { address, nowMs })
      if (keptHere) kept.push(keptHere)
      else await removeFromEvent(tx, rows, { eventId, address, isDryRun })
    }
    return { rows: rows.counts, kept }
  })
}

function inWork<T>(db: Db, isDryRun: boolean, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (isDryRun) return inSnapshot(db, work)
  return inTransaction(db, async (tx) => {
    // The log reads the tokens of all events, and then rows change that each node has
    await allowTableChanges(tx)
    return work(tx)
  })
}

/** Deletes rows and counts them; in a dry run it only counts. */
class Rows {
  readonly counts: Record<string, number> = {}
  private readonly tx: Tx
  private readonly isDryRun: boolean
  constructor(tx: Tx, isDryRun: boolean) {
    this.tx = tx
    this.isDryRun = isDryRun
  }

  async remove(table: Table, condition: RawBuilder<unknown>): Promise<void> {
    if (this.isDryRun) await this.count(table, condition)
    else {
      const result = await sql`delete from ${sql.table(table)} where ${condition}`.execute(this.tx)
      this.add(table, Number(result.numAffectedRows))
    }
  }

  async count(table: Table, condition: RawBuilder<unknown>): Promise<void> {
    const { rows } = await sql<{ count: string | number }>`
      select count(*) as count from ${sql.table(table)} where ${condition}`.execute(this.tx)
    this.add(table, Number(rows[0]!.count))
  }

  add(table: Table, count: number): void {
    if (count > 0) this.counts[table] = (this.counts[table] ?? 0) + count
  }
}

/**
 * Waits for claims of the event that are being stored; others find neither place nor free code, and no token gets its signature.
 * The row of the event is the last, because rows that are being inserted refer to it.
 */
async function lockEvent(tx: Tx, ofEvent: RawBuilder<boolean>): Promise<void> {
  await sql`select from made_event where ${ofEvent} for update`.execute(tx)
  await sql`select from event_place where ${ofEvent} for update`.execute(tx)
  await sql`select count(*) from (
    select id from claim_code where ${ofEvent} and state = 'free' for update) as code`.execute(tx)
  await sql`select from token where ${ofEvent} and signature is null for update`.execute(tx)
  await sql`select from attendance_event where ${ofEvent} for update`.execute(tx)
}

async function keepRevocations(tx: Tx, ofTokens: RawBuilder<boolean>): Promise<void> {
  await sql`
    insert into removed_revocation (uid, signer, revoked_at_s)
    select uid, signer, revoked_at_s from token where ${ofTokens} and revoked_at_s is not null`.execute(tx)
}

async function eventsWith(
  tx: Tx,
  table: (typeof REMOVED_AT_ONCE)[number] | 'claim' | 'attendance_blocked',
  address: string,
): Promise<readonly number[]> {
  const rows = await tx.selectFrom(table).select('event_id').where('address', '=', address).execute()
  return [...new Set(rows.map(({ event_id }) => event_id))]
}

/** Undefined where the event is over, and the claim too. */
async function whatIsKept(
  tx: Tx,
  eventId: number,
  { address, nowMs }: { readonly address: string; readonly nowMs: number },
): Promise<KeptAtEvent | undefined> {
  const { closesAtMs } = windowOf(await getEvent(tx, { eventId }))
  const claim = await findClaim(tx, eventId, address)
  const isUnfinished = claim !== undefined && !FINISHED.includes(claim.state)
  const isOver = closesAtMs !== undefined && closesAtMs <= nowMs
  if (isOver && !isUnfinished) return undefined
  return { event: eventId, because: isUnfinished ? 'unfinished' : 'open', until: isoText(closesAtMs) }
}

async function removeFromEvent(
  tx: Tx,
  rows: Rows,
  {
    eventId,
    address,
    isDryRun,
  }: { readonly eventId: number; readonly address: string; readonly isDryRun: boolean },
): Promise<void> {
  const ofPlayer = sql<boolean>`event_id = ${eventId} and address = ${address}`
  if (!isDryRun) await keepRevocations(tx, ofPlayer)
  const usedGrant = sql`${ofPlayer} and claim_id is not null`
  await rows.remove('attendance_grant', usedGrant)
  await rows.remove('attendance_blocked', ofPlayer)
  await rows.remove('token', ofPlayer)
  if (isDryRun) return rows.count('claim', ofPlayer)
  const removed = await sql`
    with removed as (
      delete from claim where ${ofPlayer} returning event_id, state, created_at_ms
    ), ${COUNT_REMOVED}
    select from removed cross join counted`.execute(tx)
  rows.add('claim', removed.rows.length)
}

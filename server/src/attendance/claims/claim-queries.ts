import { type RawBuilder, type Selectable, sql } from 'kysely'
import { SECOND_MS } from '../../clock.ts'
import { exceptEvents, FailedEvents, readAllEvents } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState, ClaimTable, CodeState } from '../../db/schema.ts'
import { byKey } from '../../work/batches.ts'
import { countMoves } from '../events/event-count-queries.ts'
import { type EventHold, type HeldEvent, isHeld } from '../events/hold-queries.ts'
import { countPlaces, hasFreePlace } from '../events/place-queries.ts'
import { FIRST_OWN_EVENT_ID, isOwnEvent } from '../issuers/own/own-event-ids.ts'

export type Claim = Selectable<ClaimTable>

/** A claim with a lease of this process, and the code that it holds; null where the event was made here, whose claims have none. */
export interface HeldClaim {
  readonly id: number
  readonly eventId: number
  readonly address: string
  readonly state: ClaimState
  readonly attempts: number
  readonly codeId: number | null
  /** The code, encrypted. */
  readonly encrypted: Buffer | null
  /** Whether the issuer was asked before for a token with this code, and may have made one. */
  readonly wasAsked: boolean
  readonly lease: Lease
}

/**
 * The right of one process to move a claim. Its end is also its name: a process that takes the claim over sets a later
 * one.
 */
export interface Lease {
  untilMs: number
}

export async function findClaim(db: Db, eventId: number, address: string): Promise<Claim | undefined> {
  return db
    .selectFrom('claim')
    .selectAll()
    .where('event_id', '=', eventId)
    .where('address', '=', address)
    .executeTakeFirst()
}

/** Whether a code or a place of an event is free; a code that an open transaction is taking counts as free. */
export async function hasFreeCode(db: Db, eventId: number): Promise<boolean> {
  const isFree = isOwnEvent(eventId)
    ? hasFreePlace(eventId)
    : sql<boolean>`exists (select from claim_code where event_id = ${eventId} and state = 'free')`
  const { rows } = await sql<{ is_free: boolean }>`select ${isFree} as is_free`.execute(db)
  return rows[0]!.is_free
}

/** Whether the organiser has loaded the issuer's list of codes at or after `sinceMs`. */
export async function wereCodesListed(db: Db, eventId: number, sinceMs: number): Promise<boolean> {
  const row = await db
    .selectFrom('attendance_event')
    .select('event_id')
    .where('event_id', '=', eventId)
    .where('codes_asked_at_ms', '>=', sinceMs)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether the event has any code, in whatever state, or any place. */
export async function hasCode(db: Db, eventId: number): Promise<boolean> {
  if (isOwnEvent(eventId)) {
    const { places = 0, taken = 0 } = (await countPlaces(db, eventId)) ?? {}
    return places + taken > 0
  }
  const query = db.selectFrom('claim_code').select('id').where('event_id', '=', eventId).limit(1)
  return (await query.executeTakeFirst()) !== undefined
}

export interface TakeDue {
  readonly nowMs: number
  /** No other process takes the claims before this time. */
  readonly leaseUntilMs: number
  readonly limit: number
}

/** A claim whose step was due. */
export interface DueClaim extends HeldClaim {
  /** When: the end of the earlier lease, if the step of that lease has written nothing since. */
  readonly dueAtMs: number
}

/** How often the queue is read again where other processes took claims of it meanwhile. */
const TAKE_TRIES = 3
/** After this time no more claims are taken: a write that waits for its node would use up the leases of those taken before. */
const TAKE_MS = 5 * SECOND_MS

/**
 * Takes claims whose next step is due, with a lease for the calling process. Claims of events made here come first: they
 * call no other service, and would wait behind those of an issuer that is away. Then claims that wait for the issuer's answer
 * come before claims whose token is being made, and then the longest due first. Otherwise, after a busy event, checks of
 * hundreds of tokens would use up the allowed calls to the issuer, and new players would wait for minutes.
 *
 * The queue is over all events, so it is read without locks; the claims are then taken event by event. An event whose claims cannot
 * be taken does not hold up the others.
 */
export async function takeDueClaims(
  db: Db,
  { nowMs, leaseUntilMs, limit }: TakeDue,
): Promise<readonly DueClaim[]> {
  const taken: DueClaim[] = []
  const failed = new FailedEvents()
  const endMs = performance.now() + TAKE_MS
  const isOver = () => taken.length > 0 && performance.now() > endMs
  for (let tries = 0; tries < TAKE_TRIES && !isOver(); ) {
    const takenBefore = taken.length
    const failedBefore = failed.size
    const wanted = limit - takenBefore
    const found = await readAllEvents(
      db,
      'claim',
      (claims) => sql<Pick<Claim, 'event_id' | 'id'>>`/* prepared */
      select event_id, id from ${claims} where next_step_at_ms <= ${nowMs} and ${failed.others}
      order by event_id < ${FIRST_OWN_EVENT_ID}, state = 'minting', next_step_at_ms limit ${wanted}`,
    )
    const due = found.slice(0, wanted)
    for (const [eventId, claims] of byKey(due, ({ event_id }) => event_id)) {
      const ids = claims.map(({ id }) => id)
      const more = await failed.try(eventId, () => takeDueOf(db, { eventId, ids, nowMs, leaseUntilMs }))
      taken.push(...(more ?? []))
      if (isOver()) break
    }
    if (taken.length - takenBefore === due.length) break
    if (failed.size === failedBefore) tries += 1
  }
  if (taken.length === 0) failed.throwFirst() // else those that are taken already go on
  return taken
}

interface TakeDueOf extends Omit<TakeDue, 'limit'> {
  readonly eventId: number
  readonly ids: readonly number[]
}

/** Takes those claims of one event that are still due, and that no other process is taking. */
async function takeDueOf(
  db: Db,
  { eventId, ids, nowMs, leaseUntilMs }: TakeDueOf,
): Promise<readonly DueClaim[]> {
  const { rows } = await sql<Omit<DueClaim, 'eventId' | 'lease'>>`/* prepared */
    with due as (
      select found.* from unnest(${ids}::bigint[]) as given (id) cross join lateral (
        select id, next_step_at_ms from claim
        where event_id = ${eventId} and claim.id = given.id and next_step_at_ms <= ${nowMs} limit 1 for update skip locked
      ) as found
    )
    update claim set next_step_at_ms = ${leaseUntilMs}
    where event_id = ${eventId} and id = any(array(select due.id from due))
    returning id, address, state, attempts, code_id as "codeId", (
        select encrypted from claim_code where claim_code.event_id = ${eventId} and claim_code.id = claim.code_id
      ) as encrypted,
      asked_code_id is not distinct from code_id as "wasAsked",
      (select due.next_step_at_ms from due where due.id = claim.id) as "dueAtMs"`.execute(db)
  return rows.map((row) => ({ ...row, eventId, lease: { untilMs: leaseUntilMs } }))
}

/** A claim whose token is going to be requested. */
export interface LeaseRenewal {
  readonly claim: Pick<HeldClaim, 'eventId' | 'id' | 'codeId'>
  /** As the process read or wrote it last. */
  readonly seenUntilMs: number
  readonly untilMs: number
}

/**
 * The rows of claims of an event whose ids a part of the statement has, for an update. By an array: a join with the part would
 * read all claims of the event.
 */
const rowsOf = (eventId: number, part: RawBuilder<unknown>) =>
  sql<boolean>`claim.event_id = ${eventId} and claim.id = any(array(select id from ${part}))`

/**
 * Immediately before tokens are requested: renews the leases of claims of one event that this process still has, and stores that the
 * issuer is asked. Returns for each claim whether it still has it: after the end of a lease another process may have
 * taken the claim over, and then this one must not ask.
 */
export async function renewLeases(db: Db, renewals: readonly LeaseRenewal[]): Promise<readonly boolean[]> {
  const { eventId } = renewals[0]!.claim
  const ids = renewals.map(({ claim }) => claim.id)
  const codeIds = renewals.map(({ claim }) => claim.codeId)
  const seen = renewals.map(({ seenUntilMs }) => seenUntilMs)
  const until = renewals.map(({ untilMs }) => untilMs)
  const { rows } = await sql<{ id: number }>`/* prepared */
    with renewal as (
      select * from unnest(${ids}::bigint[], ${codeIds}::bigint[], ${seen}::bigint[], ${until}::bigint[])
        as renewal (id, code_id, seen_until_ms, until_ms)
    )
    update claim set next_step_at_ms = (select until_ms from renewal where renewal.id = claim.id),
      asked_code_id = code_id
    where ${rowsOf(eventId, sql`renewal`)}
      and next_step_at_ms = (select seen_until_ms from renewal where renewal.id = claim.id)
      and code_id is not distinct from (select code_id from renewal where renewal.id = claim.id)
    returning claim.id`.execute(db)
  const renewed = new Set(rows.map(({ id }) => id))
  return ids.map((id) => renewed.has(id))
}

/**
 * The claim as the process read it. A step writes only while its process has the lease: after the end of a lease another
 * process may have taken the claim over, and may be asking for its token. Then nothing is written, and the function
 * returns false.
 */
type Seen = Pick<HeldClaim, 'eventId' | 'id' | 'codeId' | 'state' | 'lease'>

const isOurs = ({ eventId, id, codeId, state, lease }: Seen) =>
  sql`event_id = ${eventId} and id = ${id} and code_id is not distinct from ${codeId}::bigint and state = ${state} and next_step_at_ms = ${lease.untilMs}`

export interface AcceptedClaim {
  readonly claim: Seen
  readonly nextStepAtMs: number
}

/**
 * reserved → minting, for several claims of one event at once. The issuer accepts claims of the event, so its contradictory
 * answers are forgotten.
 *
 * @returns for each claim whether it was written, and the event where it was held until now
 */
export async function acceptClaims(
  db: Db,
  accepted: readonly AcceptedClaim[],
  nowMs: number,
): Promise<{ readonly isWritten: readonly boolean[]; readonly ended: HeldEvent | undefined }> {
  const { eventId } = accepted[0]!.claim
  const ids = accepted.map(({ claim }) => claim.id)
  const codeIds = accepted.map(({ claim }) => claim.codeId)
  const leases = accepted.map(({ claim }) => claim.lease.untilMs)
  const nextSteps = accepted.map(({ nextStepAtMs }) => nextStepAtMs)
  const { rows } = await sql<AcceptedRow>`/* prepared */
    with seen as (
      select * from unnest(${ids}::bigint[], ${codeIds}::bigint[], ${leases}::bigint[], ${nextSteps}::bigint[])
        as seen (id, code_id, lease_until_ms, next_step_at_ms)
    ), accepted as (
      update claim set state = 'minting', attempts = 0, updated_at_ms = ${nowMs},
        next_step_at_ms = (select next_step_at_ms from seen where seen.id = claim.id)
      where ${rowsOf(eventId, sql`seen`)} and state = 'reserved'
        and next_step_at_ms = (select lease_until_ms from seen where seen.id = claim.id)
        and code_id = (select code_id from seen where seen.id = claim.id)
      returning claim.id, claim.event_id, claim.created_at_ms
    ), ${COUNT_ACCEPTED}, ended as (
      delete from event_hold where event_id = ${eventId} and exists (select from accepted)
      returning event_id, reason, answers, doubted_code_id, held_at_ms, probe_at_ms, probes
    )
    select accepted.id as claim_id, ended.* from counted cross join accepted left join ended on true`.execute(
    db,
  )
  const written = new Set(rows.map(({ claim_id }) => claim_id))
  const ended = rows[0]
  return { isWritten: ids.map((id) => written.has(id)), ended: isHeld(ended) ? ended : undefined }
}

const COUNT_ACCEPTED = countMoves({ rows: 'accepted', of: 'claims', from: 'reserved', to: 'minting' })

type AcceptedRow = EventHold & { readonly claim_id: number }

/** minting → minted; reserved → minted where our own issuer has signed the token */
export async function confirmClaim(
  db: Db,
  claim: Seen,
  nowMs: number,
  txHash: string | undefined,
): Promise<boolean> {
  const { rows } = await sql`/* prepared */
    with confirmed as (
      update claim set state = 'minted', next_step_at_ms = null, tx_hash = ${txHash ?? null}, updated_at_ms = ${nowMs}
      where ${isOurs(claim)} returning event_id, code_id, created_at_ms
    ), used as (
      update claim_code set state = 'used' from confirmed
      where claim_code.event_id = ${claim.eventId} and claim_code.id = confirmed.code_id returning claim_code.event_id
    ), ${countMoves(
      { rows: 'confirmed', of: 'claims', from: claim.state, to: 'minted' },
      { rows: 'used', of: 'codes', from: 'held', to: 'used' },
    )}
    select from confirmed cross join counted`.execute(db)
  return rows.length === 1
}

/** The new state of a code that a claim gives up. */
export type GivenUpCode = Extract<CodeState, 'free' | 'used_elsewhere' | 'void'>

export interface Closing {
  readonly state: 'failed' | 'released'
  readonly reason: string
  readonly code: GivenUpCode
}

/** reserved or minting → failed or released; the code becomes free, used elsewhere or void. */
export async function closeClaim(
  db: Db,
  claim: Seen,
  nowMs: number,
  { state, reason, code }: Closing,
): Promise<boolean> {
  const { rows } = await sql`
    with closed as (
      update claim set state = ${state}, reason = ${reason}, code_id = null, next_step_at_ms = null,
        updated_at_ms = ${nowMs}
      where ${isOurs(claim)} returning event_id, created_at_ms
    ), given as (
      update claim_code set state = ${code} from closed
      where claim_code.event_id = ${claim.eventId} and claim_code.id = ${claim.codeId} returning claim_code.event_id
    ), ${countMoves(
      { rows: 'closed', of: 'claims', from: claim.state, to: state },
      { rows: 'given', of: 'codes', from: 'held', to: code },
    )}
    select from closed cross join counted`.execute(db)
  return rows.length === 1
}

/**
 * Replaces the code of a claim with the next free one.
 *
 * @returns false when another process has the claim, and undefined when no code is free; then nothing was written
 */
export async function swapCode(
  db: Db,
  claim: HeldClaim,
  nowMs: number,
  code: GivenUpCode,
): Promise<HeldClaim | undefined | false> {
  const { rows } = await sql<{ code_id: number | null; encrypted: Buffer | null }>`
    with mine as (
      select id from claim where ${isOurs(claim)} for update
    ), taken as (
      update claim_code set state = 'held'
      where event_id = ${claim.eventId} and state = 'free' and id = (
        select id from claim_code
        where event_id = ${claim.eventId} and state = 'free' and exists (select from mine)
        order by id limit 1 for update skip locked
      )
      returning event_id, id, encrypted
    ), swapped as (
      update claim set code_id = taken.id, attempts = 0, asked_code_id = null, updated_at_ms = ${nowMs}
      from taken, mine where claim.event_id = ${claim.eventId} and claim.id = mine.id returning claim.id
    ), given as (
      update claim_code set state = ${code} from swapped
      where claim_code.event_id = ${claim.eventId} and claim_code.id = ${claim.codeId} returning claim_code.event_id
    ), ${countMoves(
      { rows: 'taken', of: 'codes', from: 'free', to: 'held' },
      { rows: 'given', of: 'codes', from: 'held', to: code },
    )}
    select taken.id as code_id, taken.encrypted from counted cross join mine left join taken on true`.execute(
    db,
  )
  const [row] = rows
  if (!row) return false
  const { code_id: codeId, encrypted } = row
  if (codeId === null || encrypted === null) return undefined
  return { ...claim, codeId, encrypted, attempts: 0, wasAsked: false }
}

/**
 * Sets the time of the next step, and counts an attempt. The column takes whole milliseconds: a fraction, as pauses have it
 * that grow or that the issuer asks for, is rounded up here.
 */
export async function postponeClaim(db: Db, claim: Seen, nextStepAtMs: number): Promise<boolean> {
  const { rows } = await sql`
    update claim set attempts = attempts + 1, next_step_at_ms = ${Math.ceil(nextStepAtMs)}
    where ${isOurs(claim)} returning id`.execute(db)
  return rows.length === 1
}

/** As {@link postponeClaim}, for a claim whose request for a token was certainly not executed. */
export async function postponeUnasked(db: Db, claim: Seen, nextStepAtMs: number): Promise<boolean> {
  const { rows } = await sql`
    update claim set attempts = attempts + 1, next_step_at_ms = ${Math.ceil(nextStepAtMs)}, asked_code_id = null
    where ${isOurs(claim)} returning id`.execute(db)
  return rows.length === 1
}

export interface Probe {
  readonly atMs: number
  readonly nowMs: number
}

/**
 * Lets a claim wait for the probe of its event; that counts as no attempt. If the hold has ended, or its probe has been
 * taken, the claim is due now: the row of the hold is locked, so {@link wakeClaims} finds the claim or the claim finds
 * no hold.
 */
export async function waitForProbe(db: Db, claim: Seen, { atMs, nowMs }: Probe): Promise<boolean> {
  const { rows } = await sql`
    with hold as (
      select probe_at_ms from event_hold
      where event_id = ${claim.eventId} and probe_at_ms = ${atMs}::bigint for share
    )
    update claim set next_step_at_ms = coalesce((select probe_at_ms from hold), ${nowMs}::bigint)
    where ${isOurs(claim)} returning id`.execute(db)
  return rows.length === 1
}

/** Ends the leases of claims that this process still has, so that another process can take them. */
export async function releaseLeases(
  db: Db,
  claims: readonly Pick<HeldClaim, 'eventId' | 'id' | 'lease'>[],
  nowMs: number,
): Promise<void> {
  for (const [eventId, ofEvent] of byKey(claims, (claim) => claim.eventId)) {
    const ids = ofEvent.map(({ id }) => id)
    const leases = ofEvent.map(({ lease }) => lease.untilMs)
    await sql`
      update claim set next_step_at_ms = ${nowMs}
      from unnest(${ids}::bigint[], ${leases}::bigint[]) as held (id, until_ms)
      where claim.event_id = ${eventId} and claim.id = held.id and claim.next_step_at_ms = held.until_ms`.execute(
      db,
    )
  }
}

/** How many claims of all events wait for an answer of the issuer; those of held events wait for a probe instead. */
export async function countReserved(db: Db): Promise<number> {
  const held = await readAllEvents(
    db,
    'event_hold',
    (holds) => sql<{ event_id: number }>`select event_id from ${holds} where held_at_ms is not null`,
  )
  const isNotHeld = exceptEvents(held.map(({ event_id }) => event_id))
  // `is not null` is for the index
  const counts = await readAllEvents(
    db,
    'claim',
    (claims) => sql<{ reserved: number }>`
      select count(*)::integer as reserved from ${claims}
      where next_step_at_ms is not null and state = 'reserved' and ${isNotHeld}`,
  )
  return counts.reduce((sum, { reserved }) => sum + reserved, 0)
}

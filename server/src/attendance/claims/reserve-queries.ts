import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { countMoves } from '../events/event-count-queries.ts'
import { keySigns } from '../issuers/own/keys/token-key-queries.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { PreparedToken } from '../issuers/own/tokens/token-queries.ts'
import type { SingleUse } from '../signed-fetch/signed-request.ts'
import type { Claim, HeldClaim } from './claim-queries.ts'

export interface NewClaim {
  readonly eventId: number
  readonly address: string
  readonly nowMs: number
  /** When any process may take the claim: the end of the lease. */
  readonly nextStepAtMs: number
  /** The signed token, stored together with the claim: for an event that was made here, and no other. */
  readonly token?: PreparedToken | undefined
  /** Whether the event requires a grant: the claim then uses one up, or is not made. */
  readonly needsGrant?: boolean
}

/** A claim to insert, of one event with all others of the same statement. */
export interface Reservation {
  readonly claim: NewClaim
  /** The signed request that is used up; undefined for a claim that was not signed, or whose request is already used up. */
  readonly request: SingleUse | undefined
}

/** Result of a {@link Reservation}. */
export interface Insertion {
  /** False: the signed request was used before, and nothing was changed. */
  readonly isFirstUse: boolean
  /** The claim that the player had before. */
  readonly known: Claim | undefined
  /**
   * The new claim; undefined when the player had one, or lacks a grant, or no code is free. `minted` where its token is stored,
   * else `reserved`.
   */
  readonly made: HeldClaim | undefined
  /** Whether the player got a claim at the same time, in another statement: to be inserted again, which finds that claim. */
  readonly isSurpassed: boolean
}

/** One {@link insertClaims}. */
export async function insertClaim(
  db: Db,
  claim: NewClaim,
  { request, wait }: { readonly request: SingleUse | undefined; readonly wait: boolean },
): Promise<Insertion> {
  const [inserted] = await insertClaims(db, claim.eventId, [{ claim, request }], { wait })
  return inserted!
}

/**
 * Uses up the signed requests, and inserts a claim for each player that holds a free code; of an event that was made here, a
 * place, and its token is stored too: (none) → reserved → minted, both moves in this transaction. Where the key of the
 * signature no longer signs, only the message is stored, and the claim stays `reserved` for the next step.
 *
 * Where the event requires one, a grant of the player is used up together with the code, or neither. One statement is one
 * transaction, and one round trip to the database: it costs as much for thirty claims as for three.
 *
 * With `skip locked` many processes can do this in the same second: each takes other codes and none waits for another. A
 * second claim of a player violates `one_claim_per_address`: it is not inserted, and its code stays free. Places are counted in
 * one row, for which statements of one event wait in turn.
 *
 * @param reservations each of another player
 * @param wait waits for codes and grants that other transactions have locked: slower, but it finds the last free code
 * @returns a result for each of them, in the same order
 */
export async function insertClaims(
  db: Db,
  eventId: number,
  reservations: readonly Reservation[],
  { wait }: { readonly wait: boolean },
): Promise<readonly Insertion[]> {
  const requests = reservations.map(({ request }) => request)
  const claims = reservations.map(({ claim }) => claim)
  const hashes = requests.map((request) => request?.hash.toString('hex') ?? null)
  const expiries = requests.map((request) => request?.expiresAtMs ?? null)
  const lock = wait ? sql`for update` : sql`for update skip locked`
  const grants = claims.some(({ needsGrant }) => needsGrant) ? grantsFor(eventId, lock) : NO_GRANTS
  const taking = isOwnEvent(eventId) ? placesFor(eventId, claims) : codesFor(eventId, lock)
  const { rows } = await sql<InsertionRow>`/* prepared */
    with asked as (
      -- A query of its own: the planner does not know the length of the array, so one plan serves all lengths
      select asked.*, asked.hash is null or use.hash is not null as is_first from unnest(
        (select ${claims.map(({ address }) => address)}::text[]), ${claims.map(({ nowMs }) => nowMs)}::bigint[],
        ${claims.map(({ nextStepAtMs }) => nextStepAtMs)}::bigint[],
        ${hashes}::text[], ${claims.map(({ needsGrant = false }) => needsGrant)}::boolean[]
      ) with ordinality as asked (address, now_ms, next_step_at_ms, hash, needs_grant, position)
      left join use_requests(${eventId}::integer, ${hashes}::text[], ${expiries}::bigint[]) as use (hash) on use.hash = asked.hash
    ), known as (
      select claim.* from asked cross join lateral (
        select ${CLAIM_COLUMNS} from claim where event_id = ${eventId} and claim.address = asked.address limit 1
      ) as claim
    )${grants.tables}, wanting as (
      select *, row_number() over (order by position) as turn from asked
      where is_first and address not in (select address from known)${grants.condition}
    ), ${taking.tables}${grants.use}
    select asked.is_first, made.id as made_id, made.state as made_state,
      ${taking.columns}, known.*
    from counted cross join asked left join known on known.address = asked.address
      left join wanting on wanting.position = asked.position ${taking.join}
      left join made on made.address = asked.address
    order by asked.position`.execute(db)
  return rows.map((row, at) => insertionOf(row, claims[at]!))
}

/** Whether a grant can be used by a claim of this time. */
const isOpenAt = (nowMs: RawBuilder<unknown>) =>
  sql`given.claim_id is null and given.expires_at_ms > ${nowMs}`

/** Parts of the statement that use up grants. Most events require none, and parts cost time even where they find no row. */
interface GrantParts {
  readonly tables: RawBuilder<unknown>
  readonly condition: RawBuilder<unknown>
  readonly use: RawBuilder<unknown>
}

const NO_GRANTS: GrantParts = { tables: sql``, condition: sql``, use: sql`` }

function grantsFor(eventId: number, lock: RawBuilder<unknown>): GrantParts {
  return {
    tables: sql`, granted as (
      select asked.address, usable.nonce
      from (select address, now_ms from asked where needs_grant) as asked cross join lateral (
        select nonce from attendance_grant as given
        where event_id = ${eventId} and given.address = asked.address and ${isOpenAt(sql.ref('asked.now_ms'))}
        order by expires_at_ms limit 1 ${lock}
      ) as usable
    )`,
    condition: sql` and (not needs_grant or address in (select address from granted))`,
    use: sql`, bound as (
      update attendance_grant set claim_id = made.id from made join granted on granted.address = made.address
      where attendance_grant.event_id = ${eventId} and attendance_grant.nonce = granted.nonce
    )`,
  }
}

/** What claims take: the part of the statement that differs between events of the two issuers. */
interface Taking {
  /** With a table `made` of the claims that were inserted. */
  readonly tables: RawBuilder<unknown>
  /** `has_place`: whether there was a place or a code; and the code. */
  readonly columns: RawBuilder<unknown>
  /** Joins them to `wanting`. */
  readonly join: RawBuilder<unknown>
}

const COUNT_WITH_CODES = countMoves(
  { rows: 'made', of: 'claims', to: 'reserved' },
  { rows: 'made', of: 'codes', from: 'free', to: 'held' },
)
const COUNT_WITH_PLACES = countMoves(
  { rows: "made where state = 'reserved'", of: 'claims', to: 'reserved' },
  { rows: "made where state = 'minted'", of: 'claims', to: 'minted' },
)
const COUNT_REVIVED = countMoves(
  { rows: 'made', of: 'claims', from: 'failed', to: 'reserved' },
  { rows: 'made', of: 'codes', from: 'free', to: 'held' },
)

/** Inserts claims of a part `new` of the statement. */
const madeOfNew = (eventId: number) => sql`made as (
      select ${eventId}::integer as event_id, made.* from (
        select array_agg(address) as addresses, array_agg(code_id) as code_ids, array_agg(state) as states,
          array_agg(next_step_at_ms) as next_steps, array_agg(now_ms) as times
        from new
      ) as new cross join lateral add_claims(${eventId}::integer, addresses, code_ids, states, next_steps, times) as made
    )`

/** Free codes of the other issuer. */
function codesFor(eventId: number, lock: RawBuilder<unknown>): Taking {
  const tables = sql`code as (
      select id, encrypted, row_number() over () as turn from (
        select id, encrypted from claim_code where event_id = ${eventId} and state = 'free'
        order by id limit (select count(*) from wanting) ${lock}
      ) as free
    ), new as (
      select address, code.id as code_id, 'reserved' as state, next_step_at_ms, now_ms
      from wanting join code on code.turn = wanting.turn
    ), ${madeOfNew(eventId)}, taken as (
      -- By an array: a join would read all codes of the event. By id: the row may have a newer version than this statement sees
      update claim_code set state = 'held' where event_id = ${eventId} and id = any(array(select code_id from made))
    ), ${COUNT_WITH_CODES}`
  return {
    tables,
    columns: sql`code.id is not null as has_place, code.id as code_id_of_made, code.encrypted`,
    join: sql`left join code on code.turn = wanting.turn`,
  }
}

/**
 * Places of an event that was made here, and the tokens of the claims, which have the numbers of their places. The row that counts
 * them is locked before a claim is inserted: a second claim of a player waits there, and then takes no place.
 */
function placesFor(eventId: number, claims: readonly NewClaim[]): Taking {
  const tokens = claims.flatMap(({ address, token }) => (token ? [{ address, ...token }] : []))
  const tables = sql`storing as (
      -- No row: it locks the table from the beginning, so a withdrawal of the key waits for this statement (lockTokens)
      update token set is_logged = is_logged where event_id = ${eventId} and number < 0
    ), place as (
      select places - taken as free from event_place
      where event_id = ${eventId} and not is_cancelled for update
    ), message as (
      select *, ${keySigns('message')} as is_valid from unnest(
        ${tokens.map(({ address }) => address)}::text[], ${tokens.map(({ id }) => id)}::uuid[],
        ${tokens.map(({ signer }) => signer)}::text[], ${tokens.map(({ timeS }) => timeS)}::bigint[],
        ${tokens.map(({ eventName }) => eventName)}::text[],
        ${tokens.map(({ eventLocation }) => eventLocation)}::text[],
        ${tokens.map(({ salt }) => hexOf(salt))}::text[],
        ${tokens.map(({ uid }) => hexOf(uid))}::text[],
        ${tokens.map(({ signature }) => hexOf(signature))}::text[]
      ) as message (address, token_id, signer, time_s, event_name, event_location, salt, uid, signature)
    ), new as (
      select address, null::bigint as code_id, case when is_valid then 'minted' else 'reserved' end as state,
        case when not is_valid then next_step_at_ms end as next_step_at_ms, now_ms
      from place join wanting on wanting.turn <= place.free join message using (address)
    ), ${madeOfNew(eventId)}, taken as (
      update event_place set taken = taken + made.count from (select count(*)::integer as count from made) as made
      where event_id = ${eventId} and made.count > 0
      returning taken - made.count as before
    ), stored as (
      select add_tokens(${eventId}::integer, array_agg(token)) as count from (
        select row(
          token_id, address, signer, time_s, event_name, event_location, decode(salt, 'hex'),
          before + row_number() over (order by made.id), case when is_valid then decode(uid, 'hex') end,
          case when is_valid then decode(signature, 'hex') end
        )::new_token as token
        from made join message using (address) cross join taken
      ) as token
    ), ${COUNT_WITH_PLACES}`
  return {
    tables,
    columns: sql`coalesce(wanting.turn <= place.free, false) as has_place, null::bigint as code_id_of_made, null::bytea as encrypted`,
    join: sql`cross join stored left join place on true`,
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Not `*`: a prepared statement of a running server would fail when an update adds a column. */
const CLAIM_COLUMNS = sql`id, event_id, address, code_id, state, reason, tx_hash, attempts, next_step_at_ms,
  created_at_ms, updated_at_ms`

type InsertionRow = { readonly [Column in keyof Claim]: Claim[Column] | null } & {
  readonly is_first: boolean
  readonly made_id: number | null
  readonly made_state: 'reserved' | 'minted' | null
  readonly has_place: boolean
  readonly code_id_of_made: number | null
  readonly encrypted: Buffer | null
}

function insertionOf(row: InsertionRow, claim: NewClaim): Insertion {
  const { is_first, made_id, made_state, has_place, code_id_of_made: code_id, encrypted, ...known } = row
  const made =
    made_id !== null && made_state !== null
      ? { ...heldClaim({ id: made_id, code_id, encrypted }, claim), state: made_state }
      : undefined
  return {
    isFirstUse: is_first,
    known: known.id === null ? undefined : (known as Claim),
    made,
    isSurpassed: has_place && !made,
  }
}

/**
 * Gives a failed claim another code. It still has the grant that it has used; a claim that was made without one uses one
 * up now, where the event requires it. Claims of events that were made here never fail.
 *
 * @returns undefined when the claim has not failed, or lacks a grant, or no code is free
 */
export async function reviveClaim(db: Db, claim: NewClaim): Promise<HeldClaim | undefined> {
  const { eventId, address, nowMs, nextStepAtMs, needsGrant = false } = claim
  const { rows } = await sql<{ id: number; code_id: number; encrypted: Buffer }>`
    with failed as (
      select id from claim
      where event_id = ${eventId} and address = ${address} and state = 'failed' for update
    ), own as (
      select nonce from attendance_grant where event_id = ${eventId} and claim_id in (select id from failed)
    ), granted as (
      select nonce from attendance_grant as given
      where ${needsGrant}::boolean and not exists (select from own) and exists (select from failed)
        and event_id = ${eventId} and address = ${address} and ${isOpenAt(sql`${nowMs}::bigint`)}
      order by expires_at_ms limit 1 for update
    ), may_claim as (
      select id from failed
      where not ${needsGrant}::boolean or exists (select from own) or exists (select from granted)
    ), taken as (
      update claim_code set state = 'held'
      where event_id = ${eventId} and state = 'free' and id = (
        select id from claim_code
        where event_id = ${eventId} and state = 'free' and exists (select from may_claim)
        order by id limit 1 for update skip locked
      )
      returning id, encrypted
    ), made as (
      update claim set code_id = taken.id, state = 'reserved', reason = null, tx_hash = null, attempts = 0,
        asked_code_id = null, next_step_at_ms = ${nextStepAtMs}, updated_at_ms = ${nowMs}
      from taken, may_claim where claim.event_id = ${eventId} and claim.id = may_claim.id
      returning claim.event_id, claim.id, claim.code_id, claim.created_at_ms
    ), ${COUNT_REVIVED}, bound as (
      update attendance_grant set claim_id = made.id from made, granted
      where attendance_grant.event_id = ${eventId} and attendance_grant.nonce = granted.nonce
    )
    select made.id, made.code_id, taken.encrypted from counted cross join made join taken on taken.id = made.code_id`.execute(
    db,
  )
  return rows[0] && heldClaim(rows[0], claim)
}

/** A claim that was just reserved. */
function heldClaim(
  { id, code_id, encrypted }: Pick<Claim, 'id' | 'code_id'> & Pick<HeldClaim, 'encrypted'>,
  { eventId, address, nextStepAtMs }: NewClaim,
): HeldClaim {
  return {
    id,
    eventId,
    address,
    state: 'reserved',
    attempts: 0,
    codeId: code_id,
    encrypted,
    wasAsked: false,
    lease: { untilMs: nextStepAtMs },
  }
}

import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { StatementError } from '../../db/statement-error.ts'
import { keySigns } from '../own-issuer/keys/token-key-queries.ts'
import type { PreparedToken } from '../own-issuer/tokens/token-queries.ts'
import type { SingleUse } from '../signed-fetch/signed-request.ts'
import { type Claim, type HeldClaim, mayGiveOut } from './claim-queries.ts'

export interface NewClaim {
  readonly eventId: number
  readonly address: string
  readonly nowMs: number
  /** When any process may take the claim: the end of the lease. */
  readonly nextStepAtMs: number
  /** For an event of our own issuer: the signed token, stored together with the claim. */
  readonly token?: PreparedToken | undefined
  /** Whether the event requires a grant: the claim then uses one up, or is not made. */
  readonly needsGrant?: boolean
}

const UNIQUE_VIOLATION = '23505'

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
 * Uses up the signed requests, takes a free code for each player, and inserts a claim that holds it. Where our own issuer
 * makes the token, it is stored too: (none) → reserved → minted, both moves in this transaction. Where the key of the
 * signature no longer signs, only the message is stored, and the claim stays `reserved` for {@link nextMove}.
 *
 * Where the event requires one, a grant of the player is used up together with the code, or neither. One statement is one
 * transaction, and one round trip to the database: it costs as much for thirty claims as for three.
 *
 * With `skip locked` many processes can do this in the same second: each takes other codes and none waits for another. A
 * second claim of a player violates `one_claim_per_address`: it is not inserted, and its code stays free.
 *
 * @param reservations each of another player, and all of them with a token, or none
 * @param wait waits for codes and grants that other transactions have locked: slower, but it finds the last free code
 * @returns a result for each of them, in the same order
 */
export async function insertClaims(
  db: Db,
  eventId: number,
  reservations: readonly Reservation[],
  { wait }: { readonly wait: boolean },
): Promise<readonly Insertion[]> {
  try {
    return await insertAll(db, eventId, reservations, { wait, mints: true })
  } catch (error) {
    if (!(error instanceof StatementError && error.code === UNIQUE_VIOLATION)) throw error
    // Damaged data: a token has the number of a free code already. The step of the claim finds that out, and takes another code
    return insertAll(db, eventId, reservations, { wait, mints: false })
  }
}

/** @param mints false: tokens are stored without their signatures, and all claims stay `reserved` */
async function insertAll(
  db: Db,
  eventId: number,
  reservations: readonly Reservation[],
  { wait, mints }: { readonly wait: boolean; readonly mints: boolean },
): Promise<readonly Insertion[]> {
  const requests = reservations.map(({ request }) => request)
  const claims = reservations.map(({ claim }) => claim)
  const tokens = tokensOf(eventId, claims, mints)
  const lock = wait ? sql`for update` : sql`for update skip locked`
  const { rows } = await sql<InsertionRow>`/* prepared */
    with asked as (
      select * from unnest(
        ${claims.map(({ address }) => address)}::text[], ${claims.map(({ nowMs }) => nowMs)}::bigint[],
        ${claims.map(({ nextStepAtMs }) => nextStepAtMs)}::bigint[],
        ${requests.map((request) => request?.hash.toString('hex') ?? null)}::text[],
        ${requests.map((request) => request?.expiresAtMs ?? null)}::bigint[],
        ${claims.map(({ needsGrant = false }) => needsGrant)}::boolean[]
      ) with ordinality as asked (address, now_ms, next_step_at_ms, hash, expires_at_ms, needs_grant, place)
    ), use as (
      insert into seen_request (hash, expires_at_ms)
      select decode(hash, 'hex'), expires_at_ms from asked where hash is not null order by hash
      on conflict do nothing returning encode(hash, 'hex') as hash
    ), known as (
      select claim.* from asked cross join lateral (
        select ${CLAIM_COLUMNS} from claim where event_id = ${eventId} and claim.address = asked.address limit 1
      ) as claim
    ), granted as (
      select asked.address, usable.nonce
      from (select address, now_ms from asked where needs_grant) as asked cross join lateral (
        select nonce from attendance_grant as given
        where event_id = ${eventId} and given.address = asked.address and ${isOpenAt(sql.ref('asked.now_ms'))}
        order by expires_at_ms limit 1 ${lock}
      ) as usable
    ), wanting as (
      select *, row_number() over (order by place) as turn from asked
      where (hash is null or hash in (select hash from use)) and address not in (select address from known)
        and (not needs_grant or address in (select address from granted))
    ), code as (
      select id, sealed, number, row_number() over () as turn from (
        select id, sealed, number from claim_code
        where event_id = ${eventId} and state = 'free' and ${mayGiveOut(eventId)}
        order by id limit (select count(*) from wanting) ${lock}
      ) as free
    )${tokens.tables}, made as (
      insert into claim
        (event_id, address, code_id, state, attempts, next_step_at_ms, created_at_ms, updated_at_ms)
      select ${eventId}::integer, address, code_id, case when is_minted then 'minted' else 'reserved' end, 0,
        case when not is_minted then next_step_at_ms end, now_ms, now_ms
      from (
        select wanting.*, code.id as code_id, ${tokens.isMinted} as is_minted
        from wanting join code on code.turn = wanting.turn ${tokens.join}
      ) as given order by address
      on conflict (event_id, address) do nothing
      returning id, address, code_id, state
    ), taken as (
      update claim_code set state = case made.state when 'minted' then 'used' else 'held' end
      from made where claim_code.id = made.code_id
    ), bound as (
      update attendance_grant set claim_id = made.id from made join granted on granted.address = made.address
      where event_id = ${eventId} and attendance_grant.nonce = granted.nonce
    )${tokens.stored}
    select asked.hash is null or use.hash is not null as is_first, code.id is not null as has_code,
      made.id as made_id, made.state as made_state, code.id as made_code_id, code.sealed, known.*
    from asked left join use on use.hash = asked.hash left join known on known.address = asked.address
      left join wanting on wanting.place = asked.place left join code on code.turn = wanting.turn
      left join made on made.address = asked.address
    order by asked.place`.execute(db)
  return rows.map((row, at) => insertionOf(row, claims[at]!))
}

/** Whether a grant can be used by a claim of this time. */
const isOpenAt = (nowMs: RawBuilder<unknown>) =>
  sql`given.claim_id is null and given.expires_at_ms > ${nowMs}`

/** Parts of the statement: for claims whose tokens are made here, and for those of the other issuer. */
interface TokenParts {
  /** The tokens, and whether each can be stored with its signature. */
  readonly tables: RawBuilder<unknown>
  /** Joins them to `wanting` and `code`. */
  readonly join: RawBuilder<unknown>
  readonly isMinted: RawBuilder<boolean>
  readonly stored: RawBuilder<unknown>
}

const WITHOUT_TOKENS: TokenParts = { tables: sql``, join: sql``, isMinted: sql`false`, stored: sql`` }

function tokensOf(eventId: number, claims: readonly NewClaim[], mints: boolean): TokenParts {
  const tokens = claims.flatMap(({ address, token }) => (token ? [{ address, ...token }] : []))
  if (tokens.length === 0) return WITHOUT_TOKENS
  const tables = sql`, message as (
      select *, ${keySigns('message')} as is_valid from unnest(
        ${tokens.map(({ address }) => address)}::text[], ${tokens.map(({ id }) => id)}::uuid[],
        ${tokens.map(({ signer }) => signer)}::text[], ${tokens.map(({ timeS }) => timeS)}::bigint[],
        ${tokens.map(({ eventName }) => eventName)}::text[],
        ${tokens.map(({ eventLocation }) => eventLocation)}::text[],
        ${tokens.map(({ salt }) => hexOf(salt))}::text[],
        ${tokens.map(({ uid }) => hexOf(uid))}::text[],
        ${tokens.map(({ signature }) => hexOf(signature))}::text[]
      ) as message (address, token_id, signer, time_s, event_name, event_location, salt, uid, signature)
    )`
  // No `on conflict`: only claims have tokens, and no claim is deleted, so a new claim cannot find one
  const stored = sql`, stored as (
      insert into token (id, event_id, address, signer, time_s, event_name, event_location, salt, number, uid, signature)
      select token_id, ${eventId}::integer, address, signer, time_s, event_name, event_location, decode(salt, 'hex'),
        case when is_minted then number end, case when is_minted then decode(uid, 'hex') end,
        case when is_minted then decode(signature, 'hex') end
      from (
        select message.*, code.number, made.state = 'minted' as is_minted
        from made join message on message.address = made.address join code on code.id = made.code_id
      ) as message
    )`
  return {
    tables,
    join: sql`join message on message.address = wanting.address`,
    isMinted: mints ? sql`message.is_valid and code.number is not null` : sql`false`,
    stored,
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
  readonly has_code: boolean
  readonly made_id: number | null
  readonly made_state: 'reserved' | 'minted' | null
  readonly made_code_id: number | null
  readonly sealed: Buffer | null
}

function insertionOf(row: InsertionRow, claim: NewClaim): Insertion {
  const { is_first, has_code, made_id, made_state, made_code_id, sealed, ...known } = row
  const made =
    made_id !== null && made_state !== null && made_code_id !== null && sealed !== null
      ? { ...heldClaim({ id: made_id, code_id: made_code_id, sealed }, claim), state: made_state }
      : undefined
  return {
    isFirstUse: is_first,
    known: known.id === null ? undefined : (known as Claim),
    made,
    isSurpassed: has_code && !made,
  }
}

/**
 * Gives a failed claim another code. It still has the grant that it has used; a claim that was made without one uses one
 * up now, where the event requires it. A message that is not signed yet gets the place of `claim.token`: a player may claim what an
 * organiser wanted to give, and the other way round.
 *
 * @returns undefined when the claim has not failed, or lacks a grant, or no code is free
 */
export async function reviveClaim(db: Db, claim: NewClaim): Promise<HeldClaim | undefined> {
  const { eventId, address, nowMs, nextStepAtMs, needsGrant = false, token } = claim
  const placed = token
    ? sql`, placed as (
      update token set event_location = ${token.eventLocation} from made
      where token.event_id = ${eventId} and token.address = ${address} and signature is null
    )`
    : sql``
  const { rows } = await sql<{ id: number; code_id: number; sealed: Buffer }>`
    with failed as (
      select id from claim
      where event_id = ${eventId} and address = ${address} and state = 'failed' for update
    ), own as (
      select nonce from attendance_grant where claim_id in (select id from failed)
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
      where state = 'free' and id = (
        select id from claim_code
        where event_id = ${eventId} and state = 'free' and exists (select from may_claim) and ${mayGiveOut(eventId)}
        order by id limit 1 for update skip locked
      )
      returning id, sealed
    ), made as (
      update claim set code_id = taken.id, state = 'reserved', reason = null, tx_hash = null, attempts = 0,
        asked_code_id = null, next_step_at_ms = ${nextStepAtMs}, updated_at_ms = ${nowMs}
      from taken, may_claim where claim.id = may_claim.id
      returning claim.id, claim.code_id
    ), bound as (
      update attendance_grant set claim_id = made.id from made, granted
      where event_id = ${eventId} and attendance_grant.nonce = granted.nonce
    )${placed}
    select made.id, made.code_id, taken.sealed from made join taken on taken.id = made.code_id`.execute(db)
  return rows[0] && heldClaim(rows[0], claim)
}

/** A claim that was just reserved. */
function heldClaim(
  { id, code_id, sealed }: { readonly id: number; readonly code_id: number; readonly sealed: Buffer },
  { eventId, address, nextStepAtMs }: NewClaim,
): HeldClaim {
  return {
    id,
    eventId,
    address,
    state: 'reserved',
    attempts: 0,
    codeId: code_id,
    sealed,
    wasAsked: false,
    lease: { untilMs: nextStepAtMs },
  }
}

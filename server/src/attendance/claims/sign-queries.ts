import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { SignedMessage } from '../issuer/issuer.ts'
import type { NewToken } from '../own-issuer/token-queries.ts'
import type { HeldClaim } from './claim-queries.ts'

/** A claim whose token our own issuer has signed; neither is stored yet. */
export interface SignedClaim {
  readonly claim: Pick<HeldClaim, 'id' | 'codeId' | 'lease'>
  readonly token: Pick<NewToken, 'id' | 'signer' | 'timeS'>
  readonly signed: SignedMessage
}

/**
 * reserved → minted, for several claims at once: stores the signatures of their tokens, and the claims, in one
 * transaction. A claim is written only together with its signature. A signature is stored if the token has none, if its
 * message is still the one that was signed, and if the key was not withdrawn meanwhile.
 *
 * A signature of a claim that another process has taken over is stored too: it is the same that the other one makes.
 *
 * @returns for each claim whether it was written
 */
export async function storeSigned(
  db: Db,
  claims: readonly SignedClaim[],
  nowMs: number,
): Promise<readonly boolean[]> {
  const ids = claims.map(({ claim }) => claim.id)
  const { rows } = await sql<{ id: number }>`/* prepared */
    with signed as (
      update token set number = seen.number, uid = decode(seen.uid, 'hex'), signature = decode(seen.signature, 'hex')
      from unnest(
        ${claims.map(({ token }) => token.id)}::uuid[], ${claims.map(({ token }) => token.signer)}::text[],
        ${claims.map(({ token }) => token.timeS)}::bigint[], ${claims.map(({ signed }) => signed.number)}::integer[],
        ${claims.map(({ signed }) => signed.uid.toString('hex'))}::text[],
        ${claims.map(({ signed }) => signed.signature.toString('hex'))}::text[],
        ${ids}::bigint[], ${claims.map(({ claim }) => claim.codeId)}::bigint[],
        ${claims.map(({ claim }) => claim.lease.untilMs)}::bigint[]
      ) as seen (token_id, signer, time_s, number, uid, signature, claim_id, code_id, lease_until_ms)
      where token.id = seen.token_id and token.signer = seen.signer and token.time_s = seen.time_s
        and token.signature is null
        and seen.signer in (select address from token_key where withdrawn_at_s is null)
      returning seen.claim_id, seen.code_id, seen.lease_until_ms
    ), minted as (
      update claim set state = 'minted', next_step_at_ms = null, updated_at_ms = ${nowMs}
      from signed
      where claim.id = signed.claim_id and claim.code_id = signed.code_id and claim.state = 'reserved'
        and claim.next_step_at_ms = signed.lease_until_ms
      returning claim.id, claim.code_id
    ), used as (
      update claim_code set state = 'used' from minted where claim_code.id = minted.code_id
    )
    select id from minted`.execute(db)
  const written = new Set(rows.map(({ id }) => id))
  return ids.map((id) => written.has(id))
}

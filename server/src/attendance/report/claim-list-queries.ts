import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'

/** A claim as its organiser may see it: without its code. */
export interface ListedClaim {
  readonly id: number
  readonly madeAtMs: number
  /** In lower case. */
  readonly address: string
  readonly state: ClaimState
  /** Why it failed or was released: a word for programs. */
  readonly reason: string | null
  readonly txHash: string | null
  /** The id of the token, where this server signed it. */
  readonly tokenId: string | null
  /** Whether the organiser gave the token. */
  readonly isGiven: boolean
}

/** The place of a claim in the order of the list. */
export interface ClaimPlace {
  readonly madeAtMs: number
  readonly id: number
}

export const LIST_START: ClaimPlace = { madeAtMs: -1, id: 0 }

/** The claims of an event after a place, in the order in which they were made. */
export async function listClaims(
  db: Db,
  eventId: number,
  { after, limit }: { readonly after: ClaimPlace; readonly limit: number },
): Promise<readonly ListedClaim[]> {
  const { rows } = await sql<ListedClaim>`
    select claim.id, claim.created_at_ms as "madeAtMs", claim.address, claim.state, claim.reason,
      claim.tx_hash as "txHash", case when token.signature is not null then token.id end as "tokenId",
      coalesce(token.event_location = ${GIVEN_BY_ORGANISER}, false) as "isGiven"
    from claim left join token on token.event_id = claim.event_id and token.address = claim.address
    where claim.event_id = ${eventId}
      and (claim.created_at_ms, claim.id) > (${after.madeAtMs}::bigint, ${after.id}::bigint)
    order by claim.created_at_ms, claim.id limit ${limit}`.execute(db)
  return rows
}

/** Claims of one statement. */
const BATCH_ROWS = 500

/** All claims of an event, some hundred at a time. One that is made meanwhile may be missing. */
export async function* allClaims(db: Db, eventId: number): AsyncGenerator<readonly ListedClaim[]> {
  for (let after: ClaimPlace | undefined = LIST_START; after; ) {
    const rows: readonly ListedClaim[] = await listClaims(db, eventId, { after, limit: BATCH_ROWS })
    if (rows.length > 0) yield rows
    after = rows.length < BATCH_ROWS ? undefined : rows.at(-1)
  }
}

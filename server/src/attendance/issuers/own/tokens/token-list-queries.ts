import { sql } from 'kysely'
import type { Db } from '../../../../db/engine.ts'
import { AppError } from '../../../../errors.ts'
import { type SignedToken, tokens } from './token-queries.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface TokenPage {
  readonly total: number
  readonly found: readonly SignedToken[]
}

/** @throws {AppError} `token_not_found` for an id without a signed token */
export async function getToken(db: Db, id: string): Promise<SignedToken> {
  const token = await signedTokens(db).where('token.id', '=', id).executeTakeFirst()
  if (!token) throw new AppError('token_not_found', 'There is no token with this id.')
  return token as SignedToken
}

/** The tokens of a holder, the newest first. @param address in lower case */
export async function tokensOfAddress(db: Db, address: string, { limit, offset }: Page): Promise<TokenPage> {
  const found = await signedTokens(db)
    .where('token.address', '=', address)
    .orderBy('token.time_s', 'desc')
    .orderBy('token.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { total: await countTokens(db, { address }), found: found as readonly SignedToken[] }
}

/** The tokens of an event, by number. */
export async function tokensOfEvent(db: Db, eventId: number, { limit, offset }: Page): Promise<TokenPage> {
  const found = await signedTokens(db)
    .where('token.event_id', '=', eventId)
    .orderBy('token.number')
    .limit(limit)
    .offset(offset)
    .execute()
  return { total: await countTokens(db, { eventId }), found: found as readonly SignedToken[] }
}

/** What the list of holders says of a token. */
export type HolderRow = Pick<
  SignedToken,
  'number' | 'address' | 'timeS' | 'uid' | 'eventLocation' | 'revokedAtS' | 'revokedReason'
>

const BATCH_ROWS = 200

/** All tokens of an event by number, some hundred at a time. One that is signed meanwhile may be missing. */
export async function* holdersOfEvent(db: Db, eventId: number): AsyncGenerator<readonly HolderRow[]> {
  let last = 0
  for (;;) {
    const rows = await db
      .selectFrom('token')
      .select(['number', 'address', 'time_s as timeS', 'uid', 'event_location as eventLocation'])
      .select(['revoked_at_s as revokedAtS', 'revoked_reason as revokedReason'])
      .where('event_id', '=', eventId)
      .where('number', '>', last)
      .where('signature', 'is not', null)
      .orderBy('number')
      .limit(BATCH_ROWS)
      .execute()
    if (rows.length > 0) yield rows as readonly HolderRow[]
    if (rows.length < BATCH_ROWS) return
    last = rows.at(-1)!.number!
  }
}

/** What a gate asks. */
export type HeldToken = Pick<SignedToken, 'timeS' | 'uid' | 'revokedAtS'>

/** The token of a player of an event. @param address in lower case */
export async function tokenOfPlayer(
  db: Db,
  eventId: number,
  address: string,
): Promise<HeldToken | undefined> {
  const row = await db
    .selectFrom('token')
    .select(['time_s as timeS', 'uid', 'revoked_at_s as revokedAtS'])
    .where('event_id', '=', eventId)
    .where('address', '=', address)
    .where('signature', 'is not', null)
    .executeTakeFirst()
  return row as HeldToken | undefined
}

/**
 * The oldest token of an address that is not revoked, or, if all are revoked, a revoked one. `count` is how many are not revoked.
 *
 * @param address in lower case
 */
export async function tokenOfAnyEvent(
  db: Db,
  address: string,
): Promise<(HeldToken & { readonly count: number }) | undefined> {
  const row = await db
    .selectFrom('token')
    .select(({ fn }) => [
      'time_s as timeS',
      'uid',
      'revoked_at_s as revokedAtS',
      fn.countAll<string | number>().filterWhere('revoked_at_s', 'is', null).over().as('count'),
    ])
    .where('address', '=', address)
    .where('signature', 'is not', null)
    .orderBy(({ fn }) => fn.coalesce('revoked_at_s', sql<number>`0`))
    .orderBy('time_s')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && { ...(row as HeldToken), count: Number(row.count) }
}

async function countTokens(
  db: Db,
  by: { readonly address: string } | { readonly eventId: number },
): Promise<number> {
  const counted = db
    .selectFrom('token')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where('signature', 'is not', null)
  const { count } = await ('address' in by
    ? counted.where('address', '=', by.address)
    : counted.where('event_id', '=', by.eventId)
  ).executeTakeFirstOrThrow()
  return Number(count)
}

function signedTokens(db: Db) {
  return tokens(db).where('token.signature', 'is not', null)
}

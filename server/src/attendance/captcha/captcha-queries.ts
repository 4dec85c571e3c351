import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { CaptchaTable } from '../../db/schema.ts'

export type NewCaptcha = Pick<
  Selectable<CaptchaTable>,
  'uuid' | 'address' | 'encrypted' | 'is_preview' | 'is_guest' | 'tries' | 'expires_at_ms'
>

const UNTRIED = { event_id: null, unsigned_tries: [] as number[] }

/** Stores the pending captcha of a player; replaces the captcha before it. */
export async function replaceCaptcha(db: Db, captcha: NewCaptcha): Promise<void> {
  const { address, ...fields } = captcha
  await db
    .insertInto('captcha')
    .values({ ...captcha, ...UNTRIED })
    .onConflict((conflict) => conflict.column('address').doUpdateSet({ ...fields, ...UNTRIED }))
    .execute()
}

/** The encrypted text and seed of a captcha that can still be solved at `nowMs`. */
export async function findEncrypted(db: Db, uuid: string, nowMs: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('captcha')
    .select('encrypted')
    .where('uuid', '=', uuid)
    .where('tries', '>', 0)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row?.encrypted
}

/** Whether the pending captcha of a player, with tries or without, was asked for in a preview. */
export async function isPendingOfPreview(
  db: Db,
  { address, nowMs }: Pick<Attempt, 'address' | 'nowMs'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('captcha')
    .select('is_preview')
    .where('address', '=', address)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row?.is_preview === true
}

/** An answer or a proof: by which player, for which event, and when. */
export interface Attempt {
  readonly address: string
  readonly eventId: number
  readonly nowMs: number
}

export type TakenTry = Pick<Selectable<CaptchaTable>, 'uuid' | 'encrypted' | 'is_preview' | 'is_guest'> & {
  /** How many tries are left to the same sender. */
  readonly tries_left: number
}

/**
 * Takes one try of an answer that the player signed. One statement, so that of answers at the same time only as many get
 * a row as there are tries.
 */
export async function takeSignedTry(db: Db, attempt: Attempt): Promise<TakenTry | undefined> {
  return db
    .updateTable('captcha')
    .set((eb) => ({ tries: eb('tries', '-', 1) }))
    .where(isPendingFor(attempt))
    .returning(['uuid', 'encrypted', 'is_preview', 'is_guest', 'tries as tries_left'])
    .executeTakeFirst()
}

/** Who sends an unsigned answer, and how many of them are checked. */
export interface UnsignedTries {
  /** A keyed hash of the network address. */
  readonly sender: number
  /** The most for one network address. */
  readonly perSender: number
  /** The most for all network addresses. */
  readonly total: number
}

/** Takes one try of an unsigned answer, which any client can send. Signed tries are not changed. */
export async function takeUnsignedTry(
  db: Db,
  attempt: Attempt,
  { sender, perSender, total }: UnsignedTries,
): Promise<TakenTry | undefined> {
  const used = sql<number>`cardinality(array_positions(unsigned_tries, ${sender}::integer))`
  const usedByAll = sql<number>`cardinality(unsigned_tries)`
  return db
    .updateTable('captcha')
    .set({ unsigned_tries: sql`unsigned_tries || ${sender}::integer` })
    .where(isPendingFor(attempt))
    .where(used, '<', perSender)
    .where(usedByAll, '<', total)
    .returning(['uuid', 'encrypted', 'is_preview', 'is_guest'])
    .returning(
      sql<number>`least(${perSender}::integer - ${used}, ${total}::integer - ${usedByAll})`.as('tries_left'),
    )
    .executeTakeFirst()
}

function isPendingFor({ address, eventId, nowMs }: Attempt) {
  return sql<boolean>`address = ${address} and tries > 0 and expires_at_ms > ${nowMs}
    and (event_id is null or event_id = ${eventId})`
}

/** A captcha that was solved and deleted. */
export type UsedCaptcha = Selectable<CaptchaTable>

/** Deletes a solved captcha, and returns it to only one of several callers. */
export async function useUp(db: Db, uuid: string): Promise<UsedCaptcha | undefined> {
  return db.deleteFrom('captcha').where('uuid', '=', uuid).returningAll().executeTakeFirst()
}

/** Makes a used captcha pending again, unless its player has asked for another one since. */
export async function restoreCaptcha(db: Db, captcha: UsedCaptcha): Promise<void> {
  await db
    .insertInto('captcha')
    .values(captcha)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The uuid of the player's pending captcha, if it can be used for the event. */
export async function findChallenge(db: Db, attempt: Attempt): Promise<string | undefined> {
  const row = await db.selectFrom('captcha').select('uuid').where(isPendingFor(attempt)).executeTakeFirst()
  return row?.uuid
}

/** Deletes at most `limit` expired captchas; returns how many. */
export async function deleteSomeExpired(db: Db, nowMs: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('captcha')
    .where('uuid', 'in', (eb) =>
      eb
        .selectFrom('captcha')
        .select('uuid')
        .where('expires_at_ms', '<=', nowMs)
        .orderBy('expires_at_ms')
        .limit(limit)
        // Other processes delete too: skip the rows that they have locked
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

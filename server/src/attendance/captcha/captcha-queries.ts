import type { Selectable } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { CaptchaTable } from '../../db/schema.ts'

export type NewCaptcha = Pick<
  CaptchaTable,
  'uuid' | 'address' | 'sealed' | 'is_preview' | 'tries' | 'expires_at_ms'
>

/** Stores the pending captcha of a player; replaces the captcha before it. */
export async function replaceCaptcha(db: Db, captcha: NewCaptcha): Promise<void> {
  const { address, ...fields } = captcha
  await db
    .insertInto('captcha')
    .values({ ...captcha, event_id: null })
    .onConflict((conflict) => conflict.column('address').doUpdateSet({ ...fields, event_id: null }))
    .execute()
}

/** The encrypted text and seed of a captcha that can still be solved at `nowMs`. */
export async function findSealed(db: Db, uuid: string, nowMs: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('captcha')
    .select('sealed')
    .where('uuid', '=', uuid)
    .where('tries', '>', 0)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row?.sealed
}

/** An answer or a proof: by which player, for which event, and when. */
export interface Attempt {
  readonly address: string
  readonly eventId: number
  readonly nowMs: number
}

export type TakenTry = Pick<CaptchaTable, 'uuid' | 'sealed' | 'is_preview' | 'tries'>

/**
 * Takes one try of the player's pending captcha and binds it to the event. One statement, so that of answers at the same
 * time only as many get a row as there are tries. The returned `tries` is the number that is left.
 */
export async function takeTry(db: Db, { address, eventId, nowMs }: Attempt): Promise<TakenTry | undefined> {
  return db
    .updateTable('captcha')
    .set((eb) => ({ tries: eb('tries', '-', 1), event_id: eventId }))
    .where('address', '=', address)
    .where('tries', '>', 0)
    .where('expires_at_ms', '>', nowMs)
    .where((eb) => eb.or([eb('event_id', 'is', null), eb('event_id', '=', eventId)]))
    .returning(['uuid', 'sealed', 'is_preview', 'tries'])
    .executeTakeFirst()
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
export async function findChallenge(
  db: Db,
  { address, eventId, nowMs }: Attempt,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('captcha')
    .select('uuid')
    .where('address', '=', address)
    .where('tries', '>', 0)
    .where('expires_at_ms', '>', nowMs)
    .where((eb) => eb.or([eb('event_id', 'is', null), eb('event_id', '=', eventId)]))
    .executeTakeFirst()
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

import type { Db } from '../../db/engine.ts'

/**
 * Addresses that wait for a token of an event wait no longer, and get none.
 *
 * @param addresses in lower case; left out: all of them
 */
export async function deleteGifts(db: Db, eventId: number, addresses?: readonly string[]): Promise<void> {
  await db
    .deleteFrom('attendance_gift')
    .where('event_id', '=', eventId)
    .$if(addresses !== undefined, (gifts) => gifts.where('address', 'in', addresses!))
    .execute()
}

import type { Revocation } from '@landpass/client/tokens'
import type { Db } from '../../../../db/engine.ts'
import type { SignedToken } from '../tokens/token-queries.ts'

/** Takes a token back. @returns false for one that was taken back before, which keeps its time and reason */
export async function revokeToken(
  db: Db,
  { eventId, id }: Pick<SignedToken, 'eventId' | 'id'>,
  { atS, reason }: { readonly atS: number; readonly reason: string },
): Promise<boolean> {
  const result = await db
    .updateTable('token')
    .set({ revoked_at_s: atS, revoked_reason: reason })
    .where('event_id', '=', eventId)
    .where('id', '=', id)
    .where('revoked_at_s', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** All tokens that were taken back, in the order of their times. */
export async function listRevocations(db: Db): Promise<readonly Revocation[]> {
  const rows = await db
    .selectFrom('token')
    .select(['uid', 'signer', 'revoked_at_s', 'revoked_reason'])
    .where('revoked_at_s', 'is not', null)
    .where('uid', 'is not', null)
    .orderBy('revoked_at_s')
    .orderBy('id')
    .execute()
  return rows.map(({ uid, signer, revoked_at_s, revoked_reason }) => ({
    uid: `0x${uid!.toString('hex')}`,
    signer,
    since: revoked_at_s!,
    reason: revoked_reason ?? '',
  }))
}

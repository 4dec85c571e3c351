import type { Revocation } from '@landpass/client/tokens'
import { sql } from 'kysely'
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

/**
 * All tokens that were taken back, in the order of their times. Those whose rows an operator has removed have no reason: they
 * stay in the list, because a token that left it would count again.
 */
export async function listRevocations(db: Db): Promise<readonly Revocation[]> {
  const removed = await db
    .selectFrom('removed_revocation')
    .select(['uid', 'signer', 'revoked_at_s', sql<null>`null`.as('revoked_reason')])
    .orderBy('uid')
    .execute()
  const rows = await db
    .selectFrom('token')
    .select(['uid', 'signer', 'revoked_at_s', 'revoked_reason'])
    .where('revoked_at_s', 'is not', null)
    .where('uid', 'is not', null)
    .orderBy('revoked_at_s')
    .orderBy('id')
    .execute()
  return [...removed, ...rows]
    .map(({ uid, signer, revoked_at_s, revoked_reason }) => ({
      uid: `0x${uid!.toString('hex')}`,
      signer,
      since: revoked_at_s!,
      reason: revoked_reason ?? '',
    }))
    .sort((a, b) => a.since - b.since)
}

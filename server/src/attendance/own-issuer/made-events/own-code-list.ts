import type { Db } from '../../../db/engine.ts'
import type { ListedCode } from '../../issuer/issuer.ts'
import { ownCode } from '../../issuer/own-codes.ts'
import { findMadeEvent } from './made-event-queries.ts'

/** The codes of an event that was made here: one for each token that it may have, and none before it is approved. */
export async function listOwnCodes(db: Db, eventId: number): Promise<readonly ListedCode[]> {
  const made = await findMadeEvent(db, eventId)
  if (made?.approval !== 'approved') return []
  return Array.from({ length: made.supply }, (_, at) => ({
    code: ownCode({ eventId, number: at + 1 }),
    isClaimed: false,
  }))
}

import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { SingleUse } from './signed-request.ts'

/** Another process, whose clock is behind ours, must still find what it could still accept. */
const CLOCK_DIFFERENCE_MS = MINUTE_MS

/** Remembers what was used; false when it was remembered before, by this process or another. */
export async function insertSeenRequest(db: Db, { hash, expiresAtMs }: SingleUse): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('seen_request')
    .values({ hash, expires_at_ms: expiresAtMs })
    // Looking first would let two at once through.
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export interface DeleteOptions {
  readonly nowMs: number
  /** How many rows one statement may delete: it holds the embedded engine's only connection for so long. */
  readonly batchRows: number
}

/** Deletes the requests that nobody can use any more, a batch at a time. @returns how many they were */
export async function deleteExpiredRequests(db: Db, { nowMs, batchRows }: DeleteOptions): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { numDeletedRows } = await db
      .deleteFrom('seen_request')
      .where('hash', 'in', (query) =>
        query
          .selectFrom('seen_request')
          .select('hash')
          .where('expires_at_ms', '<', nowMs - CLOCK_DIFFERENCE_MS)
          .orderBy('expires_at_ms')
          .limit(batchRows)
          .forUpdate()
          // Several processes tidy up: each takes rows of its own.
          .skipLocked(),
      )
      .executeTakeFirst()
    forgotten += Number(numDeletedRows)
    if (numDeletedRows < batchRows) return forgotten
  }
}

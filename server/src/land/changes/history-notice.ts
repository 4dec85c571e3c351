import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

/** What a process that reads the history of the chain says of itself, for all processes to show. */
export interface HistoryNotice {
  readonly network: string
  readonly chainId: number
  /** How far it is, in words that everyone may read. */
  readonly progress: string
}

/** A notice, and the process that wrote it. */
export interface HeldNotice extends HistoryNotice {
  readonly holder: string
}

/** Milliseconds since 1970 by the clock of the database: the same for the processes of all machines. */
const NOW_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/**
 * Writes or renews the notice of a process. Notices of other processes whose lease has ended are removed.
 *
 * @param leaseMs how long the notice is valid unless it is renewed, by the clock of the database
 */
export async function putHistoryNotice(
  db: Db,
  { holder, network, chainId, progress }: HeldNotice,
  leaseMs: number,
): Promise<void> {
  const row = {
    network,
    chain_id: chainId,
    progress,
    lease_until_ms: sql<number>`${NOW_MS} + ${leaseMs}::bigint`,
  }
  await db
    .with('ended', (one) =>
      one.deleteFrom('chain_history').where('lease_until_ms', '<=', NOW_MS).where('holder', '<>', holder),
    )
    .insertInto('chain_history')
    .values({ holder, ...row })
    .onConflict((conflict) => conflict.column('holder').doUpdateSet(row))
    .execute()
}

/** Removes the notice of a process that reads the history no more. */
export async function removeHistoryNotice(db: Db, holder: string): Promise<void> {
  await db.deleteFrom('chain_history').where('holder', '=', holder).execute()
}

/** The valid notices as JSON, the one that was renewed last first: part of a statement that reads more. Null for none. */
export const VALID_NOTICES = sql<readonly HeldNotice[] | null>`(
  select json_agg(json_build_object('holder', holder, 'network', network, 'chainId', chain_id, 'progress', progress)
    order by lease_until_ms desc)
  from chain_history where lease_until_ms > ${NOW_MS}
)`

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import { CommandError } from '../../errors.ts'
import { startJournal } from '../changes/change-journal.ts'
import { LAND_TABLES, type LandTable } from '../records/tables.ts'

/**
 * The life of a world. These arrows are all there are.
 *
 *   (none) ──beginWorld──▶ loading ──showWorld──▶ shown ──showWorld of another──▶ retired ──dropRetiredWorlds──▶ (none)
 *                             └─── dropWorld, or silent for LEASE_MS: dropRetiredWorlds ───▶ (none)
 *
 * Invariants: at most one world is loading, at most one is shown (`land_state.world_id`). The row of land_world is
 * there before the first of its tables and goes after the last, so that a kill at any time leaves no table without
 * its row.
 *
 * A lease in the row prevents two imports at once. An advisory lock would not: on the embedded engine all callers
 * share one session, which would always get the lock.
 */

/** How long a lease is valid. An import that does not renew it counts as ended. */
export const LEASE_MS = 20 * SECOND_MS
const RENEW_AFTER_MS = 2 * SECOND_MS
const LOOK_AGAIN_AFTER_MS = 500
/** How long requests and other processes may go on reading a world that is no longer shown. */
export const RETIRED_GRACE_MS = 10 * MINUTE_MS
/** A DROP waits for the readers of the parent table, and later readers wait for it: so it gives up and is retried. */
const DROP_LOCK_TIMEOUT = '250ms'
const LOCK_NOT_AVAILABLE = '55P03'

export function partitionOf(table: LandTable, worldId: number): string {
  return `${table}_w${worldId}`
}

/**
 * Takes the number of a new world and makes its tables, which no reader uses yet. They have all their indexes from
 * the start: creating one on a full table would block the embedded engine's readers for a tenth of a second.
 *
 * @throws {CommandError} while another import is running.
 */
export async function beginWorld(db: Db, clock: Clock, options: BeginOptions = {}): Promise<number> {
  const worldId = await takeWorldId(db, clock, options)
  for (const table of LAND_TABLES) {
    const [parent, partition, id] = [
      sql.table(table),
      sql.table(partitionOf(table, worldId)),
      sql.lit(worldId),
    ]
    // With this constraint ATTACH knows that all rows belong to this world, and does not scan them.
    await sql`create table ${partition} (like ${parent} including all, constraint loading check (world_id = ${id}))`.execute(
      db,
    )
  }
  return worldId
}

export interface BeginOptions {
  /** How long to wait for another import that may have been killed; its lease has ended after {@link LEASE_MS}. */
  readonly patienceMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A running import renews its lease. The lease of a killed one ends, and then this import can start. */
async function takeWorldId(db: Db, clock: Clock, { patienceMs = 0, signal }: BeginOptions): Promise<number> {
  const givesUpAtMs = performance.now() + patienceMs
  let found = await tryToTakeWorldId(db, clock.nowMs())
  const first = found
  while ('busyUntilMs' in found) {
    const isAlive = 'busyUntilMs' in first && found.busyUntilMs !== first.busyUntilMs
    if (isAlive || performance.now() >= givesUpAtMs)
      throw new CommandError('Another import into this database is running. Wait until it is done.')
    await sleep(LOOK_AGAIN_AFTER_MS)
    signal?.throwIfAborted()
    found = await tryToTakeWorldId(db, clock.nowMs())
  }
  return found.worldId
}

function tryToTakeWorldId(db: Db, nowMs: number): Promise<{ worldId: number } | { busyUntilMs: number }> {
  return inTransaction(db, async (tx) => {
    await tx.selectFrom('land_state').select('revision').forUpdate().execute() // one at a time through here
    const other = await tx
      .selectFrom('land_world')
      .select('loading_until_ms')
      .where('loading_until_ms', '>', nowMs)
      .executeTakeFirst()
    if (other) return { busyUntilMs: other.loading_until_ms! }
    const row = await tx
      .insertInto('land_world')
      .values({
        world_id: sql<number>`nextval('land_world_id')::integer`,
        created_at_ms: nowMs,
        loading_until_ms: nowMs + LEASE_MS,
      })
      .returning('world_id')
      .executeTakeFirstOrThrow()
    return { worldId: row.world_id }
  })
}

/** Renews the lease of a loading world, at most every few seconds. */
export class Lease {
  private readonly db: Db
  private readonly worldId: number
  private readonly clock: Clock
  private renewedAtMs: number

  constructor(db: Db, worldId: number, clock: Clock) {
    this.db = db
    this.worldId = worldId
    this.clock = clock
    this.renewedAtMs = clock.nowMs()
  }

  /** @throws {CommandError} when the lease has ended because it was not renewed in time. */
  async renew(): Promise<void> {
    const nowMs = this.clock.nowMs()
    if (nowMs - this.renewedAtMs < RENEW_AFTER_MS) return
    const row = await this.db
      .updateTable('land_world')
      .set({ loading_until_ms: nowMs + LEASE_MS })
      .where('world_id', '=', this.worldId)
      .where('loading_until_ms', 'is not', null)
      .returning('world_id')
      .executeTakeFirst()
    if (!row) throw givenUp()
    this.renewedAtMs = nowMs
  }

  /** Does work that may take longer than a lease, and renews it meanwhile. A lease that has ended is found by the next step. */
  async during(work: () => Promise<void>): Promise<void> {
    const renewing = setInterval(() => void this.renew().catch(() => undefined), 2 * RENEW_AFTER_MS)
    try {
      await work()
    } finally {
      clearInterval(renewing)
    }
  }
}

/** Attaches the filled tables as partitions. Readers are not affected: they read another world. */
export async function attachWorld(db: Db, worldId: number, lease: Lease): Promise<void> {
  for (const table of LAND_TABLES) {
    const [parent, partition, id] = [
      sql.table(table),
      sql.table(partitionOf(table, worldId)),
      sql.lit(worldId),
    ]
    await lease.renew()
    await sql`alter table ${parent} attach partition ${partition} for values in (${id})`.execute(db)
    await sql`alter table ${partition} drop constraint loading`.execute(db)
    // A tenth of the usual sample, because the embedded engine runs no other statement meanwhile.
    await inTransaction(db, async (tx) => {
      await sql`set local default_statistics_target = 10`.execute(tx)
      await sql`analyze ${partition}`.execute(tx)
    })
  }
}

/** @throws {CommandError} when a world is shown. */
export async function assertNoWorld(db: Db): Promise<void> {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  if (world_id !== null) throw notEmpty()
}

export interface ShowOptions {
  /** Refuse to replace a world. */
  readonly onlyIfEmpty?: boolean | undefined
  /**
   * Is done in the same transaction: what it throws keeps the old world. `shownBefore` is that one, null for none.
   */
  readonly alsoIn?: ((tx: Tx, shownBefore: number | null) => Promise<void>) | undefined
}

/**
 * Makes the new world the one that is shown, in one transaction.
 * @returns the new revision
 * @throws {CommandError} when another world is shown and `onlyIfEmpty` is set, or when the lease has ended
 */
export function showWorld(
  db: Db,
  worldId: number,
  nowMs: number,
  { onlyIfEmpty = false, alsoIn }: ShowOptions = {},
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const old = await tx.selectFrom('land_state').select('world_id').forUpdate().executeTakeFirstOrThrow()
    if (onlyIfEmpty && old.world_id !== null) throw notEmpty()
    const row = await tx
      .updateTable('land_world')
      .set({ loading_until_ms: null })
      .where('world_id', '=', worldId)
      .where('loading_until_ms', 'is not', null)
      .returning('world_id')
      .executeTakeFirst()
    if (!row) throw givenUp()
    await tx
      .updateTable('land_world')
      .set({ retired_at_ms: nowMs })
      .where('world_id', '=', old.world_id)
      .execute()
    const { revision } = await tx
      .updateTable('land_state')
      .set((eb) => ({ world_id: worldId, revision: eb('revision', '+', 1), changed_at_ms: nowMs }))
      .returning('revision')
      .executeTakeFirstOrThrow()
    await startJournal(tx, { worldId, revision, changedAtMs: nowMs })
    await alsoIn?.(tx, old.world_id)
    await sql`select pg_notify('land', ${String(revision)})`.execute(tx)
    return revision
  })
}

/**
 * Drops the worlds that were retired at least `olderThanMs` ago, and those that killed imports left behind.
 * A world that is being read at this time stays until the next call.
 *
 * @returns how many worlds were dropped
 */
export async function dropRetiredWorlds(db: Db, olderThanMs: number, nowMs: number): Promise<number> {
  // A stalled import that goes on after this finds that its lease has ended, and stops.
  await db
    .updateTable('land_world')
    .set({ loading_until_ms: null, retired_at_ms: 0 })
    .where('loading_until_ms', '<=', nowMs)
    .execute()
  const retired = await db
    .selectFrom('land_world')
    .select('world_id')
    .where('retired_at_ms', '<=', Math.max(nowMs - olderThanMs, 0))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('land_state')
            .select('revision')
            .whereRef('land_state.world_id', '=', 'land_world.world_id'),
        ),
      ),
    )
    .orderBy('world_id')
    .execute()
  let dropped = 0
  for (const { world_id } of retired) if (await dropWorld(db, world_id)) dropped++
  return dropped
}

/** Drops one world. @returns false when a table is being read; the rest is then dropped by a later call */
export async function dropWorld(db: Db, worldId: number): Promise<boolean> {
  try {
    for (const table of LAND_TABLES) {
      await inTransaction(db, async (tx) => {
        await sql`set local lock_timeout = ${sql.lit(DROP_LOCK_TIMEOUT)}`.execute(tx)
        await sql`drop table if exists ${sql.table(partitionOf(table, worldId))}`.execute(tx)
      })
    }
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    return false
  }
  await db.deleteFrom('land_world').where('world_id', '=', worldId).execute()
  return true
}

function notEmpty(): CommandError {
  return new CommandError('The database holds a world already. Nothing was changed.')
}

function givenUp(): CommandError {
  return new CommandError(
    'This import stood still for too long and was given up. Nothing was changed: start it again.',
  )
}

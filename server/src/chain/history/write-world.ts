import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import type { EventTable } from '../../land/events/land-rows.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { Ground } from '../../land/snapshot/ground.ts'
import { Loader } from '../../land/snapshot/loader.ts'
import {
  attachWorld,
  beginWorld,
  dropRetiredWorlds,
  dropWorld,
  Lease,
  RETIRED_GRACE_MS,
  showWorld,
} from '../../land/snapshot/worlds.ts'

/** The tables that events write, in the order in which an import fills them. */
const EVENT_TABLES = [
  'parcel',
  'estate',
  'publication',
  'bid',
  'mortgage',
  'land_right',
  'trade_signature',
  'trade_index',
] as const satisfies readonly EventTable[]

export interface WriteWorldOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** How long to wait for another import that seems to be running but may have been killed. */
  readonly patienceMs: number
  /** Runs in the transaction that shows the world: what it throws keeps the old world. */
  readonly whenShown: (tx: Tx, worldId: number, shownBefore: number | null) => Promise<void>
}

/**
 * Writes a world that is in memory beside the one that is shown, and shows it in one step.
 *
 * @returns the new revision
 * @throws {CommandError} while another import runs. Then, and after any failure, nothing has changed
 */
export async function writeWorld(
  db: Db,
  rows: MemoryRows,
  ground: Pick<Ground, 'districts' | 'contributions'>,
  options: WriteWorldOptions,
): Promise<number> {
  const { clock, signal, whenShown } = options
  await dropRetiredWorlds(db, RETIRED_GRACE_MS, clock.nowMs())
  const worldId = await beginWorld(db, clock, options)
  try {
    const lease = new Lease(db, worldId, clock)
    await fillTables(new Loader(db, worldId, lease), rows, ground, signal)
    await attachWorld(db, worldId, lease)
    signal.throwIfAborted()
    const alsoIn = (tx: Tx, shownBefore: number | null) => whenShown(tx, worldId, shownBefore)
    return await showWorld(db, worldId, clock.nowMs(), { alsoIn })
  } catch (error) {
    await dropWorld(db, worldId).catch(() => undefined) // the first error is the one to report
    throw error
  }
}

async function fillTables(
  loader: Loader,
  rows: MemoryRows,
  { districts, contributions }: Pick<Ground, 'districts' | 'contributions'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const district of districts) await loader.add('district', district)
    for (const table of EVENT_TABLES) {
      for (const row of rows.rowsOf(table)) {
        const full = loader.add(table, row)
        if (!full) continue
        await full
        signal.throwIfAborted()
      }
    }
    for (const contribution of contributions) await loader.add('contribution', contribution)
    await loader.finish()
  } finally {
    await loader.settle() // tables cannot be dropped under a running INSERT
  }
}

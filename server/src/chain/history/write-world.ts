import type { Db } from '../../db/engine.ts'
import { EVENT_TABLES } from '../../land/changes/event-tables.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { Ground } from '../../land/snapshot/ground.ts'
import { makeWorld, type NewWorldOptions } from '../../land/snapshot/new-world.ts'

/**
 * Writes a world that is in memory beside the one that is shown, and shows it in one step.
 *
 * @returns the new revision
 * @throws {CommandError} while another import runs. Then, and after any failure, nothing has changed
 */
export async function writeWorld(
  db: Db,
  rows: MemoryRows,
  { districts, contributions }: Pick<Ground, 'districts' | 'contributions'>,
  options: NewWorldOptions & {
    readonly signal: AbortSignal
    readonly beforeShow?: (() => Promise<void>) | undefined
  },
): Promise<number> {
  const shown = await makeWorld(db, options, {
    beforeShow: options.beforeShow,
    fill: async (loader) => {
      for (const district of districts) await loader.add('district', district)
      for (const table of EVENT_TABLES) {
        for (const row of rows.eachRow(table)) {
          const full = loader.add(table, row)
          if (!full) continue
          await full
          options.signal.throwIfAborted()
        }
      }
      for (const contribution of contributions) await loader.add('contribution', contribution)
      return true
    },
  })
  return shown!.revision
}

import { isDeepStrictEqual } from 'node:util'
import type { World } from '@landpass/client/grid'
import type { Db } from '../db/engine.ts'
import { readLandHead, type StoredHead } from '../land/changes/land-head.ts'
import { buildState } from './builders/build-state.ts'
import { patchState } from './builders/patch-state.ts'
import { readStateChanges } from './change-queries.ts'
import type { StateParts } from './parts/parts.ts'

const ATTEMPTS = 5

/**
 * Reads the land, and then again what was committed meanwhile: the journal names all rows that may have been read too
 * early. Where it does not, because another world was imported or too much has changed, everything is read again. A
 * single transaction would need neither, but would block all other queries of the embedded engine for seconds.
 *
 * @param lineage instead of that of the database, while that has moved and cannot be written
 * @returns undefined where no world is imported
 */
export async function readState(db: Db, world: World, lineage?: string): Promise<StateParts | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readLandHead(db)
    const { worldId } = before
    if (worldId === null) return undefined
    const built = await buildState(db, world, { ...before, worldId, lineage: lineage ?? before.lineage })
    const after = await readLandHead(db)
    if (isSameRevision(after, before) && (lineage !== undefined || after.location !== 'moved')) return built
    const changes = lineage === undefined ? await readStateChanges(db, built) : undefined
    if (changes) return patchState(built, changes)
  }
  throw new Error(
    `the land changed too much during each of ${ATTEMPTS} attempts to read it; the next poll tries again`,
  )
}

/** Whether both heads are of the same rows. The block moves without them where blocks have no event of the land. */
function isSameRevision(a: StoredHead, b: StoredHead): boolean {
  return isDeepStrictEqual({ ...a, block: null }, { ...b, block: null })
}

import { isDeepStrictEqual } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { EngineSource } from '../db/engine.ts'
import { openLent } from '../db/open-engine.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { buildState } from './builders/build-state.ts'
import { patchState } from './builders/patch-state.ts'
import { readStateChanges } from './change-queries.ts'
import { buffersOf, type StateParts } from './parts/parts.ts'

/** What `StateKeeper` sends to this thread, and the answer: undefined where no world is imported. */
export interface StateTask {
  readonly source: EngineSource
  readonly world: World
  /** Instead of the lineage of the database, while that has moved and cannot be written. */
  readonly lineage?: string | undefined
}
export type StateAnswer = StateParts | undefined

const ATTEMPTS = 5

const { source, world, lineage } = workerData as StateTask
const engine = await openLent(source)
const parts = await readOneRevision()
await engine.close()
parentPort?.postMessage(parts satisfies StateAnswer, [...buffersOf(parts)])

/**
 * Reads the land, and then again what was committed meanwhile: the journal names all rows that may have been read too
 * early. Where it does not, because another world was imported or too much has changed, everything is read again. A
 * single transaction would need neither, but would block all other queries of the embedded engine for seconds.
 */
async function readOneRevision(): Promise<StateAnswer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readLandHead(engine.db)
    const { worldId } = before
    if (worldId === null) return undefined
    const built = await buildState(engine.db, world, {
      ...before,
      worldId,
      lineage: lineage ?? before.lineage,
    })
    const after = await readLandHead(engine.db)
    if (isDeepStrictEqual(after, before) && (lineage !== undefined || after.location !== 'moved'))
      return built
    const changes = lineage === undefined ? await readStateChanges(engine.db, built) : undefined
    if (changes) return patchState(built, changes)
  }
  throw new Error(
    `the land changed too much during each of ${ATTEMPTS} attempts to read it; the next poll tries again`,
  )
}

import { parentPort, workerData } from 'node:worker_threads'
import type { EngineSource } from '../../db/engine.ts'
import { openLent } from '../../db/open-engine.ts'
import type { World } from '../../world/world.ts'
import { readLandState } from '../land-state.ts'
import { buildPresent } from './build-present.ts'
import { buffersOf, type PresentParts } from './parts.ts'

/** What the keeper hands to this thread, and what comes back: nothing where no world is loaded. */
export interface PresentTask {
  readonly source: EngineSource
  readonly world: World
}
export type PresentAnswer = PresentParts | undefined

const ATTEMPTS = 5

const { source, world } = workerData as PresentTask
const engine = await openLent(source)
const parts = await readOneRevision()
await engine.close()
parentPort?.postMessage(parts satisfies PresentAnswer, [...buffersOf(parts)])

/**
 * Reads until nothing was committed in between. A transaction would give that at once, but would keep the
 * embedded engine from serving anyone else for seconds.
 */
async function readOneRevision(): Promise<PresentAnswer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readLandState(engine.db)
    const { worldId } = before
    if (worldId === null) return undefined
    const built = await buildPresent(engine.db, world, { ...before, worldId })
    const after = await readLandState(engine.db)
    if (after.revision === before.revision) return built
  }
  throw new Error(`the land changed during each of ${ATTEMPTS} readings; it is read again soon`)
}

import { parentPort, workerData } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { EngineSource } from '../db/engine.ts'
import { openLent } from '../db/open-engine.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { buildState } from './builders/build-state.ts'
import { buffersOf, type StateParts } from './parts/parts.ts'

/** What the keeper hands to this thread, and what comes back: nothing where no world is loaded. */
export interface StateTask {
  readonly source: EngineSource
  readonly world: World
}
export type StateAnswer = StateParts | undefined

const ATTEMPTS = 5

const { source, world } = workerData as StateTask
const engine = await openLent(source)
const parts = await readOneRevision()
await engine.close()
parentPort?.postMessage(parts satisfies StateAnswer, [...buffersOf(parts)])

/**
 * Reads until nothing was committed in between. A transaction would give that at once, but would keep the
 * embedded engine from serving anyone else for seconds.
 */
async function readOneRevision(): Promise<StateAnswer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readLandHead(engine.db)
    const { worldId } = before
    if (worldId === null) return undefined
    const built = await buildState(engine.db, world, { ...before, worldId })
    const after = await readLandHead(engine.db)
    if (after.revision === before.revision) return built
  }
  throw new Error(`the land changed during each of ${ATTEMPTS} readings; it is read again soon`)
}

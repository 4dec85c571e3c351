import { parentPort, workerData } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { EngineSource } from '../db/engine.ts'
import { openLent } from '../db/open-engine.ts'
import { buffersOf, type StateParts } from './parts/parts.ts'
import { readState } from './read-state.ts'

/** What `StateKeeper` sends to this thread, and the answer: undefined where no world is imported. */
export interface StateTask {
  readonly source: EngineSource
  readonly world: World
  /** Instead of the lineage of the database, while that has moved and cannot be written. */
  readonly lineage?: string | undefined
}
export type StateAnswer = StateParts | undefined

const { source, world, lineage } = workerData as StateTask
const engine = await openLent(source)
const parts = await readState(engine.db, world, lineage)
await engine.close()
parentPort?.postMessage(parts satisfies StateAnswer, [...buffersOf(parts)])

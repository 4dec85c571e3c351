import { parentPort, workerData } from 'node:worker_threads'
import { openLent } from '../db/open-engine.ts'
import { buffersOf } from './parts/parts.ts'
import type { ThreadTask } from './read-in-thread.ts'
import { readState } from './read-state.ts'

const { source, world, lineage } = workerData as ThreadTask
const engine = await openLent(source)
const parts = await readState(engine.db, world, lineage)
await engine.close()
parentPort?.postMessage(parts, [...buffersOf(parts)])

import { Worker } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { Engine, EngineSource } from '../db/engine.ts'
import { fromThread } from '../db/statement-error.ts'
import type { StateParts } from './parts/parts.ts'

/** The land that is read. */
export interface LandToRead {
  readonly world: World
  /** Instead of the lineage of the database, while that has moved and cannot be written. */
  readonly lineage?: string | undefined
}

/**
 * Reads all of the land from the tables.
 *
 * @param signal ends the reading, which then fails
 * @returns undefined where no world is imported
 */
export type ReadLand = (
  engine: Engine,
  land: LandToRead,
  signal: AbortSignal,
) => Promise<StateParts | undefined>

/** What the thread is given. It answers with what {@link ReadLand} gives. */
export interface StateTask extends LandToRead {
  readonly source: EngineSource
}

/** Reads in a worker thread, so that requests are answered meanwhile. @param program of the thread */
export function readInThread(program = new URL('./state-thread.js', import.meta.url)): ReadLand {
  return async (engine, land, signal) => {
    signal.throwIfAborted()
    const { source, transfer } = engine.lend()
    const workerData: StateTask = { source, ...land }
    const thread = new Worker(program, { workerData, transferList: [...transfer] })
    const end = () => void thread.terminate()
    signal.addEventListener('abort', end)
    try {
      return await new Promise<StateParts | undefined>((resolve, reject) => {
        thread.once('message', resolve)
        thread.once('error', (error) => reject(fromThread(error)))
        thread.once('exit', (code) =>
          reject(new Error(`the thread that reads the land exited with code ${code}`)),
        )
      })
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}

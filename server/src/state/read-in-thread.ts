import { Worker } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { Engine, EngineSource } from '../db/engine.ts'
import { fromThread } from '../db/statement-error.ts'
import type { StateParts } from './parts/parts.ts'

/** Which land to read, and with which lineage. */
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

/** The data of the worker thread; its message is what {@link ReadLand} returns. */
export interface ThreadTask extends LandToRead {
  readonly source: EngineSource
}

/** Reads in a worker thread, so that the main thread answers requests meanwhile. @param program of the thread */
export function readInThread(program = new URL('./state-thread.js', import.meta.url)): ReadLand {
  return async (engine, land, signal) => {
    signal.throwIfAborted()
    const { source, transfer } = engine.lend()
    const workerData: ThreadTask = { source, ...land }
    const thread = new Worker(program, { workerData, transferList: [...transfer] })
    const end = () => void thread.terminate()
    signal.addEventListener('abort', end)
    try {
      return await new Promise<StateParts | undefined>((resolve, reject) => {
        thread.once('message', resolve)
        thread.once('error', (error) => reject(fromThread(error)))
        thread.once('exit', (code) =>
          reject(signal.reason ?? new Error(`the thread that reads the land exited with code ${code}`)),
        )
      })
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}

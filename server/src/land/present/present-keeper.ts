import { Worker } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import { SECOND_MS } from '../../clock.ts'
import type { Engine } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { World } from '../../world/world.ts'
import { LAND_CHANNEL, readLandState } from '../land-state.ts'
import { Present } from './present.ts'
import type { PresentAnswer, PresentTask } from './present-thread.ts'

/** A notification can be lost with its connection; asking now and then finds what it would have told. */
const LOOK_EVERY_MS = 5 * SECOND_MS

/**
 * Holds the present state of the land and replaces it, in one assignment, after each committed change.
 * The next state is read and laid out in a thread of its own; readers keep the old one until it is whole.
 */
export class PresentKeeper {
  private readonly engine: Engine
  private readonly world: World
  private readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>
  private held: Present | undefined
  private refreshing: Promise<void> | undefined
  private again = false
  private closed = false
  private timer: NodeJS.Timeout | undefined
  private thread: Worker | undefined

  constructor(engine: Engine, world: World, log: Pick<FastifyBaseLogger, 'info' | 'error'>) {
    this.engine = engine
    this.world = world
    this.log = log
  }

  /** The present state. @throws {AppError} `world_not_loaded` where there is none yet. */
  current(): Present {
    if (this.held) return this.held
    throw new AppError('world_not_loaded', 'The world is not loaded yet; try again in a few seconds.')
  }

  get revision(): number {
    return this.held?.revision ?? 0
  }

  /** Loads the state if there is one, and follows every change from now on. */
  async start(): Promise<void> {
    await this.engine.listen(LAND_CHANNEL, () => void this.refreshSoon())
    await this.refresh()
    this.timer = setInterval(() => void this.refreshSoon(), LOOK_EVERY_MS)
    this.timer.unref()
  }

  /** Brings the state up to what is committed now. Calls that come meanwhile share the work. */
  async refresh(): Promise<void> {
    if (this.refreshing) {
      this.again = true
      return this.refreshing
    }
    this.refreshing = this.refreshUntilCurrent()
    return this.refreshing
  }

  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.timer)
    await this.thread?.terminate()
    await this.refreshing?.catch(() => undefined)
  }

  private async refreshSoon(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      if (!this.closed)
        this.log.error({ err: error }, 'the land could not be read again; the last state stays')
    }
  }

  /** A wish that comes during the work is seen by the loop; one that comes after it finds `refreshing` empty. */
  private async refreshUntilCurrent(): Promise<void> {
    try {
      do {
        this.again = false
        await this.refreshOnce()
      } while (this.again && !this.closed)
    } finally {
      this.refreshing = undefined
    }
  }

  private async refreshOnce(): Promise<void> {
    const state = await readLandState(this.engine.db)
    const isCurrent = this.held?.revision === state.revision && this.held.parts.lineage === state.lineage
    if (state.worldId === null || isCurrent) return
    const startedMs = performance.now()
    const parts = await this.buildApart()
    if (!parts) return
    this.held = new Present(parts)
    const tookMs = Math.round(performance.now() - startedMs)
    this.log.info({ revision: parts.revision, parcels: parts.parcels.x.length, tookMs }, 'land loaded')
  }

  private async buildApart(): Promise<PresentAnswer> {
    const { source, transfer } = this.engine.lend()
    const task: PresentTask = { source, world: this.world }
    const thread = new Worker(new URL('./present-thread.js', import.meta.url), {
      workerData: task,
      transferList: [...transfer],
    })
    this.thread = thread
    try {
      return await new Promise<PresentAnswer>((resolve, reject) => {
        thread.once('message', resolve)
        thread.once('error', reject)
        thread.once('exit', (code) =>
          reject(new Error(`the thread that reads the land ended with code ${code}`)),
        )
      })
    } finally {
      this.thread = undefined
    }
  }
}

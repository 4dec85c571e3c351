import { isDeepStrictEqual } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { World } from '@landpass/client/grid'
import type { FastifyBaseLogger } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import type { Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { LAND_CHANNEL, type LandHead, readLandHead } from '../land/changes/land-head.ts'
import { patchState } from './builders/patch-state.ts'
import { readStateChanges } from './change-queries.ts'
import type { StateParts } from './parts/parts.ts'
import { State } from './state.ts'
import { StateCopy } from './state-copy.ts'
import type { StateAnswer, StateTask } from './state-thread.ts'

/**
 * A notification can be lost with its connection; asking now and then finds what it would have told. It is one row of
 * one table: 0.15 ms on either engine.
 */
const LOOK_EVERY_MS = SECOND_MS / 2

export interface KeeperSettings {
  readonly world: World
  /** Where the copy lies. */
  readonly dataDir: string
}

type Log = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * Holds the state of the land and replaces it, in one assignment, after each committed change. Readers keep
 * the old one until the next is whole.
 *
 * The next state is made from the one that is held, where the journal names what has changed since and that is not
 * much; otherwise all of the land is read and laid out again, in a thread of its own. At the start the copy on disk
 * takes the place of the one that is held.
 */
export class StateKeeper {
  private readonly engine: Engine
  private readonly world: World
  private readonly log: Log
  private readonly copy: StateCopy
  private readonly listeners = new Set<() => void>()
  private held: State | undefined
  /** What the first state is made from. */
  private loaded: StateParts | undefined
  private refreshing: Promise<void> | undefined
  private again = false
  private closed = false
  private isFailing = false
  private timer: NodeJS.Timeout | undefined
  private thread: Worker | undefined

  constructor(engine: Engine, { world, dataDir }: KeeperSettings, log: Log) {
    this.engine = engine
    this.world = world
    this.log = log
    this.copy = new StateCopy(dataDir, (error) =>
      log.warn({ err: error }, 'the copy of the land could not be written; the next start takes longer'),
    )
  }

  /** The state. @throws {AppError} `world_not_loaded` where there is none yet. */
  current(): State {
    if (this.held) return this.held
    throw new AppError('world_not_loaded', 'The world is not loaded yet; try again in a few seconds.')
  }

  get revision(): number {
    return this.held?.revision ?? 0
  }

  /** Calls a listener whenever another state has taken the place of the one before. It must not throw. */
  onReplaced(listener: () => void): void {
    this.listeners.add(listener)
  }

  /** Loads the state if there is one, and follows every change from now on. */
  async start(): Promise<void> {
    const loaded = await this.copy.load()
    if (isDeepStrictEqual(loaded?.bounds, this.world.bounds)) this.loaded = loaded
    await this.engine.listen(LAND_CHANNEL, () => void this.refreshSoon())
    await this.refresh()
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS)
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
    await this.copy.close()
  }

  /** A look that takes longer than the time to the next one is not followed by another. */
  private look(): void {
    if (!this.refreshing) void this.refreshSoon()
  }

  private async refreshSoon(): Promise<void> {
    try {
      await this.refresh()
      this.isFailing = false
    } catch (error) {
      // Said once, not twice a second for as long as a database is away.
      if (!this.closed && !this.isFailing)
        this.log.error({ err: error }, 'the land could not be read again; the last state stays')
      this.isFailing = true
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
    const head = await readLandHead(this.engine.db)
    if (head.worldId === null || this.isCurrent(head)) return
    const base = this.held?.parts ?? this.loaded
    this.loaded = undefined
    const next = (base && (await this.patch(base))) ?? (await this.build())
    if (!next) return
    this.held = next
    for (const listener of this.listeners) listener()
  }

  private isCurrent({ lineage, revision, changedAtMs }: LandHead): boolean {
    const parts = this.held?.parts
    return parts?.revision === revision && parts.lineage === lineage && parts.changedAtMs === changedAtMs
  }

  /** The next state made from an earlier one; undefined where that cannot be. */
  private async patch(base: StateParts): Promise<State | undefined> {
    const changes = await readStateChanges(this.engine.db, base)
    if (!changes) return undefined
    const startedMs = performance.now()
    try {
      const next = new State(patchState(base, changes))
      const level = this.held ? 'debug' : 'info'
      this.tell(level, next, { from: this.held ? 'state' : 'copy', startedMs })
      const { parcels, estates, publications } = changes
      this.copy.follow(next.parts, 1 + parcels.length + estates.length + publications.length)
      return next
    } catch (error) {
      // A mistake of ours must not leave the server with an old state for ever.
      this.log.error({ err: error }, 'a change could not be laid into the land; all of it is read again')
      return undefined
    }
  }

  private async build(): Promise<State | undefined> {
    const startedMs = performance.now()
    const parts = await this.buildApart()
    if (!parts) return undefined
    const next = new State(parts)
    this.tell('info', next, { from: 'tables', startedMs })
    this.copy.replace(parts)
    return next
  }

  private tell(level: 'debug' | 'info', { revision, parts }: State, { from, startedMs }: Making): void {
    const tookMs = Math.round(performance.now() - startedMs)
    this.log[level]({ revision, parcels: parts.parcels.x.length, from, tookMs }, 'land loaded')
  }

  private async buildApart(): Promise<StateAnswer> {
    const { source, transfer } = this.engine.lend()
    const task: StateTask = { source, world: this.world }
    const thread = new Worker(new URL('./state-thread.js', import.meta.url), {
      workerData: task,
      transferList: [...transfer],
    })
    this.thread = thread
    try {
      return await new Promise<StateAnswer>((resolve, reject) => {
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

/** What a state was made from, and since when. */
interface Making {
  readonly from: 'tables' | 'state' | 'copy'
  readonly startedMs: number
}

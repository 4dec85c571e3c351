import { isDeepStrictEqual } from 'node:util'
import type { World } from '@landpass/client/grid'
import type { FastifyBaseLogger } from 'fastify'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from '../clock.ts'
import type { Engine } from '../db/engine.ts'
import { folderIdentity } from '../db/folder-identity.ts'
import { isDatabaseRefusal } from '../db/statement-error.ts'
import { AppError } from '../errors.ts'
import type { ChangedAssets, RevisionRange } from '../land/changes/change-journal.ts'
import { LAND_CHANNEL, type LandHead, readLandHead, type StoredHead } from '../land/changes/land-head.ts'
import { newLineage, renewLineageIfMoved } from '../land/changes/lineage.ts'
import { patchState } from './builders/patch-state.ts'
import { readStateChanges } from './change-queries.ts'
import { assetsOf, type KnownChange, knownChange } from './known-change.ts'
import type { StateParts } from './parts/parts.ts'
import { type ReadLand, readInThread } from './read-in-thread.ts'
import { State } from './state.ts'
import { StateCopy } from './state-copy.ts'

/**
 * A notification can be lost with its connection, so the revision is also polled: less than half a millisecond on
 * either engine, most of it for the location of the database.
 */
const POLL_EVERY_MS = SECOND_MS / 2

export interface KeeperSettings {
  readonly world: World
  /** The folder of the copy on disk. */
  readonly dataDir: string
  /** How all of the land is read from the tables; in a thread by default. */
  readonly readLand?: ReadLand | undefined
}

type Log = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * Holds the state of the land and replaces it, in one assignment, after each committed change. A request keeps the
 * state that it began with.
 *
 * Where the journal names what has changed and that is not too much, the next state is made by patching the current one
 * (at the start: the copy on disk). Otherwise all of the land is read from the tables, in a worker thread by default.
 */
export class StateKeeper {
  private readonly engine: Engine
  private readonly world: World
  private readonly log: Log
  private readonly clock: Clock
  private readonly folder: string | undefined
  private readonly copy: StateCopy
  private readonly readLand: ReadLand
  private readonly listeners = new Set<() => void>()
  private held: State | undefined
  /** The copy on disk, until the first state is made. */
  private loaded: StateParts | undefined
  private standIn: StandInLineage | undefined
  private isListening = false
  private refreshing: Promise<void> | undefined
  private isRefreshRequested = false
  /** Whether a notification came since the last refresh began. */
  private isChangeAnnounced = false
  /** What made the current state from the one before; undefined where it was not patched. */
  private lastChange: KnownChange | undefined
  private readonly closing = new AbortController()
  private isFailing = false
  private timer: NodeJS.Timeout | undefined

  constructor(engine: Engine, settings: KeeperSettings, log: Log, clock: Clock = SYSTEM_CLOCK) {
    const { world, dataDir, readLand = readInThread() } = settings
    this.engine = engine
    this.world = world
    this.log = log
    this.clock = clock
    this.readLand = readLand
    this.folder = engine.kind === 'embedded' ? folderIdentity(dataDir) : undefined
    this.copy = new StateCopy(dataDir, (error) =>
      log.warn({ err: error }, 'could not write the copy of the land to disk; the next start takes longer'),
    )
  }

  /** The current state. @throws {AppError} `world_not_loaded` before the first one */
  current(): State {
    if (this.held) return this.held
    throw new AppError('world_not_loaded', 'The world is not loaded yet; try again in a few seconds.')
  }

  get revision(): number {
    return this.held?.revision ?? 0
  }

  /** Calls a listener each time the state was replaced. A listener must not throw. */
  onReplaced(listener: () => void): void {
    this.listeners.add(listener)
  }

  /**
   * Loads the state, where a world was imported, and from now on every committed change. Can be called again where it
   * failed because the database was away.
   */
  async start(): Promise<void> {
    const loaded = await this.copy.load()
    // Which parcels lie in the world follows from its rectangles.
    if (isDeepStrictEqual(loaded?.areas, this.world.areas)) this.loaded = loaded
    if (!this.isListening) await this.engine.listen(LAND_CHANNEL, this.onChange)
    this.isListening = true
    await this.refresh()
    this.timer = setInterval(() => this.poll(), POLL_EVERY_MS)
    this.timer.unref()
  }

  /** Brings the state up to the last commit. Calls while a refresh is running share it. */
  async refresh(): Promise<void> {
    if (this.refreshing) {
      this.isRefreshRequested = true
      return this.refreshing
    }
    this.refreshing = this.refreshUntilCurrent()
    return this.refreshing
  }

  async close(): Promise<void> {
    this.closing.abort()
    clearInterval(this.timer)
    await this.refreshing?.catch(() => undefined)
    await this.copy.close()
  }

  /**
   * What changed between two revisions, where the current state was patched from the first to the second: then the journal need
   * not be read for it again. Undefined otherwise.
   */
  changesOf(worldId: number, range: RevisionRange): ChangedAssets | undefined {
    return assetsOf(this.lastChange, worldId, range)
  }

  /** @param payload empty where notifications may have been missed: then the head says whether there is a change */
  private readonly onChange = (payload: string) => {
    if (payload !== '') this.isChangeAnnounced = true
    void this.refreshSoon()
  }

  /** Does nothing while a refresh is running. */
  private poll(): void {
    if (!this.refreshing) void this.refreshSoon()
  }

  private async refreshSoon(): Promise<void> {
    try {
      await this.refresh()
      this.isFailing = false
    } catch (error) {
      // Logged once, not at every poll while the database is unavailable.
      if (!this.closing.signal.aborted && !this.isFailing)
        this.log.error({ err: error }, 'could not read the land again; answers show the last state')
      this.isFailing = true
    }
  }

  /** Repeats for calls of `refresh()` while it runs. Later calls find `refreshing` undefined and start a new run. */
  private async refreshUntilCurrent(): Promise<void> {
    try {
      do {
        this.isRefreshRequested = false
        await this.refreshOnce()
      } while (this.isRefreshRequested && !this.closing.signal.aborted)
    } finally {
      this.refreshing = undefined
    }
  }

  /**
   * After an announced change, what has changed is read at once: the statement reads the head, too, and finds nothing where the
   * database is another one. Where it finds nothing, and without an announcement, the head is read first.
   */
  private async refreshOnce(): Promise<void> {
    const announced = this.isChangeAnnounced && !this.standIn ? this.held?.parts : undefined
    this.isChangeAnnounced = false
    const next = (announced && (await this.patch(announced))) ?? (await this.readNext(announced))
    if (!next || next === this.held) return
    this.loaded = undefined
    this.held = next
    for (const listener of this.listeners) listener()
  }

  /**
   * The current state where nothing has changed; undefined without a world.
   *
   * @param unpatched parts that were just found not to be patched: they are not tried again
   */
  private async readNext(unpatched: StateParts | undefined): Promise<State | undefined> {
    const head = await this.readHead()
    if (head.worldId === null || this.isCurrent(head)) return this.held
    const { standIn } = this
    const base = standIn ? undefined : (this.held?.parts ?? this.loaded)
    const patched = base && base !== unpatched ? await this.patch(base) : undefined
    return patched ?? this.build(standIn?.lineage)
  }

  /**
   * The head, after a new lineage was made where the database has moved or gone back: see lineage.ts. While the database
   * accepts no changes, a lineage of this process stands in for the new one: no tag of the other database is confirmed.
   */
  private async readHead(): Promise<StoredHead> {
    const { db } = this.engine
    const head = await readLandHead(db)
    const shown = this.standIn ? this.standIn.shown : (this.held?.parts ?? this.loaded)
    const isBehind = shown?.lineage === head.lineage && shown.revision > head.revision
    const isCopied = this.folder !== undefined && this.folder !== head.folder
    if (head.location === 'same' && !isBehind && !isCopied) {
      this.standIn = undefined
      return head
    }
    const facts = { folder: this.folder, nowMs: this.clock.nowMs(), shown }
    try {
      const renewal = await renewLineageIfMoved(db, facts)
      if (renewal?.why !== undefined)
        this.log.warn(renewal, 'the database got a new lineage: clients read everything once again')
    } catch (error) {
      return { ...head, lineage: this.standInLineage(error, shown) }
    }
    this.standIn = undefined
    return readLandHead(db)
  }

  /** @throws what is no refusal to write */
  private standInLineage(error: unknown, shown: StandInLineage['shown']): string {
    const refusesWrites = isDatabaseRefusal(error) && error.code !== 'database_unavailable'
    if (!refusesWrites) throw error
    if (!this.standIn) {
      this.log.warn(
        { code: error.code },
        'the database needs a new lineage and accepts no changes: this process uses one of its own until then',
      )
      const { lineage, revision } = shown ?? {}
      const kept = lineage === undefined || revision === undefined ? undefined : { lineage, revision }
      this.standIn = { lineage: newLineage(), shown: kept }
    }
    return this.standIn.lineage
  }

  private isCurrent({ lineage, revision, changedAtMs }: LandHead): boolean {
    const parts = this.held?.parts
    return parts?.revision === revision && parts.lineage === lineage && parts.changedAtMs === changedAtMs
  }

  /** Makes the next state from an earlier one; undefined where it has to be built from the tables. */
  private async patch(base: StateParts): Promise<State | undefined> {
    const changes = await readStateChanges(this.engine.db, base)
    if (!changes) return undefined
    if (base === this.held?.parts && changes.revision === base.revision) return this.held
    const startedMs = performance.now()
    try {
      const next = new State(patchState(base, changes), this.world)
      const level = this.held ? 'debug' : 'info'
      this.logLoaded(level, next, { from: this.held ? 'state' : 'copy', startedMs })
      const { parcels, estates, publications } = changes
      this.copy.follow(next.parts, 1 + parcels.length + estates.length + publications.length)
      this.lastChange = knownChange(base, changes)
      return next
    } catch (error) {
      // A bug in patching must not leave the server with an old state for ever.
      this.log.error({ err: error }, 'could not patch a change into the state; reading all of the land again')
      return undefined
    }
  }

  /** @param lineage that stands in for the one of the database: such a state is not kept on disk */
  private async build(lineage: string | undefined): Promise<State | undefined> {
    const startedMs = performance.now()
    const { engine, world, closing } = this
    const parts = await this.readLand(engine, { world, lineage }, closing.signal)
    if (!parts) return undefined
    const next = new State(parts, this.world)
    this.lastChange = undefined
    this.logLoaded('info', next, { from: 'tables', startedMs })
    if (lineage === undefined) this.copy.replace(parts)
    return next
  }

  private logLoaded(level: 'debug' | 'info', { revision, parts }: State, { from, startedMs }: Origin): void {
    const tookMs = Math.round(performance.now() - startedMs)
    this.log[level]({ revision, parcels: parts.parcels.x.length, from, tookMs }, 'land loaded')
  }
}

/** Used in place of the lineage of the database, and what was shown before it. */
interface StandInLineage {
  readonly lineage: string
  readonly shown: Pick<LandHead, 'lineage' | 'revision'> | undefined
}

/** What a state was made from, and when that began. */
interface Origin {
  readonly from: 'tables' | 'state' | 'copy'
  readonly startedMs: number
}

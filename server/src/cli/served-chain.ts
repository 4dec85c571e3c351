import type { ChildProcess } from 'node:child_process'
import { type Chain, openChain } from '../chain/chain.ts'
import { hasEnded } from '../chain/follow/holder.ts'
import type { OwnState } from '../chain/follow/status-reader.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { CommandError } from '../errors.ts'
import { readChainStanding } from '../land/changes/chain-position.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { FollowChild, type FollowMessage, startFollow } from './follow-child.ts'
import { LOOK_AGAIN_MS, pauseAfterFailuresMs, pauseFor } from './retry-pauses.ts'
import { WorldRebuild } from './world-rebuild.ts'

export interface ServedChainOptions {
  readonly config: Config
  readonly engine: Pick<Engine, 'db'>
  /** Starts the command that reads the history; tests replace it. */
  readonly startCommand?: () => ChildProcess
  /** Waits, and ends early without an error when the signal is aborted; tests replace it. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

const FAILED = 'The chain cannot be followed now, which is tried again: '

interface Log {
  info(text: string): void
  error(facts: object, text: string): void
}

/**
 * Follows the chain beside a server. An empty database is filled by the command `landpass follow` in a process of its
 * own, so that reading the history costs the server nothing; it ends with the server.
 */
export class ServedChain {
  private readonly options: ServedChainOptions
  private readonly stopping: AbortController
  private log: Log | undefined
  private running: Promise<void> | undefined
  private own: OwnState | undefined
  /** What everyone may read of the last failure. The log has all of it. */
  private failedWith: string | undefined
  private readonly command: FollowChild
  private readonly rebuild: WorldRebuild
  readonly chain: Chain

  private constructor(options: ServedChainOptions, chain: Chain, stopping: AbortController) {
    this.options = options
    this.chain = chain
    this.stopping = stopping
    this.command = new FollowChild(options.startCommand ?? (() => startFollow(['--until', 'finalized'])))
    this.rebuild = new WorldRebuild({ chain, log: (line) => this.log?.info(`chain: ${line}`) })
  }

  /** @throws {CommandError} where the network file is bad */
  static async create(options: ServedChainOptions): Promise<ServedChain> {
    const { config, engine } = options
    const stopping = new AbortController()
    const chain = await openChain({
      config,
      db: engine.db,
      clock: SYSTEM_CLOCK,
      signal: stopping.signal,
      log: (line) => served.log?.info(`chain: ${line}`),
    })
    const served: ServedChain = new ServedChain(options, chain, stopping)
    return served
  }

  /** What this process does where it does not follow; undefined where it does, or another process may. */
  readonly ownState = (): OwnState | undefined => this.own

  /** The database must be up to date. */
  start(log: Log): void {
    this.log = log
    this.running = this.run()
    this.chain.onMendDue = () => this.rebuild.start()
    this.rebuild.start()
  }

  async close(): Promise<void> {
    this.stopping.abort()
    this.command.stop()
    await this.rebuild.close()
    await this.running
    await this.chain.close()
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping
    for (let failures = 0; !signal.aborted; ) {
      try {
        const isWaiting = await this.followOnce()
        failures = 0
        this.failedWith = undefined
        if (isWaiting) await this.pause(LOOK_AGAIN_MS)
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        this.failedWith = this.chain.publicText(error)
        this.own = { state: 'stopped', reason: `${FAILED}${this.failedWith}` }
        this.log?.error({ err: error }, 'the chain cannot be followed')
        await this.pauseAfterFailure(pauseAfterFailuresMs(failures))
      }
    }
  }

  /** @returns whether there is nothing to do now */
  private async followOnce(): Promise<boolean> {
    const { signal } = this.stopping
    const { db } = this.options.engine
    if (await this.chain.hasPosition()) {
      this.own = undefined
      await this.chain.follow({ until: undefined, signal, endsAt: ['no position'] })
      return false
    }
    if ((await readLandHead(db)).worldId === null) {
      // One process reads the history for all: its notice says how far it is.
      if (await isHistoryRead(db)) {
        this.own = undefined
        return true
      }
      if (!signal.aborted) await this.readHistory()
      return false
    }
    this.own = {
      state: 'stopped',
      reason:
        'The world that is shown was imported and is not followed. landpass follow --new-world replaces it by the history of the chain.',
    }
    return true
  }

  /** @throws {CommandError} with the sentence of the command that failed */
  private async readHistory(): Promise<void> {
    const before = this.failedWith
    const reason =
      before === undefined
        ? 'The history is read for the first time.'
        : `The history is read again. The last time it failed: ${before}`
    this.own = { state: 'history', reason }
    const { code, failure } = await this.command.run((message) => {
      if (message.reason !== undefined) this.log?.info(`chain: ${progressText(message)}`)
      this.own = { state: 'history', reason: progressText(message) }
    })
    if (code === 0) this.own = undefined
    else if (!this.stopping.signal.aborted)
      throw new CommandError(
        this.chain.nodes.hideSecrets(failure.error ?? `landpass follow ended with ${code}`),
        failure.public,
      )
  }

  /** Ends early where another world is shown: another process may have filled the database meanwhile. */
  private async pauseAfterFailure(ms: number): Promise<void> {
    const { signal } = this.stopping
    const before = await this.shownWorld()
    for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs -= LOOK_AGAIN_MS) {
      await this.pause(Math.min(leftMs, LOOK_AGAIN_MS))
      const now = await this.shownWorld()
      if (now !== undefined && now !== before) return
    }
  }

  /** Null for none; undefined where the database does not answer. */
  private async shownWorld(): Promise<number | null | undefined> {
    const head = await readLandHead(this.options.engine.db).catch(() => undefined)
    return head?.worldId
  }

  private async pause(ms: number): Promise<void> {
    await (this.options.pause ?? pauseFor)(ms, this.stopping.signal)
  }
}

/** Whether another process reads the history. */
async function isHistoryRead(db: Db): Promise<boolean> {
  const { histories } = await readChainStanding(db)
  return histories.some(({ holder }) => !hasEnded(holder))
}

/** @example progressText({ phase: 'contracts', block: 7, done: 20, total: 90 }) // 'contracts: block 7, 20 of 90' */
export function progressText({ phase, block, last, percent, done, total, reason }: FollowMessage): string {
  if (reason !== undefined) return `The history waits, and what failed is tried again: ${reason}`
  const share = percent === undefined ? '' : ` (${percent} %)`
  const place =
    block === undefined ? [] : [`block ${block}${last === undefined ? '' : ` of ${last}`}${share}`]
  const records = done === undefined ? [] : [`${done} of ${total}`]
  return `${phase}: ${[...place, ...records].join(', ')}`
}

import { type Chain, openChain } from '@landpass/server/chain/chain'
import type { StepResult } from '@landpass/server/chain/follow/follower'
import type { Timing } from '@landpass/server/chain/rpc/timing'
import { type Clock, SECOND_MS } from '@landpass/server/clock'
import { type FixedLimits, readConfig } from '@landpass/server/config/config'
import type { Db } from '@landpass/server/db/engine'
import type { KyselyPlugin } from 'kysely'

/** A clock that passes only when it is moved. All processes of a simulation share it. */
export class SimulatedClock implements Clock {
  private timeMs: number

  constructor(timeMs: number) {
    this.timeMs = timeMs
  }

  nowMs(): number {
    return this.timeMs
  }

  pass(ms: number): void {
    this.timeMs += Math.ceil(ms)
  }
}

export interface ProcessOptions {
  readonly db: Db
  readonly clock: SimulatedClock
  /** Settings: addresses of nodes, network, folder. */
  readonly env: Readonly<Record<string, string>>
  readonly limits: Partial<FixedLimits>
  readonly random: () => number
  /** Is called after each statement of the process. It may kill the process. */
  readonly afterStatement: () => Promise<void>
  readonly log: (line: string) => void
}

/** Every result ends a run: a step that fails is tried again, as in a server. */
const ANY_RESULT: readonly StepResult[] = ['again', 'nothing new', 'no position', 'waits', 'stopped']
/** After so many pauses in one step, the process is stopped in order. */
const MOST_PAUSES = 25

/** The process was killed: it does nothing more. */
export class KilledError extends Error {
  constructor() {
    super('this process was killed')
    this.name = 'KilledError'
  }
}

/**
 * A process that follows the chain, without a process: all its state in memory is thrown away when it is killed, and the
 * transaction that is open then is rolled back. Pauses and deadlines take no time, but move the clock.
 */
export class FollowerProcess {
  /** Set once it was killed or stopped. */
  hasEnded = false
  private readonly options: ProcessOptions
  private readonly stopping = new AbortController()
  private readonly timers = new Set<() => void>()
  private isKilled = false
  private pauses = 0
  private chain: Chain | undefined

  private constructor(options: ProcessOptions) {
    this.options = options
  }

  static async start(options: ProcessOptions): Promise<FollowerProcess> {
    const process = new FollowerProcess(options)
    const { env, limits, clock, random, log } = options
    const config = readConfig(env, limits)
    const db = options.db.withPlugin(process.statements())
    const { signal } = process.stopping
    process.chain = await openChain({
      ...{ config, db, clock, signal, log, random, timing: process.timing() },
      fetchesHere: true,
    })
    return process
  }

  /** The newest block that it knows; -1 where it knows none. */
  get newestNumber(): number {
    return this.chain?.block?.number ?? -1
  }

  get counts() {
    return this.chain!.follower.counts
  }

  /** Why it does not follow. */
  get whyNot(): string | undefined {
    return this.chain!.whyNot()
  }

  /** @throws {KilledError | Error} where it was killed, or the history cannot be read now */
  async readHistory(): Promise<void> {
    this.pauses = 0
    await this.chain!.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
  }

  /** Runs until a step has a result. @returns undefined where it was killed or stopped */
  async step(): Promise<StepResult | undefined> {
    this.pauses = 0
    const { signal } = this.stopping
    const result = await this.chain!.follow({
      until: undefined,
      signal,
      endsAt: ANY_RESULT,
      isCompared: false,
    })
    if (result !== undefined && result !== 'reached') return result
    await this.end()
    return undefined
  }

  /** Like kill -9: nothing that it has in memory is used any more. */
  kill(): void {
    this.isKilled = true
    this.stopping.abort(new KilledError())
  }

  /** Ends it in order, as soon as its current step notices. */
  stop(): void {
    this.stopping.abort()
  }

  /** Ends it in order, while it does nothing. */
  async end(): Promise<void> {
    if (this.hasEnded) return
    this.hasEnded = true
    if (!this.isKilled) await this.chain!.close()
  }

  /** Everything that it waits for takes longer than its deadline. */
  letTimeOut(): void {
    this.options.clock.pass(20 * SECOND_MS)
    for (const expire of [...this.timers]) expire()
  }

  get isGone(): boolean {
    return this.isKilled
  }

  private timing(): Timing {
    const { clock } = this.options
    return {
      nowMs: () => clock.nowMs(),
      pause: async (ms, signal) => {
        signal?.throwIfAborted()
        clock.pass(ms)
        this.pauses += 1
        if (this.pauses > MOST_PAUSES) this.stop()
        await new Promise(setImmediate)
        signal?.throwIfAborted()
      },
      startTimer: (_ms, expire) => {
        this.timers.add(expire)
        return () => void this.timers.delete(expire)
      },
    }
  }

  /** Statements of a killed process fail, and each one is a chance to kill it. */
  private statements(): KyselyPlugin {
    return {
      transformQuery: ({ node }) => {
        if (this.isKilled) throw new KilledError()
        return node
      },
      transformResult: async ({ result }) => {
        await this.options.afterStatement()
        if (this.isKilled) throw new KilledError()
        return result
      },
    }
  }
}

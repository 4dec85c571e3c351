import type { StepResult } from '@landpass/server/chain/follow/follower'
import type { FixedLimits } from '@landpass/server/config/config'
import type { Db } from '@landpass/server/db/engine'
import type { ContractReads } from '@landpass/simulators/chain/node/contract-reads'
import type { Random } from '@landpass/simulators/random'
import type { FaultyNode, MissingLogs, NodeCall } from './faulty-node.ts'
import { FollowerProcess, type SimulatedClock } from './follower-process.ts'
import type { NodeServer } from './node-server.ts'

/** Where a process is while it waits: for a node, or for the database. */
export type Place = 'call' | 'statement'

export interface SeatOptions {
  readonly name: string
  readonly db: Db
  readonly clock: SimulatedClock
  readonly server: NodeServer
  readonly nodes: readonly FaultyNode[]
  readonly reads: ContractReads
  readonly missing: MissingLogs
  /** Settings of its processes, without the addresses of nodes. */
  readonly env: Readonly<Record<string, string>>
  readonly limits: Partial<FixedLimits>
  readonly random: Random
  /** Is called each time that a process waits. */
  readonly whileWaiting: (seat: FollowerSeat, place: Place) => Promise<void>
  readonly log: (line: string) => void
}

/** A place for one process after the other: where one ended, the next step starts another, which knows nothing of it. */
export class FollowerSeat {
  /** How many processes have run. */
  started = 0
  undone = 0
  repaired = 0
  failedLooks = 0
  readonly nodes: readonly FaultyNode[]
  private readonly options: SeatOptions
  private process: FollowerProcess | undefined

  constructor(options: SeatOptions) {
    this.options = options
    this.nodes = options.nodes
  }

  /** Why its process does not follow. */
  get whyNot(): string | undefined {
    return this.process?.whyNot
  }

  /** Reads the history. @returns why that failed, undefined where it did not */
  async readHistory(): Promise<unknown> {
    const process = await this.running()
    try {
      await process.readHistory()
      return undefined
    } catch (error) {
      await process.end()
      return error
    } finally {
      this.clearEnded()
    }
  }

  /** @returns undefined where the process was killed or stopped meanwhile */
  async step(): Promise<StepResult | undefined> {
    const process = await this.running()
    const result = await process.step()
    this.clearEnded()
    return result
  }

  /** Kills the process that runs now, as at any await. */
  kill(): void {
    this.process?.kill()
  }

  /** Stops it in order, in the middle of what it does. */
  stop(): void {
    this.process?.stop()
  }

  async end(): Promise<void> {
    await this.process?.end()
    this.clearEnded()
  }

  private async running(): Promise<FollowerProcess> {
    if (this.process) return this.process
    const { db, clock, server, env, limits, random, log } = this.options
    this.started += 1
    const name = `${this.options.name}-${this.started}`
    const urls = server.add(name, {
      nodes: this.nodes,
      reads: this.options.reads,
      mayHide: (call: NodeCall) => this.options.missing.mayHide(call, this.process?.newestNumber ?? -1),
      beforeAnswer: async () => {
        const asking = this.process
        await this.options.whileWaiting(this, 'call')
        return asking === this.process && asking?.isGone === false
      },
      letTimeOut: () => this.process?.letTimeOut(),
    })
    const jitter = random.fork(name)
    this.process = await FollowerProcess.start({
      ...{ db, clock, limits, log },
      env: { ...env, CHAIN_RPC_URLS: urls.join(' ') },
      random: () => jitter.below(1_000) / 1_000,
      afterStatement: () => this.options.whileWaiting(this, 'statement'),
    })
    return this.process
  }

  private clearEnded(): void {
    if (!this.process?.hasEnded) return
    const { undone, repaired, failedLooks } = this.process.counts
    this.undone += [...undone.values()].reduce((sum, times) => sum + times, 0)
    this.repaired += repaired
    this.failedLooks += failedLooks
    this.options.server.remove(`${this.options.name}-${this.started}`)
    this.process = undefined
  }
}

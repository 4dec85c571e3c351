import { type Clock, steadyMs } from '../../clock.ts'
import { NoNodeError } from '../rpc/no-node-error.ts'
import type { Follower, StepResult } from './follower.ts'
import type { FollowFailure, SharedStatus } from './status-reader.ts'

/** How often a failure that goes on is logged again. */
const LOG_EVERY_FAILURES = 20

export interface FollowStateOptions {
  readonly follower: Pick<Follower, 'reason' | 'finalityProblem' | 'answeredAtMs' | 'nodeHead'>
  /** Why blocks do not become final by what the nodes say, in words; undefined where they do. */
  readonly finalityProblem: () => string | undefined
  /** Whether the land is late where blocks do not become final: it is followed to the last final one. */
  readonly isFollowedToFinal: boolean
  /** Name of the network. */
  readonly network: string
  readonly clock: Clock
  /** What everyone may read of an error. */
  readonly publicText: (error: unknown) => string
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/** How following goes in this process: the lines of its log, and what it shares with all processes of the database. */
export class FollowState {
  private readonly options: FollowStateOptions
  private problem: string | undefined
  private failing: string | undefined
  private failure: FollowFailure | null = null
  private doubt: string | undefined

  constructor(options: FollowStateOptions) {
    this.options = options
  }

  /** Why the world is not followed, in words. */
  whyNot(): string | undefined {
    return this.problem ?? this.options.follower.reason
  }

  /** After a step that did not fail. */
  noteStep(result: StepResult): void {
    const { follower, log } = this.options
    const before = this.problem
    if (this.failing !== undefined) log('the chain is followed again')
    this.failing = undefined
    this.failure = null
    const finalityProblem = follower.finalityProblem ?? this.options.finalityProblem()
    if (finalityProblem !== this.doubt && finalityProblem !== undefined)
      log(`blocks cannot become final now, which is tried again: ${finalityProblem}`)
    this.doubt = finalityProblem
    this.problem =
      result === 'stopped'
        ? follower.reason
        : result === 'no position'
          ? 'The world was replaced by one that this process cannot follow: by an import, or by a world of other contracts or a newer version. landpass follow --new-world replaces it by the history of the chain.'
          : undefined
    if (this.problem !== undefined && this.problem !== before) log(this.problem)
  }

  /** After a step that failed, the `inRow`th one. */
  noteFailure(error: unknown, inRow: number): void {
    const message = error instanceof Error ? error.message : String(error)
    if (message !== this.failing || inRow % LOG_EVERY_FAILURES === 0)
      this.options.log(`the chain cannot be followed at this time, which is tried again: ${message}`)
    this.failing = message
    this.failure = this.failureOf(error)
  }

  /** What other processes are shown of this one. */
  shared(): SharedStatus {
    const { follower, network, finalityProblem, isFollowedToFinal } = this.options
    const { nodeHead: head, reason = null } = follower
    return {
      network,
      head: head ? { number: head.number, timeS: head.timeS } : null,
      reason,
      failure: this.failure,
      problem: (isFollowedToFinal ? finalityProblem() : undefined) ?? null,
    }
  }

  private failureOf(error: unknown): FollowFailure {
    const { clock, follower, publicText } = this.options
    const { answeredAtMs } = follower
    const nowMs = clock.nowMs()
    return {
      message: publicText(error),
      sinceMs: this.failure?.sinceMs ?? nowMs,
      isLasting: error instanceof NoNodeError && error.isLasting,
      answeredAtMs: answeredAtMs === undefined ? null : Math.round(nowMs - (steadyMs(clock) - answeredAtMs)),
    }
  }
}

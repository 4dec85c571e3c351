import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { EthereumNode } from './node.ts'
import type { NodeHeader } from './node-answers.ts'
import { NodeError } from './node-error.ts'
import type { Timing } from './timing.ts'

/** How long a node that lacks the start block is left alone. */
const CHECK_AGAIN_MS = 30 * SECOND_MS
/** How long a node is left alone after its first refusal; each further one in a row doubles it. */
const REFUSED_MS = 30 * SECOND_MS
const MAX_REFUSED_MS = 5 * MINUTE_MS

/** What each node must have in common with the network. */
export interface Expected {
  readonly chainId: number
  /** Number of the block whose hash is compared. */
  readonly startBlock: number
}

/**
 * One of several nodes: whether it has passed the check, and its newest block.
 *
 * A node of another chain is refused: it is not used until a later check finds that it has been corrected. That check is due
 * after 30 seconds, and after up to 5 minutes when it is refused again and again.
 */
export class NodeMember {
  readonly node: EthereumNode
  /** The block that all nodes must have, as last answered; undefined where no check has asked for it on the right chain. */
  start: NodeHeader | undefined
  /** The newest block that the node has answered. */
  head: NodeHeader | undefined
  headAtMs = Number.NEGATIVE_INFINITY
  /** The number of its last head that was checked because it would have made all other nodes lag. */
  confirmedTo = Number.NEGATIVE_INFINITY
  /** Its head is lower than the one that was reported, and of the same chain. */
  isBehind = false
  /** It was caught leaving out logs, so it is asked last. */
  hasLeftOut = false
  /** Whether it gives the receipts of a block; undefined where it has not been asked. */
  givesReceipts: boolean | undefined
  /** Number of the last block that it has answered as final. */
  finalNumber: number | undefined
  /** How often the final block of other nodes has moved since its own did. */
  movesOfOthers = 0
  /** Its final block stands still while that of others moves, so it is not asked which block is final. */
  doesFinalStand = false
  /** Why the last check failed. */
  problem: string | undefined
  /** Whether the address of the node has to be corrected. */
  isMisconfigured = false
  private hasPassed = false
  private lastRefusal: string | undefined
  /** In a row. */
  private refusals = 0
  private checkAgainAtMs = Number.NEGATIVE_INFINITY
  private checking: Promise<void> | undefined
  /** What a check has learnt that could not be finished, because the node refused a call for the moment. */
  private begun: { readonly start?: NodeHeader } | undefined
  private readonly timing: Timing

  constructor(node: EthereumNode, timing: Timing) {
    this.node = node
    this.timing = timing
  }

  /** Why the node is not used until a later check. */
  get refusal(): string | undefined {
    return this.lastRefusal
  }

  /** Whether the node may be asked: it has passed the check, and no call has failed since. */
  get isTrusted(): boolean {
    return this.hasPassed && this.refusal === undefined && this.node.health.isTrusted
  }

  /** Whether a check may make the node usable: a refused one is left alone for a while. */
  get needsCheck(): boolean {
    return !this.isTrusted && (this.refusal === undefined || this.timing.nowMs() >= this.checkAgainAtMs)
  }

  /** Whether the time has come for a check that nothing waits for. */
  get isCheckDue(): boolean {
    return this.needsCheck && this.node.health.isRetryDue && this.timing.nowMs() >= this.checkAgainAtMs
  }

  /** Checks the node with three cheap calls. Never fails: the result is in the properties. One check runs at a time. */
  check(expected: Expected): Promise<void> {
    this.checking ??= this.checkNow(expected).finally(() => {
      this.checking = undefined
    })
    return this.checking
  }

  /** The node is of another chain. */
  refuse(reason: string): void {
    this.lastRefusal = reason
    this.isMisconfigured = true
    this.checkAgainAtMs = this.timing.nowMs() + Math.min(REFUSED_MS * 2 ** this.refusals, MAX_REFUSED_MS)
    this.refusals += 1
  }

  /** The node is of the right chain: ends a refusal, and the next one begins with the shortest time. */
  accept(): void {
    this.lastRefusal = undefined
    this.isMisconfigured = false
    this.refusals = 0
  }

  /**
   * Asks for the newest block.
   *
   * @returns the failure, which leaves the block that was known before; undefined where the node has answered
   */
  async refreshHead(): Promise<NodeError | undefined> {
    try {
      this.head = (await this.node.headerAt('latest')) ?? this.head
      this.headAtMs = this.timing.nowMs()
      this.problem = undefined
      return undefined
    } catch (error) {
      return this.noteProblem(error)
    }
  }

  private async checkNow({ chainId, startBlock }: Expected): Promise<void> {
    this.hasPassed = false
    this.isMisconfigured = false
    const { begun } = this
    this.begun = undefined
    try {
      const given = begun ? chainId : await this.node.chainId()
      if (given !== chainId) {
        this.start = undefined
        this.refuse(
          `it is of the chain ${given}, not of ${chainId}: name a node of that chain, or set CHAIN_NETWORK`,
        )
        return
      }
      this.begun = {}
      const start = begun?.start ?? (await this.node.headerAt(startBlock))
      if (start) this.begun = { start }
      if (!start) {
        this.begun = undefined
        this.lastRefusal = undefined
        this.problem = `it does not have block ${startBlock} yet`
        this.checkAgainAtMs = this.timing.nowMs() + CHECK_AGAIN_MS
        return
      }
      this.head = await this.node.headerAt('latest')
      this.headAtMs = this.timing.nowMs()
      this.start = start
      this.lastRefusal = undefined // It is refused again where this hash is the wrong one
      this.problem = undefined
      this.hasPassed = true
      this.begun = undefined
    } catch (error) {
      const { kind } = this.noteProblem(error)
      if (kind !== 'rate_limit' && kind !== 'refused') this.begun = undefined
    }
  }

  /** @throws what is no failure of the node */
  private noteProblem(error: unknown): NodeError {
    if (!(error instanceof NodeError)) throw error
    this.problem = error.message
    this.isMisconfigured = error.isLasting
    return error
  }
}

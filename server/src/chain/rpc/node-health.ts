import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { FailureKind } from './node-error.ts'
import type { Timing } from './timing.ts'

/** How long a node is avoided after its first failure; each further one doubles it. */
const AVOID_MS: Readonly<Partial<Record<FailureKind, number>>> = {
  unreachable: SECOND_MS,
  late: SECOND_MS,
  redirect: 30 * SECOND_MS,
  refused: 5 * SECOND_MS,
  timeout: 30 * SECOND_MS,
  wrong_answer: 30 * SECOND_MS,
}
const MAX_AVOID_MS = 5 * MINUTE_MS
/** So many answers in a row, and failures before them no longer count: a few cheap ones say little about costly calls. */
const ANSWERS_TO_FORGET = 20

/**
 * Whether a node can be relied on, by how its calls ended.
 *
 *   trusted ──a failure of AVOID_MS──▶ avoided ──a call that succeeds──▶ trusted
 *
 * An avoided node is tried again by a cheap call, which nothing waits for while another node is trusted. Refusals that say
 * something about the request (range, rate, unknown block …) are no failures of the node.
 */
export class NodeHealth {
  private readonly timing: Timing
  private isFailing = false
  /** Failures without ANSWERS_TO_FORGET answers in a row between them. */
  private failures = 0
  private answersInRow = 0
  private retryAtMs = Number.NEGATIVE_INFINITY

  constructor(timing: Timing) {
    this.timing = timing
  }

  /** Whether the last call did not fail. */
  get isTrusted(): boolean {
    return !this.isFailing
  }

  /** Whether the time has come to try an avoided node again. */
  get isRetryDue(): boolean {
    return this.timing.nowMs() >= this.retryAtMs
  }

  noteAnswer(): void {
    this.isFailing = false
    this.answersInRow += 1
    if (this.answersInRow >= ANSWERS_TO_FORGET) this.failures = 0
    this.retryAtMs = Number.NEGATIVE_INFINITY
  }

  noteFailure(kind: FailureKind): void {
    const avoidMs = AVOID_MS[kind]
    if (avoidMs === undefined) return
    // Calls that ran at the same time fail together: that is one failure
    if (!this.isTrusted && !this.isRetryDue) return
    const pauseMs = Math.min(avoidMs * 2 ** this.failures, MAX_AVOID_MS)
    this.isFailing = true
    this.failures += 1
    this.answersInRow = 0
    this.retryAtMs = this.timing.nowMs() + pauseMs
  }
}

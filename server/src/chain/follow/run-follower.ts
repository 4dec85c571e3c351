import type { Timing } from '../rpc/timing.ts'
import type { Follower, StepResult } from './follower.ts'
import { PollTimes } from './poll-times.ts'

/** The longest pause after steps that failed. */
const MAX_PAUSE_MS = 20_000

export interface RunOptions {
  /** The longest pause between two polls: see {@link PollTimes}. */
  readonly pollMs: number
  /** Whether polls may come more often while a block is due: not where blocks are shown long after they came. */
  readonly pollsWhenDue: boolean
  /** Milliseconds that pass evenly: the clock of the follower. */
  readonly steadyMs: () => number
  /** Ends when the world stands at this block, whichever process moved it there; undefined: never by itself. */
  readonly until: number | undefined
  readonly signal: AbortSignal
  readonly timing: Pick<Timing, 'pause'>
  /** Which results end the run; the others are waited out. */
  readonly endsWith: (result: StepResult) => boolean
  /** For log and status, after each step that did not fail. */
  readonly onStep: (result: StepResult) => void
  /** A step failed, for the `inRow`th time. It is tried again after a pause. */
  readonly onFailure: (error: unknown, inRow: number) => void
}

/**
 * Polls the chain until a block is reached, a result ends it, or the signal is aborted. A step that fails is tried again
 * after a pause that grows.
 *
 * @returns the result that ended it; `reached` at the block; undefined after an abort
 */
export async function runFollower(
  follower: Follower,
  options: RunOptions,
): Promise<StepResult | 'reached' | undefined> {
  const { pollMs, pollsWhenDue, steadyMs, until, signal, timing, endsWith, onStep, onFailure } = options
  const times = new PollTimes(pollMs)
  let failures = 0
  while (!signal.aborted) {
    let pauseMs = pollMs
    try {
      const result = await follower.step(until)
      failures = 0
      onStep(result)
      if (until !== undefined && (follower.block?.number ?? -1) >= until) {
        await follower.storeWaiting()
        return 'reached'
      }
      // Another process follows: it has reached the block as well.
      const newest = result === 'waits' && until !== undefined ? await follower.readNewest() : undefined
      if (newest && newest.number >= until!) return 'reached'
      if (endsWith(result)) return result
      const { nodeHead, answeredAtMs } = follower
      if (nodeHead && answeredAtMs !== undefined) times.note(nodeHead, answeredAtMs)
      const nextMs = pollsWhenDue ? times.pauseMs(steadyMs()) : pollMs
      pauseMs = result === 'again' ? 0 : nextMs
    } catch (error) {
      if (signal.aborted) break
      failures += 1
      onFailure(error, failures)
      pauseMs = Math.min(pollMs * 2 ** failures, MAX_PAUSE_MS)
    }
    if (pauseMs > 0) await timing.pause(pauseMs, signal).catch(() => undefined)
  }
  await follower.storeWaiting().catch(() => undefined) // Only blocks that changed nothing are lost.
  return undefined
}

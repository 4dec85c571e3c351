import { setTimeout as sleep } from 'node:timers/promises'
import type { StartTimer } from '../../outbound.ts'

/** Steady time, deadlines and pauses, which tests replace. */
export interface Timing {
  /** Milliseconds that pass evenly; only differences have a meaning. */
  nowMs(): number
  /** Ends after `ms`. @throws the reason of the signal when that ends the pause */
  pause(ms: number, signal?: AbortSignal): Promise<void>
  /** Starts the timer of a deadline, and returns how to stop it; real timers where it is left out. */
  readonly startTimer?: StartTimer
}

export const REAL_TIMING: Timing = {
  nowMs: () => performance.now(),
  pause: async (ms, signal) => {
    try {
      await sleep(ms, undefined, signal && { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}

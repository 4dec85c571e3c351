import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'

/** How often a process looks again whether it has something to do. */
export const LOOK_AGAIN_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 10 * MINUTE_MS

/** The pause after this number of failures in a row; {@link LOOK_AGAIN_MS} without any. */
export function pauseAfterFailuresMs(failures: number): number {
  return Math.min(LOOK_AGAIN_MS * 2 ** failures, MAX_PAUSE_MS)
}

/** Waits, and ends early without an error when the signal is aborted. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

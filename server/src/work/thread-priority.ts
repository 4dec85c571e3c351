import { getPriority, setPriority } from 'node:os'

/** Beside a thread of usual priority that is as busy, this one gets about a quarter of the time of a core. */
const LOWER_BY = 5
/** The lowest priority that there is. */
const LOWEST = 19

/**
 * Lowers the priority of the calling thread: where there are more busy threads than cores, the main thread then goes first,
 * which both gives this thread its work and takes its results. On Linux alone, because elsewhere a priority is that of the whole
 * process.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(getPriority() + LOWER_BY, LOWEST))
  } catch {
    // A sandbox may forbid it: the thread works as well with its usual priority.
  }
}

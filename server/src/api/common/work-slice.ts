import { setImmediate } from 'node:timers/promises'

/** Work that takes longer yields to the event loop. */
const SLICE_MS = 5

/**
 * Long work in slices: between two of them the server yields to the event loop, so that other requests do not wait for its end.
 *
 * @example
 * const slice = new WorkSlice()
 * for (const one of many) {
 *   use(one)
 *   if (slice.isOver) await slice.next()
 * }
 */
export class WorkSlice {
  private endsAtMs = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.endsAtMs
  }

  async next(): Promise<void> {
    await setImmediate()
    this.endsAtMs = performance.now() + SLICE_MS
  }
}

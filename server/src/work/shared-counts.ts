import { LRUCache } from 'lru-cache'
import type { SharedCount, WorkerGroup } from '../http/worker-group.ts'

/** How many senders of a limit are counted; beyond it the least recently used count is dropped. */
const MAX_SENDERS = 20_000

interface Window {
  count: number
  readonly endsAtMs: number
}

/** What counts for a limit: this process, or several together. */
export type RequestCounter = Pick<WorkerGroup | SharedCounts, 'count'>

/** Counts of limits, for all worker processes or for one that serves alone. */
export class SharedCounts {
  readonly #limits = new Map<string, LRUCache<string, Window>>()
  readonly #nowMs: () => number

  /** @param nowMs a steady clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Counts a request. A window begins with the first request of a sender. */
  count(limit: string, sender: string, windowMs: number): SharedCount {
    const nowMs = this.#nowMs()
    const senders = this.#limits.get(limit) ?? new LRUCache<string, Window>({ max: MAX_SENDERS })
    this.#limits.set(limit, senders)
    const known = senders.get(sender)
    const window = known && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + windowMs }
    window.count += 1
    senders.set(sender, window)
    return { current: window.count, ttl: window.endsAtMs - nowMs }
  }
}

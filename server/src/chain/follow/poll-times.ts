import type { BlockHeader } from '../chain-types.ts'

/** So many heads are remembered: where blocks come in a rhythm, the shortest distance between two is that rhythm. */
const REMEMBERED = 16
/** Heads that are needed before the rhythm is believed. */
const ENOUGH = 3
/** While the next block is due, polls come this often within its time. */
const POLLS_OF_BLOCK = 24
const MIN_POLL_MS = 100
/** How long a block that is due is waited for with such polls: then its slot is missed, or the rhythm is another one. */
const MAX_DUE_MS = 4_000

interface SeenHead {
  readonly number: number
  readonly timeS: number
  /** When a poll found it, less its own time. */
  readonly delayMs: number
}

/**
 * When to poll for the next block. Blocks of most chains come in a rhythm, 12 seconds on Ethereum: shortly before the next one
 * is due, and until it is there, polls come more often than `pollMs`. So a block is found within half a second, for two or
 * three calls more. Between two blocks, and where there is no rhythm, polls come every `pollMs`; they do so always where
 * `pollMs` is not shorter than the rhythm: then calls are to be few.
 *
 * @example
 * const times = new PollTimes(4_000)
 * times.note(head, nowMs) // after each poll
 * times.pauseMs(nowMs) // 500, while a block is due
 */
export class PollTimes {
  private readonly pollMs: number
  private heads: readonly SeenHead[] = []

  /** @param pollMs the longest pause */
  constructor(pollMs: number) {
    this.pollMs = pollMs
  }

  /**
   * A node has said which block is its newest.
   *
   * @param nowMs on a steady clock
   */
  note({ number, timeS }: Pick<BlockHeader, 'number' | 'timeS'>, nowMs: number): void {
    // A head that went back is that of another node, or of another branch: it says nothing of the rhythm.
    if (number <= (this.heads.at(-1)?.number ?? -1)) return
    this.heads = [...this.heads, { number, timeS, delayMs: nowMs - timeS * 1_000 }].slice(-REMEMBERED)
  }

  /** How long to wait for the next poll. */
  pauseMs(nowMs: number): number {
    const rhythmMs = this.rhythmMs()
    const stepMs = rhythmMs === undefined ? this.pollMs : Math.max(rhythmMs / POLLS_OF_BLOCK, MIN_POLL_MS)
    if (rhythmMs === undefined || stepMs >= this.pollMs || this.pollMs >= rhythmMs) return this.pollMs
    // The shortest delay: later ones were those of late blocks, or of polls that came late.
    const dueMs = this.heads.at(-1)!.timeS * 1_000 + Math.min(...this.heads.map(({ delayMs }) => delayMs))
    const slots = Math.max(1, Math.floor((nowMs - dueMs + stepMs) / rhythmMs))
    const windowMs = Math.min(MAX_DUE_MS, rhythmMs / 3)
    const beginsMs = dueMs + slots * rhythmMs - stepMs
    if (nowMs >= beginsMs && nowMs < beginsMs + windowMs) return stepMs
    const nextMs = nowMs < beginsMs ? beginsMs : beginsMs + rhythmMs
    return Math.min(this.pollMs, nextMs - nowMs)
  }

  /** Milliseconds between blocks; undefined where it is not known. */
  private rhythmMs(): number | undefined {
    if (this.heads.length < ENOUGH) return undefined
    const distances = this.heads.slice(1).map(({ timeS }, at) => timeS - this.heads[at]!.timeS)
    const shortest = Math.min(...distances)
    return shortest > 0 ? shortest * 1_000 : undefined
  }
}

import { randomInt } from 'node:crypto'
import type { CheckRequest, CheckResult } from './check-land.ts'
import { countByField, differenceText } from './findings.ts'

export interface BackgroundCheckOptions {
  /** Parcels and estates of each check. */
  readonly sample: number
  readonly intervalMs: number
  readonly check: (request: CheckRequest) => Promise<CheckResult>
  /** Whether this process follows the chain now: another one that follows does the same. */
  readonly isLeading: () => boolean
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  /** Waits. @throws the reason of the signal when that ends the pause */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/** What was compared since the start of this process. */
export interface CheckCounts {
  /** Parcels and estates. */
  assets: number
  /** By field. */
  readonly differences: Map<string, number>
  /** Checks that could not ask the contracts. */
  failures: number
  /** The end of the last check that asked them, in milliseconds since 1970; undefined before the first. */
  lastAtMs: number | undefined
}

/** A line of the log does not name more differences. */
const MOST_NAMED = 20
const MAX_SEED = 2 ** 31 - 1

/** Compares a sample of the land with the contracts from time to time, while the process follows the chain. */
export class BackgroundCheck {
  readonly counts: CheckCounts = { assets: 0, differences: new Map(), failures: 0, lastAtMs: undefined }
  private readonly options: BackgroundCheckOptions

  constructor(options: BackgroundCheckOptions) {
    this.options = options
  }

  /** Checks until the signal is aborted; at once ends where the sample is 0. Never fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { sample, intervalMs, isLeading, pause } = this.options
    while (sample > 0 && !signal.aborted) {
      await pause(intervalMs, signal).catch(() => undefined)
      if (!signal.aborted && isLeading()) await this.checkOnce(signal)
    }
  }

  private async checkOnce(signal: AbortSignal): Promise<void> {
    const { sample: size, check, nowMs, log } = this.options
    const seed = randomInt(MAX_SEED)
    try {
      this.note(await check({ sample: { size, seed } }), seed)
      this.counts.lastAtMs = nowMs()
    } catch (error) {
      if (signal.aborted) return
      this.counts.failures += 1
      const message = error instanceof Error ? error.message : String(error)
      log(`the land could not be compared with the contracts: ${message}`)
    }
  }

  private note({ block, assets, differences }: CheckResult, seed: number): void {
    const { counts } = this
    counts.assets += assets
    for (const [field, count] of Object.entries(countByField(differences)))
      counts.differences.set(field, (counts.differences.get(field) ?? 0) + count)
    if (differences.length === 0) return
    const named = differences.slice(0, MOST_NAMED).map(differenceText)
    const more = differences.length > MOST_NAMED ? `; and ${differences.length - MOST_NAMED} more` : ''
    this.options.log(
      `warning: the land is not what the contracts say at block ${block.number} (--sample ${assets} --seed ${seed}): ${named.join('; ')}${more}`,
    )
  }
}

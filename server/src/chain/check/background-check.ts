import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { CheckRequest, CheckResult } from './check-land.ts'
import {
  ended,
  MOST_NAMED,
  type OpenRound,
  parseCompleteness,
  type StoredCompleteness,
  type WholeRound,
  withPart,
} from './completeness.ts'
import { countByField, type Difference, differenceText } from './findings.ts'

/** The world that is shown, and what is stored of its comparison. */
export interface CheckedWorld {
  readonly worldId: number
  /** Undefined before the first comparison. */
  readonly completeness: string | undefined
}

export interface BackgroundCheckOptions {
  /** In this time all land is compared once more, again and again; 0: once, and not again. */
  readonly roundMs: number
  readonly check: (request: CheckRequest) => Promise<CheckResult>
  /** Undefined where the world that is shown does not come from the contracts of the network. */
  readonly readWorld: () => Promise<CheckedWorld | undefined>
  /** The next parcels and estates after one of them, or the first ones. */
  readonly assetsAfter: (
    worldId: number,
    place: { readonly after: AssetName | null; readonly count: number },
  ) => Promise<readonly AssetName[]>
  readonly countAssets: (worldId: number) => Promise<number>
  /** Blocks of land that differs are to be read again. */
  readonly onMendDue: () => void
  /** Changes what is stored, as it is then: another process may have changed it since it was read. */
  readonly store: (
    worldId: number,
    change: (stored: StoredCompleteness) => StoredCompleteness,
  ) => Promise<StoredCompleteness>
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
  /** Comparisons that could not ask the contracts. */
  failures: number
  /** Requests to nodes. */
  requests: number
  /** The end of the last comparison, in milliseconds since 1970; undefined before the first. */
  lastAtMs: number | undefined
}

/** Parcels and estates of a part: with Multicall3 some ten requests. Full nodes keep the state of its block longer than that. */
const ASSETS_OF_PART = 500
/** A process that has just started is busy, and the land may still be behind. */
const START_AFTER_MS = MINUTE_MS
/** How often is asked whether there is anything to compare. */
const LOOK_EVERY_MS = MINUTE_MS
/** How long a part that failed is not tried again, at most. */
const MOST_PAUSE_MS = HOUR_MS / 4
/** What nodes answer at one block may be wrong: what differs is compared once more, after the next blocks. */
const COMPARE_AGAIN_MS = 15 * SECOND_MS

/**
 * Compares all land with the contracts, part by part, while the process follows the chain: after the history and after each
 * rebuild as fast as requests may follow each other, afterwards spread over the time of a round, again and again. How far a
 * round is, is stored with the world, so a new start goes on with it.
 */
export class BackgroundCheck {
  readonly counts: CheckCounts = {
    assets: 0,
    differences: new Map(),
    failures: 0,
    requests: 0,
    lastAtMs: undefined,
  }
  private readonly options: BackgroundCheckOptions
  /** Failures in a row, and what the last one said. */
  private failures = 0
  private failure: string | undefined

  constructor(options: BackgroundCheckOptions) {
    this.options = options
  }

  /** Checks until the signal is aborted. Never fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { isLeading, pause } = this.options
    let pauseMs = START_AFTER_MS
    while (!signal.aborted) {
      await pause(pauseMs, signal).catch(() => undefined)
      pauseMs = LOOK_EVERY_MS
      if (!signal.aborted && isLeading()) pauseMs = await this.step(signal)
    }
  }

  /** Compares the next part, if it is due. @returns how long the next one must wait, in milliseconds */
  private async step(signal: AbortSignal): Promise<number> {
    try {
      const pauseMs = await this.compareNext(signal)
      this.failures = 0
      this.failure = undefined
      return pauseMs
    } catch (error) {
      if (signal.aborted) return 0
      this.counts.failures += 1
      this.failures += 1
      const message = error instanceof Error ? error.message : String(error)
      if (message !== this.failure)
        this.options.log(`the land cannot be compared with the contracts, which is tried again: ${message}`)
      this.failure = message
      return Math.min(LOOK_EVERY_MS * 2 ** (this.failures - 1), MOST_PAUSE_MS)
    }
  }

  private async compareNext(signal: AbortSignal): Promise<number> {
    const { readWorld, assetsAfter, check, store, nowMs, log } = this.options
    const world = await readWorld()
    if (!world) return LOOK_EVERY_MS
    const { worldId } = world
    const stored = parseCompleteness(world.completeness)
    const round = await this.roundOf(stored, worldId)
    if (!round) return LOOK_EVERY_MS
    const waitMs = this.waitBefore(stored.whole, round)
    if (waitMs > 0) return Math.min(waitMs, LOOK_EVERY_MS)
    const compared = await assetsAfter(worldId, { after: round.after, count: ASSETS_OF_PART })
    const isLast = compared.length === 0
    const { block, assets, differences } = await check({ part: isLast ? 'totals' : compared })
    const remaining = differences.length === 0 ? [] : await this.compareAgain(compared, differences, signal)
    this.counts.assets += assets
    this.counts.lastAtMs = nowMs()
    this.note(remaining, block.number)
    const differing = [...new Set(remaining.map(({ asset }) => asset))]
    const next = withPart(round, { block: block.number, compared, differing })
    const now = await store(worldId, ({ whole }) =>
      isLast ? { whole: ended(next, whole), round: null } : { whole, round: next },
    )
    if (isLast && !stored.whole && next.differing === 0)
      log(`all land was compared with the contracts from block ${next.block} on: no difference`)
    if (isLast && now.whole?.mending !== 'done') this.options.onMendDue()
    return isLast ? LOOK_EVERY_MS : 0
  }

  /** The round that goes on, or a new one where that is due. */
  private async roundOf(
    { whole, round }: StoredCompleteness,
    worldId: number,
  ): Promise<OpenRound | undefined> {
    if (round) return round
    const { roundMs, nowMs, countAssets } = this.options
    if (whole && (roundMs === 0 || nowMs() < whole.startedAtMs + roundMs)) return undefined
    return {
      startedAtMs: nowMs(),
      block: null,
      differing: 0,
      assets: [],
      after: null,
      done: 0,
      total: await countAssets(worldId),
    }
  }

  /** The first round does not wait; later ones are spread over their time. */
  private waitBefore(whole: WholeRound | null, round: OpenRound): number {
    if (!whole) return 0
    const { roundMs, nowMs } = this.options
    const dueAtMs = round.startedAtMs + (roundMs * round.done) / Math.max(round.total, 1)
    return dueAtMs - nowMs()
  }

  /** What still differs after the next blocks. */
  private async compareAgain(
    compared: readonly AssetName[],
    differences: readonly Difference[],
    signal: AbortSignal,
  ): Promise<readonly Difference[]> {
    const { check, pause } = this.options
    await pause(COMPARE_AGAIN_MS, signal)
    const differing = new Set(differences.map(({ asset }) => asset))
    const named = compared.filter(({ type, id }) => differing.has(`${type} ${id}`))
    // Mortgages and rights are compared with the assets to which they belong.
    const part = named.length === differing.size ? named : compared
    const again = await check({ part: part.length === 0 ? 'totals' : part })
    return again.differences.filter(({ asset }) => differing.has(asset))
  }

  private note(differences: readonly Difference[], block: number): void {
    const { counts } = this
    for (const [field, count] of Object.entries(countByField(differences)))
      counts.differences.set(field, (counts.differences.get(field) ?? 0) + count)
    if (differences.length === 0) return
    const named = differences.slice(0, MOST_NAMED).map(differenceText)
    const more = differences.length > MOST_NAMED ? `; and ${differences.length - MOST_NAMED} more` : ''
    this.options.log(
      `warning: the land is not what the contracts say at block ${block}: ${named.join('; ')}${more}`,
    )
  }
}

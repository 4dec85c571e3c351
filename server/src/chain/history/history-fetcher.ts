import type { BlockRange } from '../follow/chain-source.ts'
import type { FetchEvents, LogFetcher } from './log-fetcher.ts'
import { spoolPath } from './spool.ts'
import type { SpoolPlace } from './spool-place.ts'
import { StoredRanges } from './stored-ranges.ts'

/** Opens what requests and stores the logs: in this thread, or in one of its own. */
export type OpenFetcher = (place: SpoolPlace, events: FetchEvents) => Promise<LogFetcher>

export interface HistoryFetcherOptions extends SpoolPlace, Omit<FetchEvents, 'onStored'> {
  readonly openFetcher: OpenFetcher
  /** Gets once, before they are requested, the blocks whose logs are not stored; not where there are none. */
  readonly onBegin: (blocks: BlockRange) => void
}

/**
 * Stores the logs of the history, and reads what is stored meanwhile.
 *
 * @example
 * const fetcher = await HistoryFetcher.start(options)
 * const fetching = fetcher.fetchTo(26_400_000, false).then(() => fetcher.stored.end())
 * for await (const { parts } of fetcher.stored.ranges()) … // up to this block
 * await fetching
 * await fetcher.close()
 */
export class HistoryFetcher {
  private readonly fetcher: LogFetcher
  private readonly options: HistoryFetcherOptions
  private ranges: StoredRanges
  private target = -1
  private hasBegun = false

  private constructor(fetcher: LogFetcher, options: HistoryFetcherOptions, ranges: StoredRanges) {
    this.fetcher = fetcher
    this.options = options
    this.ranges = ranges
  }

  /** @throws {CommandError} where another process uses the folder */
  static async start(options: HistoryFetcherOptions): Promise<HistoryFetcher> {
    let started: HistoryFetcher | undefined
    const fetcher = await options.openFetcher(options, {
      ...options,
      onStored: (last) => started?.takeStored(last),
    })
    try {
      started = new HistoryFetcher(fetcher, options, await openRanges(options))
      return started
    } catch (error) {
      await fetcher.close()
      throw error
    }
  }

  get firstBlock(): number {
    return this.options.firstBlock
  }

  /** All stored ranges, from the first one on; after {@link readAgain} and {@link dropFrom} another object. */
  get stored(): StoredRanges {
    return this.ranges
  }

  /** Stores all logs up to this block, and lets `stored` read them: see {@link LogFetcher}. */
  async fetchTo(last: number, mayBeEmpty: boolean): Promise<void> {
    this.target = last
    await this.fetcher.fetchTo(last, mayBeEmpty)
    this.release(last)
  }

  /** See {@link LogFetcher}; a `fetchTo` that runs fails. */
  readAgain(blocks: BlockRange): Promise<boolean> {
    return this.changeStored(() => this.fetcher.readAgain(blocks))
  }

  /** Deletes the stored logs from this block on; a `fetchTo` that runs fails. */
  dropFrom(block: number): Promise<void> {
    return this.changeStored(() => this.fetcher.dropFrom(block))
  }

  private async changeStored<T>(change: () => Promise<T>): Promise<T> {
    this.target = -1
    const changed = await change()
    await this.ranges.close()
    this.ranges = await openRanges(this.options)
    return changed
  }

  /** What is stored stays. */
  async close(): Promise<void> {
    await this.fetcher.close()
    await this.ranges.close()
  }

  private takeStored(last: number): void {
    if (!this.hasBegun && last < this.target) this.options.onBegin({ first: last + 1, last: this.target })
    this.hasBegun = true
    this.release(last)
  }

  /** Stored logs that reach further than the world are not part of it. */
  private release(last: number): void {
    this.ranges.release(Math.min(last, this.target))
  }
}

function openRanges({ folder, name, firstBlock }: SpoolPlace): Promise<StoredRanges> {
  return StoredRanges.open(spoolPath(folder, name), firstBlock)
}

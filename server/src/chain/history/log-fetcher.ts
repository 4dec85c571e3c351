import type { Network } from '../chain-types.ts'
import type { BlockRange } from '../follow/chain-source.ts'
import { filterAddresses } from '../logs/log-filter.ts'
import { fetchHistory, type HistoryProgress, type HistorySource, timedLogsOf } from './fetch-history.ts'
import { growSpool } from './grow-spool.ts'
import { parcelTransfer } from './parcel-transfer.ts'
import { Spool } from './spool.ts'
import type { SpoolPlace } from './spool-place.ts'

/** What a fetcher says while it works. */
export interface FetchEvents {
  readonly onProgress: (progress: HistoryProgress) => void
  /** Gets the blocks whose logs may be incomplete. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  /** All logs up to this block are stored, and those that were stored before are of the chain. */
  readonly onStored: (last: number) => void
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/** Requests the logs of the history and stores them. One call at a time, except that all others end a `fetchTo`. */
export interface LogFetcher {
  /**
   * Stores all logs up to this block.
   *
   * @param mayBeEmpty see {@link fetchHistory}
   * @throws {CommandError} with the reason why they cannot be read
   */
  fetchTo(last: number, mayBeEmpty: boolean): Promise<void>
  /**
   * Avoids the node that gave the last logs, and requests those of stored blocks once more. If some were missing, they are
   * stored, and all logs of blocks after those that were stored together with them are deleted.
   *
   * @returns whether there were any
   * @throws {CommandError} with the reason why they cannot be read
   */
  readAgain(blocks: BlockRange): Promise<boolean>
  /** Deletes the stored logs from this block on, and avoids the node that gave the last ones. */
  dropFrom(block: number): Promise<void>
  /** What is stored stays. */
  close(): Promise<void>
}

export interface SpoolFetcherOptions extends SpoolPlace, FetchEvents {
  readonly source: HistorySource
  readonly network: Network
  readonly steadyMs: () => number
  readonly signal: AbortSignal
}

/**
 * Stores logs in a file, in the thread that creates it.
 *
 * @example
 * const fetcher = await SpoolFetcher.open({ source, network, folder, name, firstBlock, … })
 * await fetcher.fetchTo(26_400_000, false)
 * await fetcher.close()
 */
export class SpoolFetcher implements LogFetcher {
  private readonly spool: Spool
  private readonly options: SpoolFetcherOptions
  private stopping = new AbortController()
  private fetching: Promise<void> = Promise.resolve()
  /** Whether stored logs may have been applied to rows. */
  private areApplied = false

  private constructor(spool: Spool, options: SpoolFetcherOptions) {
    this.spool = spool
    this.options = options
  }

  /**
   * Reads the logs of contracts that were added to the network first: see {@link growSpool}.
   *
   * @throws {CommandError} where another process uses the folder
   */
  static async open(options: SpoolFetcherOptions): Promise<SpoolFetcher> {
    const spool = await Spool.open(options.folder, options)
    try {
      await growSpool(spool, options)
      return new SpoolFetcher(spool, options)
    } catch (error) {
      await spool.close()
      throw error
    }
  }

  async fetchTo(last: number, mayBeEmpty: boolean): Promise<void> {
    const { network, firstBlock, signal } = this.options
    const { areApplied } = this
    this.areApplied = true
    this.stopping = new AbortController()
    this.fetching = fetchHistory({
      ...this.options,
      spool: this.spool,
      blocks: { first: firstBlock, last },
      addresses: filterAddresses(network),
      mayBeEmpty,
      areApplied,
      parcelTransfer: (log) => parcelTransfer(network, log),
      signal: AbortSignal.any([signal, this.stopping.signal]),
    })
    await this.fetching
  }

  async readAgain({ first, last }: BlockRange): Promise<boolean> {
    const { network, source, signal } = this.options
    await this.endFetch()
    source.avoidLastNode()
    // What is deleted are whole ranges.
    const blocks = { first, last: this.spool.blocksFrom(last)[0]?.number ?? last }
    const known = await this.spool.newestLog(first)
    const logs = timedLogsOf(source, { blocks, addresses: filterAddresses(network), known, signal })
    const missing = await this.spool.addMissing(logs, async () => undefined)
    if (missing.length === 0) return false
    await this.dropFrom(blocks.last + 1)
    return true
  }

  async dropFrom(block: number): Promise<void> {
    await this.endFetch()
    this.options.source.avoidLastNode()
    await this.spool.dropFrom(block)
    this.areApplied = false
  }

  async close(): Promise<void> {
    await this.endFetch()
    await this.spool.close()
  }

  private async endFetch(): Promise<void> {
    this.stopping.abort(new Error('the logs are no longer needed'))
    await this.fetching.catch(() => undefined)
  }
}

import type { Network } from '../chain-types.ts'
import { fetchHistory, type HistoryProgress, type HistorySource } from './fetch-history.ts'
import { parcelTransfer } from './parcel-transfer.ts'
import { Spool } from './spool.ts'

/** Where logs are stored, and which. */
export interface SpoolPlace {
  readonly folder: string
  /** Of the chain and its contracts. */
  readonly name: string
  /** The first block of the history. */
  readonly firstBlock: number
}

/** What a fetcher says while it works. */
export interface FetchEvents {
  readonly onProgress: (progress: HistoryProgress) => void
  /** Gets the blocks whose logs may be incomplete. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  /** All logs up to this block are stored, and those that were stored before are of the chain. */
  readonly onStored: (last: number) => void
}

/** Requests the logs of the history and stores them. One call at a time, except that `dropFrom` and `close` end a `fetchTo`. */
export interface LogFetcher {
  /**
   * Stores all logs up to this block.
   *
   * @param mayBeEmpty see {@link fetchHistory}
   * @throws {CommandError} with the reason why they cannot be read
   */
  fetchTo(last: number, mayBeEmpty: boolean): Promise<void>
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

  /** @throws {CommandError} where another process uses the folder */
  static async open(options: SpoolFetcherOptions): Promise<SpoolFetcher> {
    return new SpoolFetcher(await Spool.open(options.folder, options), options)
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
      mayBeEmpty,
      areApplied,
      parcelTransfer: (log) => parcelTransfer(network, log),
      signal: AbortSignal.any([signal, this.stopping.signal]),
    })
    await this.fetching
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

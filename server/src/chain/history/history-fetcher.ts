import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CommandError } from '../../errors.ts'
import type { HistoryProgress } from './fetch-history.ts'
import type { FetchTask, FromThread, ToThread } from './fetch-thread.ts'
import { spoolPath } from './spool.ts'
import { StoredRanges } from './stored-ranges.ts'

const YOUNG_GENERATION_MB = 24

export interface HistoryFetcherOptions extends FetchTask {
  readonly onProgress: (progress: HistoryProgress) => void
  /** Gets the blocks whose logs may be incomplete. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  readonly signal: AbortSignal
}

/**
 * Requests and stores the logs of the history in a thread of its own, so that those that are stored can be applied meanwhile.
 *
 * @example
 * const fetcher = await HistoryFetcher.start(options)
 * await fetcher.fetchTo(26_400_000) // fetcher.stored has all logs up to this block
 * await fetcher.close()
 */
export class HistoryFetcher {
  readonly stored: StoredRanges
  private readonly thread: Worker
  private readonly options: HistoryFetcherOptions
  private readonly exited: Promise<unknown>
  private settle: ((error: unknown) => void) | undefined
  private target = -1

  private constructor(thread: Worker, stored: StoredRanges, options: HistoryFetcherOptions) {
    this.thread = thread
    this.stored = stored
    this.options = options
    this.exited = once(thread, 'exit')
    thread.on('message', (message: FromThread) => this.take(message))
    thread.on('error', (error) => this.settle?.(error))
  }

  /** @throws {CommandError} where another process uses the folder */
  static async start(options: HistoryFetcherOptions): Promise<HistoryFetcher> {
    const { onProgress: _, onSuspectBlocks: __, signal, ...task } = options
    signal.throwIfAborted()
    const thread = new Worker(new URL('./fetch-thread.js', import.meta.url), {
      workerData: task,
      // Ranges are short-lived: a larger young generation would only be memory that waits to be used again.
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    const [first] = (await once(thread, 'message')) as [FromThread]
    if (first.kind === 'failed') {
      await thread.terminate()
      throw new CommandError(first.message)
    }
    const stored = await StoredRanges.open(spoolPath(task.folder, task.name), task.firstBlock)
    return new HistoryFetcher(thread, stored, options)
  }

  /**
   * Stores all logs up to this block, and lets `stored` read them.
   *
   * @throws {CommandError} with the reason why they cannot be read; the reason of the signal
   */
  async fetchTo(last: number): Promise<void> {
    const { signal } = this.options
    signal.throwIfAborted()
    this.target = last
    const stop = () => this.settle?.(signal.reason)
    try {
      await new Promise<void>((resolve, reject) => {
        this.settle = (error) => (error === undefined ? resolve() : reject(error))
        signal.addEventListener('abort', stop)
        this.send({ kind: 'fetch', last })
      })
      this.stored.release(last)
    } finally {
      signal.removeEventListener('abort', stop)
      this.settle = undefined
    }
  }

  /** Ends the thread. What it has stored stays. */
  async close(): Promise<void> {
    this.send({ kind: 'close' })
    await this.exited
    await this.stored.close()
  }

  private take(message: FromThread): void {
    const { onProgress, onSuspectBlocks } = this.options
    if (message.kind === 'progress') {
      // Stored logs that reach further than the world are not part of it.
      this.stored.release(Math.min(message.progress.block, this.target))
      onProgress(message.progress)
    }
    if (message.kind === 'suspects') onSuspectBlocks(message.blocks)
    if (message.kind === 'fetched') this.settle?.(undefined)
    if (message.kind === 'failed') this.settle?.(new CommandError(message.message))
  }

  private send(message: ToThread): void {
    this.thread.postMessage(message)
  }
}

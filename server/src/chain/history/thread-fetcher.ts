import { Worker } from 'node:worker_threads'
import { CommandError } from '../../errors.ts'
import type { BlockRange } from '../follow/chain-source.ts'
import type { CallCounters } from '../rpc/call-counters.ts'
import { type FailedWork, type FetchTask, type FromThread, STARTED, type ToThread } from './fetch-messages.ts'
import type { FetchEvents, LogFetcher } from './log-fetcher.ts'

/** Ranges are short-lived: a larger young generation would only be memory that waits to be used again. */
const YOUNG_GENERATION_MB = 24

export interface ThreadFetcherOptions extends FetchEvents {
  readonly task: FetchTask
  /** Gets the calls of the thread. */
  readonly counters: CallCounters
  readonly signal: AbortSignal
  /** Gets why a call failed that is tried again, as everyone may read it. */
  readonly onWaiting: (reason: string) => void
  /** The program of the thread; tests replace it. */
  readonly program?: URL
}

type Request = {
  readonly [Kind in ToThread['kind']]: Omit<Extract<ToThread, { kind: Kind }>, 'id'>
}[ToThread['kind']]

interface Waiting {
  readonly resolve: (hasFound: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Requests and stores logs in a thread of its own, so that those that are stored can be applied meanwhile.
 *
 * @example
 * const fetcher = await ThreadFetcher.start({ task, counters, signal, … })
 * await fetcher.fetchTo(26_400_000, false)
 * await fetcher.close()
 */
export class ThreadFetcher implements LogFetcher {
  private readonly thread: Worker
  private readonly options: ThreadFetcherOptions
  private readonly exited: Promise<unknown>
  private readonly waiting = new Map<number, Waiting>()
  private lastId = STARTED
  /** Why the thread answers no more. */
  private end: unknown

  private constructor(options: ThreadFetcherOptions) {
    this.options = options
    this.thread = new Worker(options.program ?? new URL('./fetch-thread.js', import.meta.url), {
      workerData: options.task,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.exited = new Promise((resolve) => this.thread.once('exit', resolve))
    this.thread.on('message', (message: FromThread) => this.take(message))
    this.thread.on('error', (error) => this.failAll(error))
    this.thread.on('exit', () => this.failAll(new Error('the thread that requests logs has ended')))
  }

  /** @throws {CommandError} where another process uses the folder, or logs of contracts that were added cannot be read */
  static async start(options: ThreadFetcherOptions): Promise<ThreadFetcher> {
    options.signal.throwIfAborted()
    const fetcher = new ThreadFetcher(options)
    try {
      await fetcher.answerTo(STARTED)
      return fetcher
    } catch (error) {
      await fetcher.thread.terminate()
      throw error
    }
  }

  async fetchTo(last: number, mayBeEmpty: boolean): Promise<void> {
    await this.request({ kind: 'fetch', last, mayBeEmpty })
  }

  readAgain(blocks: BlockRange): Promise<boolean> {
    return this.request({ kind: 'again', blocks })
  }

  async dropFrom(from: number): Promise<void> {
    await this.request({ kind: 'drop', from })
  }

  async close(): Promise<void> {
    this.thread.postMessage({ kind: 'close', id: this.nextId() } satisfies ToThread)
    await this.exited
  }

  private request(request: Request): Promise<boolean> {
    const id = this.nextId()
    this.thread.postMessage({ ...request, id })
    return this.answerTo(id)
  }

  private nextId(): number {
    this.lastId += 1
    return this.lastId
  }

  /** @throws the reason of the signal, without waiting for the thread */
  private async answerTo(id: number): Promise<boolean> {
    const { signal } = this.options
    if (this.end !== undefined) throw this.end
    const stop = () => this.waiting.get(id)?.reject(signal.reason)
    signal.addEventListener('abort', stop)
    try {
      return await new Promise<boolean>((resolve, reject) => {
        this.waiting.set(id, { resolve, reject })
        if (signal.aborted) stop()
      })
    } finally {
      signal.removeEventListener('abort', stop)
      this.waiting.delete(id)
    }
  }

  private take(message: FromThread): void {
    const { onProgress, onSuspectBlocks, onStored, onWaiting, log, counters } = this.options
    if (message.kind === 'progress') onProgress(message.progress)
    else if (message.kind === 'suspects') onSuspectBlocks(message.blocks)
    else if (message.kind === 'stored') onStored(message.last)
    else if (message.kind === 'waits') onWaiting(message.reason)
    else if (message.kind === 'line') log(message.line)
    else if (message.kind === 'calls')
      for (const { node, method, result, calls } of message.calls) counters.add(node, method, result, calls)
    else if (message.kind === 'done') this.waiting.get(message.id)?.resolve(message.hasFound)
    else this.waiting.get(message.id)?.reject(errorOf(message))
  }

  private failAll(error: unknown): void {
    this.end ??= error
    for (const { reject } of [...this.waiting.values()]) reject(error)
  }
}

/** With the stack of the thread. */
function errorOf({ message, publicText, stack }: FailedWork): CommandError {
  const error = new CommandError(message, publicText)
  if (stack !== undefined) error.stack = stack
  return error
}

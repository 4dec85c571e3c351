import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../clock.ts'
import { Batches } from './batches.ts'

/**
 * Tasks per second above which a thread does them. A task takes 0.1 to 0.2 ms of CPU time: below this rate the main thread does
 * the tasks with less effort than sending them to a thread takes. A thread needs some 15 MB of memory.
 */
const THREAD_ABOVE = 50
/** How long after the end of a thread no other one is started. */
const REST_MS = 10 * SECOND_MS

/** A batch takes some 5 ms. A thread that lives and does not answer for so long is ended. */
const ANSWER_WITHIN_MS = 5 * SECOND_MS
/** Batches that are sent before the first is answered. The thread does them one after the other, and never waits for the next one. */
const BATCHES_AT_ONCE = 3

export interface BusyThreadOptions {
  /** Called when the thread has ended by itself, did not answer, or could not start. */
  readonly onThreadEnded?: (() => void) | undefined
  readonly threadAbove?: number
  /** A steady time in milliseconds. */
  readonly now?: () => number
  readonly answerWithinMs?: number
  /** The file of the thread, in place of the usual one. */
  readonly script?: URL
}

/** What is done. */
export interface ThreadWork<Task, Result> {
  /** On the main thread. */
  readonly run: (task: Task) => Result
  /**
   * The file of the thread: it gets lists of tasks as JSON, and answers each with the list of their results. One text costs
   * both threads less than a copy of each task's objects and texts.
   */
  readonly script: URL
}

/** A thread, and the batches that it has not answered, in the order in which it got them. */
interface RunningThread<Result> {
  readonly worker: Worker
  readonly unanswered: {
    readonly timer: NodeJS.Timeout
    resolve(results: readonly Result[]): void
    reject(error: Error): void
  }[]
}

/**
 * Does small tasks that JSON can hold and that take CPU time alone, such as checking signatures: while there are few on the main thread, at once, and while there
 * are many in a thread of its own. Where the thread ends or does not answer, the main thread does what it had, one task in a
 * turn of the event loop, and all else until another one may start.
 *
 * @example
 * const check = new BusyThread({ run: areSignedAsNamed, script: new URL('../attendance/signer-check-thread.js', import.meta.url) })
 * await check.do([{ text, signature, signer }]) // true
 */
export class BusyThread<Task, Result> {
  private readonly work: ThreadWork<Task, Result>
  private readonly options: BusyThreadOptions
  private readonly rate: RateMeter
  private readonly now: () => number
  private readonly batches = new Batches((tasks: readonly Task[]) => this.doInThread(tasks), {
    atOnce: BATCHES_AT_ONCE,
  })
  private thread: RunningThread<Result> | undefined
  private isClosed = false
  private restsUntilMs = Number.NEGATIVE_INFINITY
  /** The turn of the event loop in which the last task of a thread that ended is done. */
  private lastTurn: Promise<void> = Promise.resolve()

  constructor(work: ThreadWork<Task, Result>, options: BusyThreadOptions = {}) {
    this.work = work
    this.options = options
    this.now = options.now ?? (() => performance.now())
    this.rate = new RateMeter(this.now)
  }

  /** @throws what the work throws */
  async do(task: Task): Promise<Result> {
    const { run } = this.work
    const isBusy = this.rate.count() > (this.options.threadAbove ?? THREAD_ABOVE)
    if (!isBusy || !this.mayUseThread()) return run(task)
    try {
      return await this.batches.add(task)
    } catch {
      await this.ownTurn()
      return run(task)
    }
  }

  /**
   * A thread that hangs may leave thousands of tasks. Each waits for the one before: immediates that are requested
   * together would run in the same turn, and nothing else would be answered meanwhile.
   */
  private ownTurn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => setImmediate())
    return this.lastTurn
  }

  /** Ends the thread for good: from then on the main thread works. */
  async close(): Promise<void> {
    this.isClosed = true
    const { thread } = this
    this.thread = undefined
    await thread?.worker.terminate()
  }

  private mayUseThread(): boolean {
    return !this.isClosed && this.now() >= this.restsUntilMs
  }

  /** @throws where there is no thread, or it ends: of itself, by {@link close}, or because it does not answer */
  private async doInThread(tasks: readonly Task[]): Promise<readonly Result[]> {
    if (!this.mayUseThread()) throw new Error('no thread works now')
    this.thread ??= this.startThread()
    const { worker, unanswered } = this.thread
    return new Promise((resolve, reject) => {
      const limitMs = this.options.answerWithinMs ?? ANSWER_WITHIN_MS
      worker.postMessage(JSON.stringify(tasks))
      const timer = setTimeout(() => void worker.terminate(), limitMs)
      unanswered.push({ timer, resolve, reject })
    })
  }

  private startThread(): RunningThread<Result> {
    const worker = this.newWorker()
    const thread: RunningThread<Result> = { worker, unanswered: [] }
    const { unanswered } = thread
    worker.on('message', (results: readonly Result[]) => {
      const batch = unanswered.shift()
      clearTimeout(batch?.timer)
      batch?.resolve(results)
    })
    worker.on('messageerror', () => void worker.terminate()) // without its answer, each later one would go to another batch
    worker.on('error', () => {}) // its exit follows
    worker.once('exit', () => {
      if (this.thread === thread) {
        this.thread = undefined
        this.rest()
      }
      for (const { timer, reject } of unanswered.splice(0)) {
        clearTimeout(timer)
        reject(new Error('the thread has ended'))
      }
    })
    worker.unref() // after the listeners: one for messages keeps the process alive
    return thread
  }

  /** @throws where the system gives no thread */
  private newWorker(): Worker {
    try {
      return new Worker(this.options.script ?? this.work.script)
    } catch (error) {
      this.rest()
      throw error
    }
  }

  private rest(): void {
    this.restsUntilMs = this.now() + REST_MS
    this.options.onThreadEnded?.()
  }
}

/** How many tasks there were in this second, or in the one before. */
class RateMeter {
  private readonly now: () => number
  private second = 0
  private counted = 0
  private countedBefore = 0
  constructor(now: () => number) {
    this.now = now
  }

  /** Counts one more. */
  count(): number {
    const second = Math.floor(this.now() / SECOND_MS)
    if (second !== this.second) {
      this.countedBefore = second === this.second + 1 ? this.counted : 0
      this.counted = 0
      this.second = second
    }
    this.counted += 1
    return Math.max(this.counted, this.countedBefore)
  }
}

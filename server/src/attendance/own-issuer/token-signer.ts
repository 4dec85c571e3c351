import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../clock.ts'
import { Batches } from '../batches.ts'
import { type SigningTask, signToken, type TokenSignature } from './token-signature.ts'

/**
 * Tokens in a second above which the thread signs. A token takes a tenth of a millisecond of CPU time: fewer cost less than
 * a thread does, which starts with some 15 MB of memory.
 */
const THREAD_ABOVE = 50
/** How long after the end of a thread no other one is started. */
const REST_MS = 10 * SECOND_MS

/** A batch takes some 5 ms. A thread that lives and does not answer for so long is ended. */
const ANSWER_WITHIN_MS = 5 * SECOND_MS
/** The thread signs one after the other: the next ones are there when it has signed the first. */
const BATCHES_AT_ONCE = 3
const SCRIPT = new URL('./signing-thread.js', import.meta.url)

export interface TokenSignerOptions {
  /** Called when the thread has ended by itself, did not answer, or could not start. */
  readonly onThreadEnded?: () => void
  readonly threadAbove?: number
  /** A steady time in milliseconds. */
  readonly now?: () => number
  readonly answerWithinMs?: number
  /** The file of the thread. */
  readonly script?: URL
}

/** A thread, and the batches that it has not answered, in the order in which it got them. */
interface SigningThread {
  readonly worker: Worker
  readonly unanswered: {
    readonly timer: NodeJS.Timeout
    resolve(signatures: readonly TokenSignature[]): void
    reject(error: Error): void
  }[]
}

/**
 * Signs tokens: while there are few on the main thread, at once, and while there are many in a thread of its own. Where the
 * thread ends or does not answer, the main thread signs what it had, one token in a turn of the event loop, and all else until
 * another one may start.
 */
export class TokenSigner {
  private readonly options: TokenSignerOptions
  private readonly rate: RateMeter
  private readonly now: () => number
  private readonly batches = new Batches((tasks: readonly SigningTask[]) => this.signInThread(tasks), {
    atOnce: BATCHES_AT_ONCE,
  })
  private thread: SigningThread | undefined
  private isClosed = false
  private restsUntilMs = Number.NEGATIVE_INFINITY
  /** The turn of the event loop in which the last token of a thread that ended is signed. */
  private lastTurn: Promise<void> = Promise.resolve()

  constructor(options: TokenSignerOptions = {}) {
    this.options = options
    this.now = options.now ?? (() => performance.now())
    this.rate = new RateMeter(this.now)
  }

  /** @throws for 32 bytes that are not a key */
  async sign(task: SigningTask): Promise<TokenSignature> {
    const isBusy = this.rate.count() > (this.options.threadAbove ?? THREAD_ABOVE)
    if (!isBusy || !this.mayUseThread()) return signToken(task)
    try {
      return await this.batches.add(task)
    } catch {
      await this.ownTurn()
      return signToken(task)
    }
  }

  /**
   * A thread that hangs may leave thousands of tokens. Each waits for the one before: immediates that are requested
   * together would run in the same turn, and nothing else would be answered meanwhile.
   */
  private ownTurn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => setImmediate())
    return this.lastTurn
  }

  /** Ends the thread for good: from then on the main thread signs. */
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
  private async signInThread(tasks: readonly SigningTask[]): Promise<readonly TokenSignature[]> {
    if (!this.mayUseThread()) throw new Error('no thread signs tokens now')
    this.thread ??= this.startThread()
    const { thread } = this
    return new Promise((resolve, reject) => {
      const limitMs = this.options.answerWithinMs ?? ANSWER_WITHIN_MS
      const timer = setTimeout(() => void thread.worker.terminate(), limitMs)
      thread.unanswered.push({ timer, resolve, reject })
      thread.worker.postMessage(tasks.map(copyOf))
    })
  }

  private startThread(): SigningThread {
    const worker = this.newWorker()
    const thread: SigningThread = { worker, unanswered: [] }
    const { unanswered } = thread
    worker.unref()
    worker.on('message', (signatures: readonly TokenSignature[]) => {
      const batch = unanswered.shift()
      clearTimeout(batch?.timer)
      batch?.resolve(signatures)
    })
    worker.on('error', () => {}) // its exit follows
    worker.once('exit', () => {
      if (this.thread === thread) {
        this.thread = undefined
        this.rest()
      }
      for (const { timer, reject } of unanswered.splice(0)) {
        clearTimeout(timer)
        reject(new Error('the thread that signs tokens has ended'))
      }
    })
    return thread
  }

  /** @throws where the system gives no thread */
  private newWorker(): Worker {
    try {
      return new Worker(this.options.script ?? SCRIPT)
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

/** A message to a thread takes a copy of all memory that an array of bytes is a part of: here it is a part of nothing. */
function copyOf({ message, key }: SigningTask): SigningTask {
  return { message: { ...message, salt: Uint8Array.from(message.salt) }, key: Uint8Array.from(key) }
}

/** How many tokens there were in this second, or in the one before. */
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

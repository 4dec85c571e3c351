import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../clock.ts'
import { Batches } from '../batches.ts'
import { type SigningTask, signToken, type TokenSignature } from './token-signature.ts'

/**
 * Tokens in a second above which the thread signs. A token takes half a millisecond of CPU time: fewer cost less than a
 * thread does, which starts with some 15 MB of memory.
 */
const THREAD_ABOVE = 50
/** How long after the end of a thread no other one is started. */
const REST_MS = 10 * SECOND_MS

export interface TokenSignerOptions {
  /** Called when the thread has ended by itself. */
  readonly onThreadEnded?: () => void
  readonly threadAbove?: number
  /** A steady time in milliseconds. */
  readonly now?: () => number
}

/**
 * Signs tokens: while there are few on the main thread, at once, and while there are many in a thread of its own. Where the
 * thread ends, the main thread signs what it had, and all else until another one may start.
 */
export class TokenSigner {
  private readonly options: TokenSignerOptions
  private readonly rate: RateMeter
  private readonly now: () => number
  private readonly batches = new Batches((tasks: readonly SigningTask[]) => this.signInThread(tasks))
  private thread: Worker | undefined
  private restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: TokenSignerOptions = {}) {
    this.options = options
    this.now = options.now ?? (() => performance.now())
    this.rate = new RateMeter(this.now)
  }

  /** @throws for 32 bytes that are not a key */
  async sign(task: SigningTask): Promise<TokenSignature> {
    const isBusy = this.rate.count() > (this.options.threadAbove ?? THREAD_ABOVE)
    if (!isBusy || this.now() < this.restsUntilMs) return signToken(task)
    try {
      return await this.batches.add(task)
    } catch {
      return signToken(task)
    }
  }

  /** Ends the thread. The next token that needs one starts another. */
  async close(): Promise<void> {
    const { thread } = this
    this.thread = undefined
    await thread?.terminate()
  }

  /** @throws where the thread ends, of itself or by {@link close} */
  private signInThread(tasks: readonly SigningTask[]): Promise<readonly TokenSignature[]> {
    this.thread ??= this.startThread()
    const { thread } = this
    return new Promise((resolve, reject) => {
      const answer = (signatures: readonly TokenSignature[]) => {
        thread.off('exit', end)
        resolve(signatures)
      }
      const end = () => reject(new Error('the thread that signs tokens has ended'))
      thread.once('message', answer).once('exit', end)
      thread.postMessage(tasks.map(copyOf))
    })
  }

  private startThread(): Worker {
    const thread = new Worker(new URL('./signing-thread.js', import.meta.url))
    thread.unref()
    thread.on('error', () => {}) // its exit follows
    thread.once('exit', () => {
      if (this.thread !== thread) return
      this.thread = undefined
      this.restsUntilMs = this.now() + REST_MS
      this.options.onThreadEnded?.()
    })
    return thread
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

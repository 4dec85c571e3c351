import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../../../clock.ts'
import { AppError } from '../../../../errors.ts'

/** The dearest picture takes 0.25 s of CPU time; the rest is for a busy machine. */
const TIMEOUT_MS = 5 * SECOND_MS
/** Pictures that are worked on, or wait for it: each holds its file and an open request. */
const MAX_WAITING = 8
const MAX_HEAP_MB = 128
/** How long a thread waits for the next picture: its memory is some 15 MB, after a large JPEG 60. */
const IDLE_MS = 10 * SECOND_MS

/** Works on one picture after the other, and lets few of them wait. */
export class PictureQueue {
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0

  /** @throws {AppError} `too_many_pictures` where many wait already */
  assertRoom(): void {
    if (this.waiting >= MAX_WAITING) throw tooMany()
  }

  /** @throws {AppError} `too_many_pictures` where many wait already */
  async add(work: () => Promise<Buffer>): Promise<Buffer> {
    this.assertRoom()
    this.waiting++
    const working = this.last.then(work).finally(() => this.waiting--)
    this.last = working.catch(() => {})
    return working
  }
}

/**
 * A thread that makes pictures, one at a time, with limits of memory and time. It is started for the first one, and ended when it
 * has had nothing to do for a while: most of the CPU time of a picture in a new thread is that of starting it and compiling its
 * code. It ends too where it fails.
 */
export class PictureThread {
  private readonly script: URL
  private worker: Worker | undefined
  private waiting: { resolve(png: Buffer): void; reject(error: Error): void } | undefined
  private idle: NodeJS.Timeout | undefined

  /** @param script its file; it gets each task as a message, and answers with the picture */
  constructor(script: URL) {
    this.script = script
  }

  /** @throws where the thread fails, or takes too long */
  async make(task: object): Promise<Buffer> {
    clearTimeout(this.idle)
    this.worker ??= this.start()
    const { worker } = this
    const timer = setTimeout(() => void worker.terminate(), TIMEOUT_MS)
    const making = new Promise<Buffer>((resolve, reject) => {
      this.waiting = { resolve, reject }
    })
    worker.postMessage(task)
    return making.finally(() => {
      clearTimeout(timer)
      this.idle = setTimeout(() => this.end(), IDLE_MS).unref()
    })
  }

  private start(): Worker {
    const worker = new Worker(this.script, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      stdout: true,
      stderr: true,
    })
    worker.on('message', (png: Uint8Array) => this.waiting?.resolve(Buffer.from(png)))
    worker.on('error', () => {}) // its exit follows
    worker.once('exit', () => {
      if (this.worker !== worker) return
      this.worker = undefined
      this.waiting?.reject(new Error('a thread made no picture'))
    })
    worker.unref() // after the listeners: one for messages keeps the process alive
    return worker
  }

  private end(): void {
    const { worker } = this
    this.worker = undefined
    void worker?.terminate()
  }
}

function tooMany(): AppError {
  return new AppError(
    'too_many_pictures',
    `The server is checking as many pictures as it can. Try again in ${TIMEOUT_MS / SECOND_MS} seconds.`,
    {
      retry_after_s: TIMEOUT_MS / SECOND_MS,
    },
  )
}

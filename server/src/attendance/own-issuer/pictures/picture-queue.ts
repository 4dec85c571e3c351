import { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'

/** The largest picture takes about a second of CPU time, three on a busy machine; made-up ones may take any time. */
const TIMEOUT_MS = 5 * SECOND_MS
/** Pictures that are worked on, or wait for it: each holds its file and an open request. */
const MAX_WAITING = 8
const MAX_HEAP_MB = 128

/** Works on one picture after the other, and lets few of them wait. */
export class PictureQueue {
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0

  /** @throws {AppError} `too_many_pictures` where many wait already */
  add(work: () => Promise<Buffer>): Promise<Buffer> {
    if (this.waiting >= MAX_WAITING) return Promise.reject(tooMany())
    this.waiting++
    const working = this.last.then(work).finally(() => this.waiting--)
    this.last = working.catch(() => {})
    return working
  }
}

/**
 * Lets a thread make a picture, with limits of memory and time.
 *
 * @param script its file; the thread gets `task` and sends the picture
 * @throws where the thread fails, or takes too long
 */
export function pictureFromThread(script: URL, task: object): Promise<Buffer> {
  const thread = new Worker(script, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  })
  return new Promise<Buffer>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    thread.once('online', () => {
      timer = setTimeout(() => void thread.terminate(), TIMEOUT_MS)
    })
    thread.once('message', (png: Uint8Array) => resolve(Buffer.from(png)))
    thread.once('error', reject)
    thread.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('a thread made no picture in time'))
    })
  })
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

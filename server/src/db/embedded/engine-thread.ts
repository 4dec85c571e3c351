import fs from 'node:fs'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../clock.ts'
import { CommandError } from '../../errors.ts'
import type { Notices } from '../notices.ts'
import { EngineClient } from './engine-client.ts'
import { portLink } from './link.ts'
import type { Answer, Request, ThreadData, ThreadReport } from './messages.ts'
import type { ThreadOrder } from './thread.ts'

/** The pause before a second start in a row; it doubles each time. */
const FIRST_PAUSE_MS = SECOND_MS
const LAST_PAUSE_MS = 30 * SECOND_MS

/**
 * The thread that runs PGlite, and the client of its process.
 *
 *   running ──ends by itself──▶ starting again ──▶ running
 *      └────────close───────▶ closed        └──fails──▶ pause ──▶ starting again
 *
 * While the thread does not run, requests fail with `database_unavailable`. What was committed is there afterwards: the
 * new thread recovers the folder, as after a kill of the process.
 */
export class EngineThread {
  readonly client: EngineClient
  readonly #data: ThreadData
  readonly #notices: Notices
  readonly #onStarted: (thread: Worker) => void
  /** Undefined while none runs. */
  #thread: Worker | undefined
  #isClosing = false
  #restarting: Promise<void> | undefined
  #pauseMs = 0
  #timer: NodeJS.Timeout | undefined

  /**
   * @param onStarted called with each thread that was started
   * @throws {CommandError} when the database does not open
   */
  static async start(
    data: ThreadData,
    statementTimeoutMs: number,
    notices: Notices,
    onStarted: (thread: Worker) => void = () => {},
  ): Promise<EngineThread> {
    const { thread, port } = await startThread(data)
    onStarted(thread)
    const client = new EngineClient(portLink<Request, Answer>(port), statementTimeoutMs)
    return new EngineThread({ data, notices, thread, client, onStarted })
  }

  private constructor(parts: {
    readonly data: ThreadData
    readonly notices: Notices
    readonly thread: Worker
    readonly client: EngineClient
    readonly onStarted: (thread: Worker) => void
  }) {
    this.client = parts.client
    this.#onStarted = parts.onStarted
    this.#data = parts.data
    this.#notices = parts.notices
    this.#watch(parts.thread)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await this.#restarting?.catch(() => undefined)
    // A thread that has ended would never report that it is closed
    if (this.#thread) await closeThread(this.#thread)
  }

  #watch(thread: Worker): void {
    this.#thread = thread
    thread.once('exit', () => {
      this.#thread = undefined
      this.client.onEngineGone()
      if (!this.#isClosing) this.#restart('The thread of the embedded database ended; it is started again.')
    })
  }

  #restart(notice: string): void {
    // Two engines on one folder would destroy it
    if (this.#timer) return
    this.#notices.add(notice)
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(Math.max(2 * pauseMs, FIRST_PAUSE_MS), LAST_PAUSE_MS)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#restarting = this.#startAgain().finally(() => {
        this.#restarting = undefined
      })
    }, pauseMs)
    this.#timer.unref()
  }

  async #startAgain(): Promise<void> {
    try {
      // The socket of the thread before: a file that is there cannot be listened on
      fs.rmSync(this.#data.socketPath, { force: true })
      const { thread, port } = await startThread(this.#data)
      this.#onStarted(thread)
      this.#watch(thread)
      await this.client.relink(portLink<Request, Answer>(port))
      this.#pauseMs = 0
      this.#notices.add('The embedded database runs again.')
    } catch (error) {
      // The exit of a thread that runs is what starts the next one
      if (this.#thread) await this.#thread.terminate()
      else if (!this.#isClosing) this.#restart(`${(error as Error).message} It is tried again.`)
    }
  }
}

async function startThread(data: ThreadData): Promise<{ thread: Worker; port: MessagePort }> {
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: data })
  // Without a listener an error of the thread would end the process. waitForReport passes the error to its caller.
  thread.on('error', () => {})
  try {
    await waitForReport(thread, 'ready')
  } catch (error) {
    await thread.terminate()
    throw error
  }
  thread.unref()
  const { port1, port2 } = new MessageChannel()
  order(thread, { op: 'serve', port: port2 }, [port2])
  return { thread, port: port1 }
}

async function closeThread(thread: Worker): Promise<void> {
  thread.ref()
  const closed = waitForReport(thread, 'closed')
  order(thread, { op: 'close' })
  // A thread that failed or ended needs no closing
  await closed.catch(() => {})
  await thread.terminate()
}

function order(thread: Worker, message: ThreadOrder, transfer: MessagePort[] = []): void {
  thread.postMessage(message, transfer)
}

/** @throws {CommandError} when the thread reports a failure or another step, or ends without a report. */
function waitForReport(thread: Worker, expected: ThreadReport['op']): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new CommandError(why))
    thread.once('error', (error) => fail(`The embedded database failed: ${error.message}`))
    thread.once('exit', () => fail('The embedded database ended.'))
    thread.once('message', (report: ThreadReport) => {
      if (report.op === expected) resolve()
      else fail(report.op === 'failed' ? report.sentence : `unexpected report ${report.op}`)
    })
  })
}

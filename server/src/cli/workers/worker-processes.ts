import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { SECOND_MS, withTimeLimit } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { CommandError } from '../../errors.ts'
import { SharedCounts } from '../../work/shared-counts.ts'
import { ServiceManager } from '../service-manager.ts'
import { joinMetrics } from './join-metrics.ts'
import { type FromWorker, LISTENS_AT_ONCE, type ToWorker, WORKER_NUMBER } from './messages.ts'

/** How long the metrics of one process are waited for; then they are left out. */
const METRICS_LIMIT_MS = 2 * SECOND_MS
/** How long a process may take to stop, besides `SHUTDOWN_DELAY_MS`; then it is killed. */
const STOP_LIMIT_MS = 15 * SECOND_MS
/** A process that ends sooner after its start is replaced after a pause, which doubles up to the longest one. */
const SHORT_LIFE_MS = 10 * SECOND_MS
const FIRST_PAUSE_MS = SECOND_MS
const LONGEST_PAUSE_MS = 30 * SECOND_MS
/** A process whose event loop stands still for so long is killed: several times the longest work on the main thread. */
const SILENCE_LIMIT_MS = 30 * SECOND_MS
/** How often a process is asked within this time: a pause of all processes, as of a machine that sleeps, is one silence. */
const QUESTIONS = 6

export interface WorkerProcessesOptions {
  /** How long a worker process may give no sign of life. */
  readonly silenceLimitMs?: number
}

/**
 * Serves with several processes on one port: this one starts them, replaces those that end or hang, and serves nothing itself. SIGHUP replaces
 * one after the other: each is stopped when its successor is ready, so no request is lost.
 *
 * @returns when all processes have stopped after Ctrl-C or SIGTERM
 * @throws {CommandError} without PostgreSQL
 */
export async function runWorkerProcesses(
  config: Config,
  options: WorkerProcessesOptions = {},
): Promise<void> {
  if (config.databaseUrl === undefined)
    throw new CommandError(
      'WORKERS above 1 needs PostgreSQL: the embedded database belongs to one process. Set DATABASE_URL.',
    )
  await new WorkerProcesses(config, options).run()
}

class WorkerProcesses {
  readonly #config: Config
  readonly #silenceLimitMs: number
  readonly #serviceManager = new ServiceManager(process.env)
  readonly #counts = new SharedCounts(() => performance.now())
  /** Those that serve or start, by their number from 1 to `WORKERS`. */
  readonly #workers = new Map<number, Worker>()
  readonly #askedMetrics = new Map<number, (text: string) => void>()
  #isStopping = false
  #lastId = 0

  constructor(config: Config, { silenceLimitMs = SILENCE_LIMIT_MS }: WorkerProcessesOptions) {
    this.#config = config
    this.#silenceLimitMs = silenceLimitMs
    cluster.on('message', (worker, message: FromWorker) => void this.#take(worker, message))
  }

  async run(): Promise<void> {
    const stopped = this.#stopSignal()
    const first = this.#start(1, { listensAtOnce: true })
    // The first one fills an empty database, and fails where a setting is wrong
    const isReady = Promise.race([this.#isReady(first), stopped.then(() => true)])
    const started = isReady.then((hasBegun) => (hasBegun ? this.#startOthers(first) : undefined))
    let replaced: Promise<unknown> = started
    process.on('SIGHUP', () => {
      replaced = replaced.then(() => this.#replaceAll())
    })
    if (await isReady) {
      await Promise.race([started, stopped])
      if (!this.#isStopping) this.#serviceManager.announceReady()
      await this.#stopAll(await stopped)
    } else process.exitCode = first.process.exitCode ?? 1
  }

  async #startOthers(first: Worker): Promise<void> {
    void this.#replaceWhenItEnds(first, 1)
    for (let number = 2; number <= this.#config.workers && !this.#isStopping; number++) {
      const worker = this.#start(number, { listensAtOnce: false })
      void this.#replaceWhenItEnds(worker, number)
      await this.#isReady(worker)
    }
  }

  /** @param how whether it listens before it can answer, so that `/health` is there */
  #start(number: number, { listensAtOnce }: { readonly listensAtOnce: boolean }): Worker {
    // systemd hears from this process alone
    const worker = cluster.fork({
      [WORKER_NUMBER]: number,
      [LISTENS_AT_ONCE]: listensAtOnce,
      NOTIFY_SOCKET: '',
    })
    if (!this.#workers.has(number)) this.#workers.set(number, worker)
    this.#killWhenItHangs(worker, number)
    return worker
  }

  /** Before its first answer it has ten times as long, in which it loads its code. */
  #killWhenItHangs(worker: Worker, number: number): void {
    let unanswered = -10 * QUESTIONS
    worker.on('message', ({ kind }: FromWorker) => {
      if (kind === 'alive') unanswered = 0
    })
    const asking = setInterval(() => {
      if (unanswered >= QUESTIONS) {
        clearInterval(asking)
        const silentS = this.#silenceLimitMs / SECOND_MS
        console.error(`landpass: worker process ${number} did not answer for ${silentS} s and is killed`)
        worker.process.kill('SIGKILL')
        return
      }
      unanswered += 1
      this.#send(worker, { kind: 'are you alive' })
    }, this.#silenceLimitMs / QUESTIONS)
    worker.once('exit', () => clearInterval(asking))
  }

  /** @returns false where the worker ends before it is ready */
  #isReady(worker: Worker): Promise<boolean> {
    return new Promise((resolve) => {
      worker.on('message', ({ kind }: FromWorker) => {
        if (kind === 'ready') resolve(true)
      })
      worker.once('exit', () => resolve(false))
    })
  }

  /** Starts another worker where one ends that nobody stopped. */
  async #replaceWhenItEnds(worker: Worker, number: number): Promise<void> {
    let pauseMs = 0
    for (let current = worker; ; ) {
      const startedAtMs = performance.now()
      const [code, signal] = current.isDead()
        ? [current.process.exitCode, current.process.signalCode]
        : await once(current, 'exit')
      if (this.#isStopping || this.#workers.get(number) !== current) return
      this.#workers.delete(number)
      console.error(
        `landpass: worker process ${number} ended (${signal ?? code}); another one takes its place`,
      )
      const wasShort = performance.now() - startedAtMs < SHORT_LIFE_MS
      pauseMs = wasShort ? Math.min(Math.max(2 * pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS) : 0
      await setTimeout(pauseMs)
      // After SIGHUP another one may have its place already
      if (this.#isStopping || this.#workers.has(number)) return
      current = this.#start(number, { listensAtOnce: false })
    }
  }

  /** Replaces each worker by one that runs the version that is installed now, with the same settings. */
  async #replaceAll(): Promise<void> {
    for (let number = 1; number <= this.#config.workers; number++) {
      if (this.#isStopping) return
      const next = this.#start(number, { listensAtOnce: false })
      if (!(await this.#isReady(next))) {
        console.error(
          'landpass: the new worker process ended before it was ready; the others stay as they are',
        )
        if (this.#workers.get(number) === next) void this.#replaceWhenItEnds(next, number)
        return
      }
      // Not the one of the beginning, where that has ended and was replaced meanwhile
      const before = this.#workers.get(number)
      this.#workers.set(number, next)
      void this.#replaceWhenItEnds(next, number)
      if (before !== undefined && before !== next) await this.#stop(before, 'SIGTERM')
    }
  }

  async #stopAll(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    this.#serviceManager.announceStop()
    await Promise.all(this.#all().map((worker) => this.#stop(worker, signal)))
  }

  async #stop(worker: Worker, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    if (worker.isDead()) return
    const ended: Promise<unknown> = once(worker, 'exit')
    this.#send(worker, { kind: 'stop', signal })
    const limitMs = this.#config.shutdownDelayMs + STOP_LIMIT_MS
    await withTimeLimit(ended, limitMs, () => worker.process.kill('SIGKILL'))
  }

  async #stopSignal(): Promise<'SIGINT' | 'SIGTERM'> {
    const signals = ['SIGINT', 'SIGTERM'] as const
    const signal = await Promise.race(signals.map((name) => once(process, name).then(() => name)))
    this.#isStopping = true
    for (const name of signals)
      process.once(name, () => {
        for (const worker of this.#all()) worker.process.kill('SIGKILL')
        process.exit(1)
      })
    return signal
  }

  /** Also those that are being replaced. */
  #all(): Worker[] {
    return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  }

  async #take(from: Worker, message: FromWorker): Promise<void> {
    if (message.kind === 'spent') {
      for (const worker of this.#all())
        if (worker !== from) this.#send(worker, { kind: 'spent', spent: message.spent })
    } else if (message.kind === 'count') {
      const { id, limit, sender, windowMs } = message
      this.#send(from, { kind: 'answer', id, answer: this.#counts.count(limit, sender, windowMs) })
    } else if (message.kind === 'want metrics') {
      const texts = await Promise.all([...this.#workers.values()].map((worker) => this.#metricsOf(worker)))
      this.#send(from, { kind: 'answer', id: message.id, answer: joinMetrics(texts) })
    } else if (message.kind === 'own metrics') this.#askedMetrics.get(message.id)?.(message.text)
  }

  async #metricsOf(worker: Worker): Promise<string> {
    this.#lastId += 1
    const id = this.#lastId
    const text = new Promise<string>((resolve) => {
      this.#askedMetrics.set(id, resolve)
    })
    this.#send(worker, { kind: 'want own metrics', id })
    try {
      return await withTimeLimit(text, METRICS_LIMIT_MS, () => '')
    } finally {
      this.#askedMetrics.delete(id)
    }
  }

  /** A message to a worker that ends at this moment is lost. */
  #send(worker: Worker, message: ToWorker): void {
    if (worker.isConnected()) worker.send(message, undefined, () => {})
  }
}

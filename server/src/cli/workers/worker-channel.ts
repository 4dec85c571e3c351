import type { SharedCount, Spent, WorkerGroup } from '../../http/worker-group.ts'
import { type FromWorker, LISTENS_AT_ONCE, type ToWorker, WORKER_NUMBER } from './messages.ts'

/** The group of this process, for a process that `landpass serve` started as one of several. */
export class WorkerChannel implements WorkerGroup {
  /** From 1 to `WORKERS`; a process that replaces another one has its number. */
  readonly number: number
  /** False: the process listens when it can answer, because others answer meanwhile. */
  readonly listensAtOnce: boolean
  /** Resolves when this process is to stop. Where the process that started it ends, Node.js ends it at once. */
  readonly stopped: Promise<'SIGINT' | 'SIGTERM'>
  readonly #waiting = new Map<number, (answer: string | SharedCount) => void>()
  readonly #listeners: ((spent: readonly Spent[]) => void)[] = []
  #ownMetrics: () => Promise<string> = async () => ''
  #lastId = 0

  /** @param env of a worker process */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.number = Number(env[WORKER_NUMBER])
    this.listensAtOnce = env[LISTENS_AT_ONCE] === 'true'
    // A terminal sends Ctrl-C to all processes; the one that started this one says when to stop
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
    this.stopped = new Promise((resolve) => {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'stop') resolve(message.signal)
        else void this.#take(message)
      })
    })
  }

  /** @param read the metrics of this process alone */
  describeWith(read: () => Promise<string>): void {
    this.#ownMetrics = read
  }

  /** Lets this process end when it has nothing else to do. */
  close(): void {
    process.channel?.unref()
  }

  announceReady(): void {
    this.#send({ kind: 'ready' })
  }

  async metrics(): Promise<string> {
    return (await this.#ask((id) => ({ kind: 'want metrics', id }))) as string
  }

  async count(limit: string, sender: string, windowMs: number): Promise<SharedCount> {
    return (await this.#ask((id) => ({ kind: 'count', id, limit, sender, windowMs }))) as SharedCount
  }

  announceSpent(spent: readonly Spent[]): void {
    this.#send({ kind: 'spent', spent })
  }

  onSpent(take: (spent: readonly Spent[]) => void): void {
    this.#listeners.push(take)
  }

  async #take(message: Exclude<ToWorker, { kind: 'stop' }>): Promise<void> {
    if (message.kind === 'are you alive') this.#send({ kind: 'alive' })
    else if (message.kind === 'spent') for (const take of this.#listeners) take(message.spent)
    else if (message.kind === 'want own metrics')
      this.#send({ kind: 'own metrics', id: message.id, text: await this.#ownMetrics().catch(() => '') })
    else {
      this.#waiting.get(message.id)?.(message.answer)
      this.#waiting.delete(message.id)
    }
  }

  #ask(requestOf: (id: number) => FromWorker): Promise<string | SharedCount> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#send(requestOf(id))
    })
  }

  /** A message to a process that has ended is lost: then this one ends, too. */
  #send(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  }
}

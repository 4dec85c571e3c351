import type { MessagePort } from 'node:worker_threads'
import { AppError } from '../../errors.ts'
import type { Param } from '../row-types.ts'
import { databaseUnavailable, StatementError } from '../statement-error.ts'
import type { Link } from './link.ts'
import type { Answer, Refusal, Request, Rows } from './messages.ts'
import { TRANSACTION_LOST } from './sessions.ts'

type OnPayload = (payload: string) => void
type Settled = (answer: Answer | AppError) => void

/** The client's end of a link to the engine's thread. Every request gets an answer or an error in bounded time. */
export class EngineClient {
  #link: Link<Request, Answer>
  readonly #timeoutMs: number
  readonly #pending = new Map<number, Settled>()
  readonly #callbacks = new Map<string, Set<OnPayload>>()
  #lastId = 0
  #lastSession = 0
  #isLost = false
  #isClosed = false
  /** Raised when the engine was started again: transactions of the one before are lost. */
  #generation = 0

  /** @param timeoutMs after which a request fails with `database_unavailable`; 0 is no limit. */
  constructor(link: Link<Request, Answer>, timeoutMs: number) {
    this.#link = link
    this.#timeoutMs = timeoutMs
    this.#use(link)
  }

  get generation(): number {
    return this.#generation
  }

  /** Connects to an engine that was started again, and listens to what was listened to before. */
  async relink(link: Link<Request, Answer>): Promise<void> {
    if (this.#isClosed) return
    this.#onLost()
    this.#link = link
    this.#isLost = false
    this.#generation += 1
    this.#use(link)
    for (const channel of this.#callbacks.keys()) await this.ask((id) => ({ op: 'listen', id, channel }))
    // Notifications may have been missed
    for (const channel of this.#callbacks.keys()) this.#deliver(channel, '')
  }

  newSession(): Session {
    return new Session(this, ++this.#lastSession)
  }

  get pendingCount(): number {
    return this.#pending.size
  }

  async listen(channel: string, onPayload: OnPayload): Promise<void> {
    const callbacks = this.#callbacks.get(channel) ?? new Set()
    this.#callbacks.set(channel, callbacks.add(onPayload))
    await this.ask((id) => ({ op: 'listen', id, channel }))
  }

  async maintain(): Promise<void> {
    await this.ask((id) => ({ op: 'maintain', id }), 0)
  }

  /** For messages without an answer. On a lost link they are dropped: the engine has released all sessions already. */
  send(request: Request, transfer?: readonly MessagePort[]): void {
    if (!this.#isLost) this.#link.send(request, transfer)
  }

  /** @throws {AppError} `database_unavailable` when the time is up or the engine is gone. */
  ask(toRequest: (id: number) => Request, timeoutMs = this.#timeoutMs): Promise<Answer> {
    if (this.#isLost) return Promise.reject(databaseUnavailable('the engine does not run'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = timeoutMs > 0 ? setTimeout(() => this.#onTimeout(id, timeoutMs), timeoutMs) : undefined
      this.#settleWith(id, (answer) => {
        clearTimeout(timer)
        if (answer instanceof AppError) reject(answer)
        else resolve(answer)
      })
      try {
        this.#link.send(toRequest(id))
      } catch (error) {
        this.#forget(id)
        clearTimeout(timer)
        reject(error)
      }
    })
  }

  /** Fails all requests until {@link relink}, or for ever: the engine is gone. */
  onEngineGone(): void {
    this.#onLost()
  }

  close(): void {
    this.#isClosed = true
    this.#link.close()
    this.#onLost()
  }

  #use(link: Link<Request, Answer>): void {
    link.onMessage((answer) => this.#receive(answer))
    link.onClose(() => {
      if (link === this.#link) this.#onLost()
    })
    if (this.#pending.size === 0) link.unref()
  }

  #receive(answer: Answer): void {
    if (answer.op === 'notification') this.#deliver(answer.channel, answer.payload)
    else this.#settle(answer.id, answer)
  }

  #deliver(channel: string, payload: string): void {
    for (const onPayload of this.#callbacks.get(channel) ?? []) onPayload(payload)
  }

  #onTimeout(id: number, timeoutMs: number): void {
    this.#settle(id, databaseUnavailable(`a statement took longer than ${timeoutMs} ms`))
  }

  #onLost(): void {
    this.#isLost = true
    for (const id of [...this.#pending.keys()]) this.#settle(id, databaseUnavailable('the engine was closed'))
  }

  #settleWith(id: number, settled: Settled): void {
    // A pending request keeps the process alive; an idle engine must not
    if (this.#pending.size === 0) this.#link.ref()
    this.#pending.set(id, settled)
  }

  #settle(id: number, answer: Answer | AppError): void {
    const settled = this.#pending.get(id)
    this.#forget(id)
    settled?.(answer)
  }

  #forget(id: number): void {
    if (this.#pending.delete(id) && this.#pending.size === 0) this.#link.unref()
  }
}

/** Statements that may form a transaction. */
export class Session {
  readonly #client: EngineClient
  readonly #number: number
  #isInTransaction = false
  #generation: number
  /** A request timed out or the transaction was lost: the state is unknown until the session is released. */
  #isBroken = false

  constructor(client: EngineClient, number: number) {
    this.#client = client
    this.#number = number
    this.#generation = client.generation
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** @throws {StatementError | AppError} */
  async query(sql: string, params: readonly Param[]): Promise<Rows> {
    if (this.#isBroken) throw databaseUnavailable('an earlier statement of this connection did')
    // The engine that is running now does not know the transaction: the statement would be committed by itself
    if (this.#generation !== this.#client.generation && this.#isInTransaction)
      this.#giveUp(databaseUnavailable('the engine was started again'))
    this.#generation = this.#client.generation
    const answer = await this.#client
      .ask((id) => ({ op: 'query', id, session: this.#number, sql, params }))
      .catch((error) => this.#giveUp(error))
    if (answer.op !== 'rows' && answer.op !== 'refused') throw new Error(`unexpected answer ${answer.op}`)
    this.#isInTransaction = answer.isInTransaction
    if (answer.op === 'rows') return answer
    if (answer.code === TRANSACTION_LOST.code) this.#giveUp(databaseUnavailable(answer.message))
    throw errorOf(answer)
  }

  /** Rolls back an open transaction. The engine then holds nothing of this session. */
  release(): void {
    if (this.#isInTransaction || this.#isBroken) this.#client.send({ op: 'release', session: this.#number })
    this.#isInTransaction = false
  }

  #giveUp(error: unknown): never {
    this.#isBroken = true
    throw error
  }
}

function errorOf({ message, code, constraint, table, column }: Refusal): Error {
  if (code === undefined) return databaseUnavailable(message)
  return new StatementError(message, { code, constraint, table, column })
}

import { MINUTE_MS } from '../../clock.ts'
import type { Param } from '../row-types.ts'
import type { Refusal, Rows } from './messages.ts'

/** What {@link Sessions} needs of the database: one statement at a time. */
export interface StatementRunner {
  run(sql: string, params: readonly Param[]): Promise<Rows | Refusal>
}

export interface Statement {
  readonly sql: string
  readonly params: readonly Param[]
  readonly answer: (result: Rows | Refusal) => void
}

/** The statements of one client that may form a transaction, in order. */
export interface Session {
  readonly waiting: Statement[]
  isReleased: boolean
}

export function newSession(): Session {
  return { waiting: [], isReleased: false }
}

/** How long a transaction may be idle between two statements: all other sessions wait for it. */
const IDLE_TRANSACTION_MS = MINUTE_MS

/**
 * Shares the one connection among all sessions.
 *
 * Invariant: while a session has a transaction open it is the owner, and no statement of another session runs.
 * Without an owner the sessions take turns, a statement each, in the order of their requests. Background statements
 * run when no other statement waits. An owner that is idle for too long loses its transaction.
 */
export class Sessions {
  readonly #runner: StatementRunner
  /** Sessions with waiting statements, the next one first; never the owner. */
  readonly #ready: Session[] = []
  readonly #background: Statement[] = []
  #owner: Session | undefined
  /** The session whose statement is running. */
  #current: Session | undefined
  #isRunning = false
  #onRest: (() => void)[] = []
  readonly #idleTransactionMs: number
  #idleTimer: NodeJS.Timeout | undefined

  constructor(runner: StatementRunner, idleTransactionMs = IDLE_TRANSACTION_MS) {
    this.#runner = runner
    this.#idleTransactionMs = idleTransactionMs
  }

  submit(session: Session, statement: Statement): void {
    // Outside of its lost transaction the statement would be committed at once, which the client does not expect
    if (session.isReleased) {
      statement.answer(TRANSACTION_LOST)
      return
    }
    session.waiting.push(statement)
    // The current session is queued again, or becomes the owner, when its statement has ended
    const hasTurn = session === this.#owner || session === this.#current
    if (!hasTurn && session.waiting.length === 1) this.#ready.push(session)
    this.#wake()
  }

  /** Runs `sql` when no statement waits and no transaction is open. */
  runInBackground(sql: string): Promise<Rows | Refusal> {
    return new Promise((answer) => {
      this.#background.push({ sql, params: [], answer })
      this.#wake()
    })
  }

  /** Drops the waiting statements of the session and rolls back its transaction. */
  release(session: Session): void {
    session.isReleased = true
    session.waiting.length = 0
    this.#wake()
  }

  /** Resolves when no statement is running. */
  async rest(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#onRest.push(resolve))
  }

  #wake(): void {
    if (!this.#isRunning) void this.#runAll()
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true
    clearTimeout(this.#idleTimer)
    for (let turn = this.#takeTurn(); turn; turn = this.#takeTurn()) {
      await this.#run(turn.session, turn.statement)
      // Yields to the event loop, so that messages that arrived meanwhile are handled between two statements
      await new Promise(setImmediate)
    }
    this.#isRunning = false
    this.#watch(this.#owner)
    for (const resolve of this.#onRest.splice(0)) resolve()
  }

  #watch(owner: Session | undefined): void {
    if (!owner) return
    this.#idleTimer = setTimeout(() => this.release(owner), this.#idleTransactionMs)
    this.#idleTimer.unref()
  }

  async #run(session: Session, statement: Statement): Promise<void> {
    this.#current = session
    const result = await this.#runner.run(statement.sql, statement.params)
    this.#current = undefined
    this.#owner = result.isInTransaction ? session : undefined
    if (!result.isInTransaction && session.waiting.length > 0) this.#ready.push(session)
    statement.answer(result)
  }

  #takeTurn(): { session: Session; statement: Statement } | undefined {
    const owner = this.#owner
    if (owner) {
      const statement = owner.isReleased ? ROLLBACK : owner.waiting.shift()
      return statement && { session: owner, statement }
    }
    for (let session = this.#ready.shift(); session; session = this.#ready.shift()) {
      const statement = session.waiting.shift()
      if (statement) return { session, statement }
    }
    const statement = this.#background.shift()
    return statement && { session: newSession(), statement }
  }
}

/** The error that PostgreSQL gives for `idle_in_transaction_session_timeout`. */
export const TRANSACTION_LOST: Refusal = {
  message: 'the transaction was idle for too long and was rolled back',
  code: '25P03',
  constraint: undefined,
  table: undefined,
  column: undefined,
  isInTransaction: false,
}

const ROLLBACK: Statement = { sql: 'rollback', params: [], answer: () => {} }

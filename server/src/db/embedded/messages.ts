import type { MessagePort } from 'node:worker_threads'
import type { Param } from '../row-types.ts'

/**
 * The messages between clients and the engine's thread, the same over a MessagePort and a local socket.
 *
 * A session is a number that the client chooses; the engine creates it at its first query. While a session has a
 * transaction open, the statements of all others wait in a queue. A single statement needs one message in each
 * direction: no connection is acquired before it or released after it.
 */
export type Request =
  | {
      readonly op: 'query'
      readonly id: number
      readonly session: number
      readonly sql: string
      readonly params: readonly Param[]
    }
  /** Drops the waiting statements of the session and rolls back its transaction, if one is open. Has no answer. */
  | { readonly op: 'release'; readonly session: number }
  | { readonly op: 'listen'; readonly id: number; readonly channel: string }
  | { readonly op: 'maintain'; readonly id: number }
  /** Serves another thread over `port` too. Only over a port, and without an answer. */
  | { readonly op: 'lend'; readonly port: MessagePort }

export type Answer =
  | ({ readonly op: 'rows'; readonly id: number } & Rows)
  | ({ readonly op: 'refused'; readonly id: number } & Refusal)
  | { readonly op: 'done'; readonly id: number }
  | { readonly op: 'notification'; readonly channel: string; readonly payload: string }

/** A result as text: parsed by the caller, so that the engine's thread has time for statements. */
export interface Rows {
  readonly columns: readonly string[]
  /** The PostgreSQL type of each column. */
  readonly types: readonly number[]
  /** Arrays, not objects: 1,000 rows of 20 columns took 0.9 ms over a port, as objects 1.5, as one flat list 1.3. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** First word of the command tag: SELECT, INSERT, ROLLBACK… */
  readonly command: string
  readonly rowCount: number | undefined
  /** Whether a transaction is open after this statement. */
  readonly isInTransaction: boolean
}

/** A database error, without the query, the parameters and the values of rows that PGlite attaches. */
export interface Refusal {
  readonly message: string
  /** SQLSTATE, or undefined where the engine itself failed. */
  readonly code: string | undefined
  readonly constraint: string | undefined
  readonly table: string | undefined
  readonly column: string | undefined
  readonly isInTransaction: boolean
}

/** What the thread needs to start, as its worker data. */
export interface ThreadData {
  readonly databaseDir: string
  readonly syncToDisk: boolean
  readonly socketPath: string
}

/** What the thread reports to its parent: first `ready` or `failed`, and at the end `closed`. */
export type ThreadReport =
  | { readonly op: 'ready' }
  | { readonly op: 'failed'; readonly sentence: string }
  | { readonly op: 'closed' }

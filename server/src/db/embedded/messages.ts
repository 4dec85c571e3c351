import type { MessagePort } from 'node:worker_threads'
import type { Param } from '../row-types.ts'

/**
 * What callers and the engine's thread say to each other, over a MessagePort or a local socket alike.
 *
 * A session is a number that the caller chooses; the engine knows it from its first query on. Whoever has a
 * transaction open has the database to itself; everybody else's statements wait, first come, first served. So a
 * single statement is one message there and one back: there is nothing to ask for first and nothing to give back.
 */
export type Request =
  | {
      readonly op: 'query'
      readonly id: number
      readonly session: number
      readonly sql: string
      readonly params: readonly Param[]
    }
  /** Forgets what the session still waits for and rolls back its transaction, if one is open. Not answered. */
  | { readonly op: 'release'; readonly session: number }
  | { readonly op: 'listen'; readonly id: number; readonly channel: string }
  | { readonly op: 'maintain'; readonly id: number }
  /** Another way in, for another thread; only over a port. Not answered. */
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
  /** Is a transaction open after this statement? */
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

/** What the thread says to its parent: once, when it is ready or cannot become it; and when it has closed. */
export type ThreadReport =
  | { readonly op: 'ready' }
  | { readonly op: 'failed'; readonly sentence: string }
  | { readonly op: 'closed' }

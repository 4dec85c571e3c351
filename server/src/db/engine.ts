import type { MessagePort } from 'node:worker_threads'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'
import type { DatabaseRefusal } from './statement-error.ts'

export type Db = Kysely<Database>

/** What the rest of the server needs of a database. Both engines take the same SQL and answer the same row types. */
export interface Engine {
  readonly kind: 'embedded' | 'postgres'
  /** Whether the embedded engine runs in another process, which then also runs its maintenance. */
  readonly isJoined: boolean
  readonly db: Db
  /**
   * Connects to the database and checks that the server can work with it. Before that, statements try the same.
   * @throws {CommandError} when waiting cannot help: a wrong password, an unknown database, a server that is too old
   * @throws {AppError} `database_unavailable` or `database_read_only` when the database is away, and may come
   */
  open(): Promise<void>
  /** Calls `onNotice` with a sentence for the operator's log, of what was found so far and of what happens later. */
  onNotice(onNotice: (notice: string) => void): void
  /** Why the database refused to write in the last seconds; undefined where it did not. */
  refusedWrites(): DatabaseRefusal | undefined
  /**
   * Calls `onPayload` for every committed `NOTIFY channel, payload`, of this process and of others.
   * Reconnects by itself. After a reconnect `onPayload` is called with '', because notifications may have been missed.
   * A notification is only a hint, which saves the wait for the next poll: behind a connection
   * pooler and at a standby there are none.
   */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /**
   * Refreshes the planner's statistics and, on the embedded engine, does what PostgreSQL's background processes
   * would do: CHECKPOINT and VACUUM, table by table and only while no statement waits. Worth calling after an import.
   */
  maintain(): Promise<void>
  /** What another thread of this process needs to open the same database: see {@link Lent}. */
  lend(): Lent
  /** Connections at present: all of the pool, idle ones, and callers that wait for one. */
  pool(): { readonly total: number; readonly idle: number; readonly waiting: number }
  close(): Promise<void>
}

/** Which database to open, and how: see `openEngine`. */
export interface EngineSettings {
  /** PostgreSQL 14 or newer; without it the embedded engine on `<dataDir>/database`. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Embedded engine: flush to the disk at every commit. If false, a power cut can lose the last seconds. */
  readonly syncToDisk: boolean
  /** PostgreSQL: connections of this process, besides one for notifications. */
  readonly poolSize: number
  /** A statement that takes longer fails with `database_unavailable`; 0 is no limit, for tools. */
  readonly statementTimeoutMs: number
  /**
   * Embedded engine: `own` fails if another process uses the folder; `join` then connects to the engine of that
   * process. On PostgreSQL both are the same.
   */
  readonly mode: 'own' | 'join'
}

/** What another thread needs to use an engine: pass `source` as worker data with `transfer` as its transfer list. */
export interface Lent {
  readonly source: EngineSource
  readonly transfer: readonly MessagePort[]
}

/** Opened with `openLent(source)`, once. */
export type EngineSource =
  | { readonly kind: 'embedded'; readonly port: MessagePort; readonly statementTimeoutMs: number }
  /** The embedded engine of another process, by its local socket. */
  | { readonly kind: 'joined'; readonly socketPath: string; readonly statementTimeoutMs: number }
  | {
      readonly kind: 'postgres'
      readonly databaseUrl: string
      readonly poolSize: number
      readonly statementTimeoutMs: number
    }

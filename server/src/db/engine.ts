import type { MessagePort } from 'node:worker_threads'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

export type Db = Kysely<Database>

/** One of the two databases, behind what the rest of the server needs of it. Same SQL, same row types on both. */
export interface Engine {
  readonly kind: 'embedded' | 'postgres'
  /** Whether the embedded engine belongs to another process, which looks after it. */
  readonly isJoined: boolean
  readonly db: Db
  /**
   * Hears `NOTIFY channel, payload` of every committed transaction, whoever sent it.
   * Heals by itself; `onPayload` is also called (with '') after a lost connection came back.
   */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /**
   * Refreshes the planner's statistics and, on the embedded engine, does what PostgreSQL's background processes
   * would do: CHECKPOINT and VACUUM, table by table and only while nobody waits. Worth calling after an import.
   */
  maintain(): Promise<void>
  /** What another thread of this process needs to open the same database: see {@link Lent}. */
  lend(): Lent
  /** Connections now: all of the pool, those at rest, and callers that wait for one. */
  pool(): { readonly total: number; readonly idle: number; readonly waiting: number }
  close(): Promise<void>
}

/** Which database to open, and how: see `openEngine`. */
export interface EngineSettings {
  /** PostgreSQL 14 or newer; without it the embedded engine on `<dataDir>/database`. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Embedded engine: wait for the disk at every commit. Without, a power cut can lose the last seconds. */
  readonly syncToDisk: boolean
  /** PostgreSQL: connections of this process, besides one for notifications. */
  readonly poolSize: number
  /** A statement that takes longer fails with `database_unavailable`; 0 is no limit, for tools. */
  readonly statementTimeoutMs: number
  /**
   * Embedded engine: `own` needs the folder for itself; `join` uses the engine of the process that has it, if one
   * does. On PostgreSQL both are the same.
   */
  readonly mode: 'own' | 'join'
}

/** A way into an engine for another thread: pass `source` as worker data and `transfer` along with it. */
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

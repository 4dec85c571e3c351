import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Refusal, Rows } from './messages.ts'
import type { Sessions } from './sessions.ts'

/** How often the size of the write-ahead log is looked at. */
const LOOK_EVERY_MS = 30 * SECOND_MS
/** A log that grew by this much gets a CHECKPOINT: without any it grew to 273 MB. */
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024
/** How often tables are vacuumed, if anything was written meanwhile. */
const VACUUM_EVERY_MS = 10 * MINUTE_MS

const SELECT_LOG_POSITION = `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint`
const SELECT_TABLES = `
  select format('%I.%I', n.nspname, c.relname)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_toast', 'information_schema')
  order by c.relpages desc`

/**
 * Does the work of PostgreSQL's checkpointer and autovacuum, which the embedded engine does not have. Every statement
 * is short, for one table, and runs only while no other statement waits.
 */
export class Maintenance {
  readonly #sessions: Sessions
  #timer: NodeJS.Timeout | undefined
  #checkpointAtBytes = 0
  #vacuumAtBytes = 0
  #vacuumAtMs = performance.now()
  #isRunning = false

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  start(): void {
    this.#vacuumAtMs = performance.now()
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Does what is due by now. */
  async look(): Promise<void> {
    // The check before may still wait for the engine to be idle
    if (this.#isRunning) return
    this.#isRunning = true
    const bytes = await this.#logPosition()
    const isVacuumDue = performance.now() - this.#vacuumAtMs > VACUUM_EVERY_MS && bytes > this.#vacuumAtBytes
    if (isVacuumDue) await this.#vacuum()
    if (isVacuumDue || bytes - this.#checkpointAtBytes > CHECKPOINT_AFTER_BYTES) await this.#checkpoint()
    this.#isRunning = false
  }

  /** Does everything, due or not. */
  async runNow(): Promise<void> {
    await this.#vacuum()
    await this.#checkpoint()
  }

  async #vacuum(): Promise<void> {
    const tables = cellsOf(await this.#sessions.runInBackground(SELECT_TABLES))
    // Ignored: the table may have been dropped meanwhile
    for (const table of tables) await this.#sessions.runInBackground(`vacuum (analyze) ${table}`)
    this.#vacuumAtMs = performance.now()
    this.#vacuumAtBytes = await this.#logPosition()
  }

  async #checkpoint(): Promise<void> {
    await this.#sessions.runInBackground('checkpoint')
    this.#checkpointAtBytes = await this.#logPosition()
  }

  async #logPosition(): Promise<number> {
    return Number(cellsOf(await this.#sessions.runInBackground(SELECT_LOG_POSITION))[0] ?? 0)
  }
}

/** The values of a result with one column. */
function cellsOf(result: Rows | Refusal): readonly (string | null | undefined)[] {
  return 'rows' in result ? result.rows.map(([cell]) => cell) : []
}

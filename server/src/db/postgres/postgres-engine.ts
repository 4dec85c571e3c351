import { type Driver, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { CommandError } from '../../errors.ts'
import type { Db, Engine, Lent } from '../engine.ts'
import { openKysely } from '../guarded-dialect.ts'
import { ROW_TYPES } from '../row-types.ts'
import { PostgresListener } from './listener.ts'
import { preparedPool } from './prepared-pool.ts'

export interface PostgresSettings {
  readonly databaseUrl: string
  readonly poolSize: number
  /** 0 is no limit. */
  readonly statementTimeoutMs: number
}

/** 14 is the oldest version that the PostgreSQL project supported when this was written. */
const OLDEST_VERSION = 14
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS

/** @throws {CommandError} when the server cannot be reached or is too old. */
export async function openPostgres(settings: PostgresSettings): Promise<Engine> {
  const pool = openPool(settings)
  const engine = new PostgresEngine(pool, settings)
  try {
    await assertVersion(engine.db)
  } catch (error) {
    await engine.close()
    if (error instanceof CommandError) throw error
    throw new CommandError(`Cannot open the database at ${placeOf(settings.databaseUrl)}: ${reasonOf(error)}`)
  }
  return engine
}

class PostgresEngine implements Engine {
  readonly kind = 'postgres'
  readonly isJoined = false
  readonly db: Db
  readonly #pool: pg.Pool
  readonly #settings: PostgresSettings
  readonly #listener: PostgresListener

  constructor(pool: pg.Pool, settings: PostgresSettings) {
    this.#pool = pool
    this.#settings = settings
    this.db = openKysely(openDriver(pool))
    this.#listener = new PostgresListener({ connectionString: settings.databaseUrl, ...CLIENT_SETTINGS })
  }

  listen(channel: string, onPayload: (payload: string) => void): Promise<void> {
    return this.#listener.listen(channel, onPayload)
  }

  async maintain(): Promise<void> {
    // PostgreSQL's own processes vacuum and make checkpoints. ANALYZE gets a connection outside of the pool, because
    // it may take longer than the statement timeout of the pool.
    const client = new pg.Client({ connectionString: this.#settings.databaseUrl, ...CLIENT_SETTINGS })
    client.on('error', () => {})
    await client.connect()
    try {
      await client.query('analyze')
    } finally {
      await client.end()
    }
  }

  lend(): Lent {
    const { databaseUrl, poolSize, statementTimeoutMs } = this.#settings
    return { source: { kind: 'postgres', databaseUrl, poolSize, statementTimeoutMs }, transfer: [] }
  }

  pool(): ReturnType<Engine['pool']> {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { total: totalCount, idle: idleCount, waiting: waitingCount }
  }

  async close(): Promise<void> {
    await this.#listener.close()
    await this.db.destroy()
    if (!this.#pool.ended) await this.#pool.end()
  }
}

/** Options of every connection: our row types, and a limit on the wait for a host that does not answer. */
const CLIENT_SETTINGS = {
  types: ROW_TYPES,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  application_name: 'landpass',
  keepAlive: true,
} as const

function openPool({ databaseUrl, poolSize, statementTimeoutMs }: PostgresSettings): pg.Pool {
  const pool = new pg.Pool({
    ...CLIENT_SETTINGS,
    connectionString: databaseUrl,
    max: poolSize,
    idle_in_transaction_session_timeout: MINUTE_MS,
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
      // Also limits how long a caller waits for a free connection
      connectionTimeoutMillis: statementTimeoutMs,
      // The server enforces statement_timeout; query_timeout is for a server that stops answering
      query_timeout: statementTimeoutMs + SECOND_MS,
    }),
  })
  // The pool replaces an idle connection that breaks. Without an 'error' listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

function openDriver(pool: pg.Pool): Driver {
  return new PostgresDialect({ pool: preparedPool(pool) }).createDriver()
}

async function assertVersion(db: Db): Promise<void> {
  const { rows } = await sql<{ version: string }>`show server_version_num`.execute(db)
  const version = Number(Object.values(rows[0] ?? {})[0])
  if (version >= OLDEST_VERSION * 10_000) return
  throw new CommandError(`PostgreSQL ${OLDEST_VERSION} or newer is needed; this server is ${version}.`)
}

/** Host and database of a connection URL: what may be shown of it. */
function placeOf(databaseUrl: string): string {
  try {
    const { host, pathname } = new URL(databaseUrl)
    return `${host || 'the local socket'}${pathname}`
  } catch {
    return 'DATABASE_URL, which is not a URL'
  }
}

/** A failed connection to a name with several addresses has no text of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

import { type Driver, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { CommandError } from '../../errors.ts'
import type { Db, Engine, Lent } from '../engine.ts'
import { openKysely } from '../guarded-dialect.ts'
import { Notices } from '../notices.ts'
import { databaseUnavailable, hasLostCode, isDatabaseRefusal, toOwnError } from '../statement-error.ts'
import { WriteRefusals } from '../write-refusals.ts'
import { BoundedClient, CLIENT_SETTINGS } from './bounded-client.ts'
import { type ChosenHost, HostPool } from './host-pool.ts'
import { type Hosts, parseHosts, placeOf } from './hosts.ts'
import { PostgresListener } from './listener.ts'

export interface PostgresSettings {
  /** One host or several: see `parseHosts`. */
  readonly databaseUrl: string
  readonly poolSize: number
  /** 0 is no limit. */
  readonly statementTimeoutMs: number
}

/** @throws {CommandError} when the server cannot be reached or is too old. */
export async function openPostgres(settings: PostgresSettings): Promise<Engine> {
  const engine = createPostgres(settings)
  try {
    await engine.open()
    return engine
  } catch (error) {
    await engine.close()
    throw isDatabaseRefusal(error) ? cannotOpen(parseHosts(settings.databaseUrl), String(error.cause)) : error
  }
}

/** An engine that is not connected yet: see `Engine.open`. @throws {CommandError} for text that is not a URL */
export function createPostgres(settings: PostgresSettings): Engine {
  return new PostgresEngine(settings, parseHosts(settings.databaseUrl))
}

class PostgresEngine implements Engine {
  readonly kind = 'postgres'
  readonly isJoined = false
  readonly db: Db
  readonly #settings: PostgresSettings
  readonly #hosts: Hosts
  readonly #pool: HostPool
  readonly #refusals = new WriteRefusals()
  readonly #notices = new Notices()
  readonly #listener: PostgresListener
  #closing: Promise<void> | undefined

  constructor(settings: PostgresSettings, hosts: Hosts) {
    this.#settings = settings
    this.#hosts = hosts
    const onChosen = (host: ChosenHost, isFirst: boolean) => this.#noteHost(host, isFirst)
    this.#pool = new HostPool({ ...settings, hosts, onChosen })
    this.db = openKysely(openDriver(this.#pool), this.#refusals)
    this.#listener = new PostgresListener(() => this.#clientConfig())
  }

  async open(): Promise<void> {
    try {
      await this.#pool.host()
    } catch (error) {
      throw this.#connectionError(error)
    }
  }

  onNotice(onNotice: (notice: string) => void): void {
    this.#notices.listen(onNotice)
  }

  refusedWrites(): ReturnType<Engine['refusedWrites']> {
    return this.#refusals.recent()
  }

  async listen(channel: string, onPayload: (payload: string) => void): Promise<void> {
    try {
      const { isPooler, isReadOnly } = await this.#pool.host()
      // A standby refuses LISTEN
      if (!isPooler && !isReadOnly) await this.#listener.listen(channel, onPayload)
    } catch (error) {
      throw this.#connectionError(error)
    }
  }

  async maintain(): Promise<void> {
    // PostgreSQL's own processes vacuum and make checkpoints. ANALYZE gets a connection outside of the pool, because
    // it may take longer than the statement timeout of the pool.
    const client = new BoundedClient(await this.#clientConfig())
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
    return this.#pool.counts()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#listener.close()
    await this.db.destroy()
    await this.#pool.end()
  }

  #connectionError(error: unknown): unknown {
    if (error instanceof CommandError) return error
    if (!canMendItself(error)) return cannotOpen(this.#hosts, reasonOf(error))
    const own = toOwnError(error)
    return isDatabaseRefusal(own) ? own : databaseUnavailable(reasonOf(error))
  }

  async #clientConfig(): Promise<pg.ClientConfig> {
    const { url } = await this.#pool.host()
    return { ...CLIENT_SETTINGS, connectionString: url }
  }

  #noteHost({ url, isPooler, keepsPrepared, statementTimeoutMs }: ChosenHost, isFirst: boolean): void {
    if (this.#hosts.urls.length > 1) this.#notices.add(`The database at ${placeOf(url)} is used now.`)
    if (!isPooler || !isFirst) return
    this.#notices.add(
      'DATABASE_URL leads to a connection pooler: there are no notifications, changes of other processes are found by polling.',
    )
    if (!keepsPrepared)
      this.#notices.add(
        'The connection pooler does not support prepared statements, so claims and histories cost PostgreSQL more. ' +
          'PgBouncer does from version 1.21, with max_prepared_statements: docs/operate/database.md.',
      )
    if (statementTimeoutMs > 0) return
    this.#notices.add(
      'Single statements have no time limit in the database, because a pooler shares its connections. ' +
        'Set statement_timeout for the role: docs/operate/database.md.',
    )
  }
}

function openDriver(pool: HostPool): Driver {
  return new PostgresDialect({ pool }).createDriver()
}

/** SQLSTATEs of a login that stays refused: class 28, and the database does not exist. */
const LASTING_STATE = /^(28...|3D000)$/
/** PgBouncer has one SQLSTATE for everything, and `pg` has none for what it refuses itself. */
const LASTING_SENTENCE =
  /unsupported startup parameter|authentication failed|no such (user|database)|transaction blocks not allowed|SASL|SSL|password must be a string/i

/** Whether a failure to connect can pass by itself: the host is away or still starting. */
function canMendItself(error: unknown): boolean {
  // Node's own texts contain the name of the host, which may contain anything
  if (hasLostCode(error)) return true
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (LASTING_STATE.test(String(code))) return false
  return !LASTING_SENTENCE.test(String(message))
}

function cannotOpen({ urls }: Hosts, why: string): CommandError {
  return new CommandError(`Cannot open the database at ${urls.map(placeOf).join(', ')}: ${why}`)
}

/** A failed connection to a name with several addresses has no text of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

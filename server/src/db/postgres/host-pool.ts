import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { CommandError } from '../../errors.ts'
import {
  databaseReadOnly,
  databaseUnavailable,
  isConnectionLost,
  isDatabaseRefusal,
  isTimeout,
} from '../statement-error.ts'
import { BoundedClient, CLIENT_SETTINGS } from './bounded-client.ts'
import type { Hosts } from './hosts.ts'
import { type HostFacts, inspectHost } from './inspect-host.ts'
import { nameOf } from './prepared-statement.ts'

export interface HostPoolSettings {
  readonly hosts: Hosts
  readonly poolSize: number
  /** 0 is no limit. */
  readonly statementTimeoutMs: number
  /** Called when a host is chosen: the first one, and after a failover. */
  readonly onChosen: (host: ChosenHost, isFirst: boolean) => void
}

/** How long an open transaction may be idle. */
const IDLE_TRANSACTION_MS = MINUTE_MS
/** A host that does not answer in this time is not chosen. */
const INSPECT_WITHIN_MS = 5 * SECOND_MS

/** The host that is used, until it is lost. */
export interface ChosenHost extends HostFacts {
  readonly url: string
}

/**
 * Connections to the database, as Kysely takes them.
 *
 *   (no host) ──inspected, accepted──▶ chosen, with a pool ──several hosts: lost, or read-only──▶ (no host)
 *
 * - Of several hosts the first that answers and accepts changes is chosen. All are asked at the same time, because one
 *   that was lost answers nothing.
 * - A connection that is lost, or whose statement had no answer in time, is destroyed and never used again.
 * - After such a time-out all idle connections are destroyed too. They were probably lost together, and each would cost
 *   a request its whole time limit.
 * - Behind a pooler nothing is set for a connection: each transaction sets its own limits.
 */
export class HostPool implements PostgresPool {
  readonly #settings: HostPoolSettings
  readonly #clients = new WeakMap<pg.PoolClient, GuardedClient>()
  #choosing: Promise<Chosen> | undefined
  #chosen: Chosen | undefined
  #isFirst = true
  #isEnded = false

  constructor(settings: HostPoolSettings) {
    this.#settings = settings
  }

  /** The host in use; chosen by this call where there is none. @throws {CommandError | Error} why none can be used */
  async host(): Promise<ChosenHost> {
    return (await this.#choose()).host
  }

  async connect(): Promise<PostgresPoolClient> {
    const { chosen, client } = await this.#takeConnection()
    const known = this.#clients.get(client)
    if (known) return known
    const guarded = new GuardedClient(client, {
      setLimits: chosen.host.isPooler ? this.#limitsOfTransaction() : undefined,
      keepsPrepared: chosen.host.keepsPrepared,
      onLost: (error) => this.#onLost(chosen, error),
    })
    this.#clients.set(client, guarded)
    return guarded
  }

  counts(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.#chosen?.pool ?? {}
    return { total: totalCount, idle: idleCount, waiting: waitingCount }
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#choosing?.catch(() => undefined)
    const chosen = this.#chosen
    this.#chosen = undefined
    await chosen?.leave()
  }

  /** A connection of another host where the chosen one is left meanwhile: nothing was sent to it yet. */
  async #takeConnection(isSecondTry = false): Promise<{ chosen: Chosen; client: pg.PoolClient }> {
    const chosen = await this.#chooseForStatement()
    try {
      return { chosen, client: await chosen.connect() }
    } catch (error) {
      if (!(error instanceof HostLeftError)) return this.#noteFailure(chosen, error)
      if (isSecondTry) throw databaseUnavailable('two hosts were lost, one after the other')
      return this.#takeConnection(true)
    }
  }

  async #chooseForStatement(): Promise<Chosen> {
    try {
      return await this.#choose()
    } catch (error) {
      // What stops a server at its start is one failed request later
      throw error instanceof CommandError ? databaseUnavailable(error.message) : error
    }
  }

  async #choose(): Promise<Chosen> {
    if (this.#isEnded) throw databaseUnavailable('the pool is closed')
    if (this.#chosen) return this.#chosen
    this.#choosing ??= this.#inspectAll().finally(() => {
      this.#choosing = undefined
    })
    return this.#choosing
  }

  async #inspectAll(): Promise<Chosen> {
    const { urls } = this.#settings.hosts
    const host = await Promise.any(urls.map((url) => this.#inspect(url))).catch(
      (failures: AggregateError) => {
        throw mostTelling(failures.errors)
      },
    )
    this.#chosen = new Chosen(host, this.#openPool(host))
    this.#settings.onChosen(host, this.#isFirst)
    this.#isFirst = false
    return this.#chosen
  }

  async #inspect(url: string): Promise<ChosenHost> {
    const client = new BoundedClient({
      ...CLIENT_SETTINGS,
      connectionTimeoutMillis: INSPECT_WITHIN_MS,
      query_timeout: INSPECT_WITHIN_MS,
      connectionString: url,
    })
    try {
      await client.connect()
      const facts = await inspectHost(client)
      if (this.#settings.hosts.needsWrites && facts.isReadOnly) throw databaseReadOnly('no host is a primary')
      return { url, ...facts }
    } finally {
      // Not awaited: the end of a lost connection takes a second
      void client.end().catch(() => undefined)
    }
  }

  #openPool(host: ChosenHost): pg.Pool {
    const { poolSize, statementTimeoutMs } = this.#settings
    // The types of `pg` do not know `Client`
    const settings: pg.PoolConfig & { readonly Client: typeof BoundedClient } = {
      ...CLIENT_SETTINGS,
      Client: BoundedClient,
      connectionString: host.url,
      max: poolSize,
      ...(!host.isPooler && {
        onConnect: ((client) => this.#setLimits(client)) as pg.PoolConfig['onConnect'],
      }),
      ...(statementTimeoutMs > 0 && {
        // Also limits how long a caller waits for a free connection
        connectionTimeoutMillis: statementTimeoutMs,
        // PostgreSQL enforces statement_timeout; query_timeout is for a host that stops answering
        query_timeout: statementTimeoutMs + Math.min(SECOND_MS, statementTimeoutMs),
      }),
    }
    return new pg.Pool(settings)
  }

  /** Once for each connection. @throws when a host of several no longer accepts changes */
  async #setLimits(client: pg.ClientBase): Promise<void> {
    const { hosts, statementTimeoutMs } = this.#settings
    const { rows } = await client.query<{ read_only: string }>(
      `select set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $2, false),
        current_setting('transaction_read_only') as read_only`,
      [String(statementTimeoutMs), String(IDLE_TRANSACTION_MS)],
    )
    if (hosts.needsWrites && rows[0]?.read_only === 'on') throw databaseReadOnly('the host is no primary now')
  }

  #limitsOfTransaction(): string {
    const { statementTimeoutMs } = this.#settings
    return (
      `set local statement_timeout = ${statementTimeoutMs}; ` +
      `set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`
    )
  }

  /** That all connections are busy says nothing about the host. */
  #noteFailure(chosen: Chosen, error: unknown): never {
    if (isConnectionLost(error) || isDatabaseRefusal(error)) this.#onLost(chosen, error)
    throw error
  }

  #onLost(chosen: Chosen, error: unknown): void {
    if (isTimeout(error)) chosen.abandonIdle()
    if (this.#settings.hosts.needsWrites && this.#chosen === chosen) this.#leave(chosen)
  }

  /** The next statement chooses again. Running ones go on; their connections are closed when they have ended. */
  #leave(chosen: Chosen): void {
    this.#chosen = undefined
    chosen.abandonIdle()
    chosen.leave().catch(() => undefined)
  }
}

class Chosen {
  readonly host: ChosenHost
  readonly pool: pg.Pool
  readonly #idle = new Set<pg.PoolClient>()
  /** Ends the waits for a connection; undefined when the host was left. */
  #waits: Set<() => void> | undefined = new Set()

  constructor(host: ChosenHost, pool: pg.Pool) {
    this.host = host
    this.pool = pool
    // The pool replaces an idle connection that breaks. Without an 'error' listener it would end the process.
    pool.on('error', () => {})
    pool.on('release', (_error, client) => this.#idle.add(client))
    pool.on('acquire', (client) => this.#idle.delete(client))
    pool.on('remove', (client) => this.#idle.delete(client))
  }

  /** @throws {HostLeftError} when the host is left before there is a connection */
  connect(): Promise<pg.PoolClient> {
    const waits = this.#waits
    if (!waits) return Promise.reject(new HostLeftError())
    return new Promise((resolve, reject) => {
      const leave = () => reject(new HostLeftError())
      waits.add(leave)
      this.pool
        .connect()
        .then((client) => {
          // With an argument, the pool removes the connection
          if (!waits.delete(leave)) client.release(true)
          else resolve(client)
        }, reject)
        .finally(() => waits.delete(leave))
    })
  }

  /** Connections in use are closed when they are released. The pool would never answer requests that wait for one. */
  leave(): Promise<void> {
    const waits = [...(this.#waits ?? [])]
    this.#waits?.clear()
    this.#waits = undefined
    for (const leave of waits) leave()
    return this.pool.end()
  }

  abandonIdle(): void {
    for (const client of [...this.#idle]) {
      // The pool listens to the errors of its idle connections, and removes such a connection at once
      client.emit('error', new Error('Connection terminated: others were lost'))
      client.connection.stream.destroy()
    }
  }
}

/** The host was left while a request waited for a connection to it. */
class HostLeftError extends Error {}

interface GuardedClientOptions {
  /** Statements that set the limits of a transaction, where they are not set for the whole connection. */
  readonly setLimits: string | undefined
  /** Whether statements may be prepared. */
  readonly keepsPrepared: boolean
  readonly onLost: (error: unknown) => void
}

/** A connection of the pool that is destroyed instead of released when it is lost. */
class GuardedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #options: GuardedClientOptions
  #isLost = false

  constructor(client: pg.PoolClient, options: GuardedClientOptions) {
    this.#client = client
    this.#options = options
  }

  readonly query = (async (text: string, values: readonly unknown[]): Promise<unknown> => {
    // A ROLLBACK after a time-out would wait for another one
    if (this.#isLost) throw databaseUnavailable('the connection was lost')
    try {
      const name = this.#options.keepsPrepared ? nameOf(text) : undefined
      if (name !== undefined) return await this.#client.query({ name, text, values: [...values] })
      return await this.#client.query(this.#withLimits(text), [...values])
    } catch (error) {
      if (isConnectionLost(error) || /^rollback$/i.test(text)) this.#abandon(error)
      else if (isReadOnly(error)) this.#options.onLost(error)
      throw error
    }
  }) as PostgresPoolClient['query']

  release(): void {
    // With an argument, the pool removes the connection
    this.#client.release(this.#isLost)
  }

  #withLimits(text: string): string {
    const { setLimits } = this.#options
    return setLimits !== undefined && /^(begin|start transaction)\b/i.test(text)
      ? `${text}; ${setLimits}`
      : text
  }

  #abandon(error: unknown): void {
    this.#isLost = true
    this.#client.connection.stream.destroy()
    this.#options.onLost(error)
  }
}

function isReadOnly(error: unknown): boolean {
  return (error as { code?: unknown }).code === '25006'
}

/** The failure that says most, of several hosts: one that waiting cannot mend, then one of a host that answered. */
function mostTelling(failures: readonly unknown[]): unknown {
  return (
    failures.find((failure) => failure instanceof CommandError) ??
    failures.find((failure) => !isConnectionLost(failure)) ??
    failures[0]
  )
}

import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import { AppError } from '../errors.ts'
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../json-depth.ts'
import { withRetries } from './retries.ts'
import { type Param, toParam } from './row-types.ts'
import { isDatabaseRefusal, toOwnError } from './statement-error.ts'
import { isInTransactionOf, markTransaction } from './transaction.ts'
import type { WriteRefusals } from './write-refusals.ts'

/**
 * Wraps the driver of either engine, so that both refuse the same mistakes with the same errors:
 * - a statement on the outer handle inside a transaction, which dead-locks where there is one connection;
 * - JSON that is nested too deeply (see json-depth.ts of the server);
 * - COMMIT after a failed statement whose error was swallowed, which PostgreSQL turns into a ROLLBACK and reports
 *   as a success;
 * - errors that carry the query or its parameters.
 *
 * A single statement outside of a transaction is done again after a deadlock or a serialization failure.
 */
export class GuardedDriver implements Driver {
  readonly #inner: Driver
  readonly #refusals: WriteRefusals
  readonly #connections = new WeakMap<DatabaseConnection, GuardedConnection>()

  constructor(inner: Driver, refusals: WriteRefusals) {
    this.#inner = inner
    this.#refusals = refusals
  }

  init(): Promise<void> {
    return this.#inner.init()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (isInTransactionOf(this)) {
      throw new Error(
        'The outer database handle was used inside a transaction: use the transaction (tx) there.',
      )
    }
    const inner = await this.#inner.acquireConnection().catch(throwOwnError)
    const known = this.#connections.get(inner)
    if (known) return known
    const connection = new GuardedConnection(inner, this.#refusals)
    this.#connections.set(inner, connection)
    return connection
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const guarded = own(connection)
    await this.#inner.beginTransaction(guarded.inner, settings).catch(throwOwnError)
    guarded.hasFailed = false
    guarded.isInTransaction = true
    markTransaction(this, true)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const guarded = own(connection)
    if (guarded.hasFailed) {
      throw new Error('A statement failed and its error was swallowed: this transaction cannot be committed.')
    }
    await this.#inner.commitTransaction(guarded.inner).catch((error) => guarded.throwNoted(error))
    guarded.isInTransaction = false
    markTransaction(this, false)
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    markTransaction(this, false)
    const guarded = own(connection)
    guarded.hasFailed = false
    guarded.isInTransaction = false
    // The error that led here says more. A connection that cannot even do this is closed by its release.
    await this.#inner.rollbackTransaction(guarded.inner).catch(() => undefined)
  }

  async savepoint(...args: Parameters<NonNullable<Driver['savepoint']>>): Promise<void> {
    const [connection, name, compile] = args
    await this.#inner.savepoint?.(own(connection).inner, name, compile)
  }

  async rollbackToSavepoint(...args: Parameters<NonNullable<Driver['rollbackToSavepoint']>>): Promise<void> {
    const [connection, name, compile] = args
    const guarded = own(connection)
    await this.#inner.rollbackToSavepoint?.(guarded.inner, name, compile)
    guarded.hasFailed = false
  }

  async releaseSavepoint(...args: Parameters<NonNullable<Driver['releaseSavepoint']>>): Promise<void> {
    const [connection, name, compile] = args
    await this.#inner.releaseSavepoint?.(own(connection).inner, name, compile)
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#inner.releaseConnection(own(connection).inner)
  }

  destroy(): Promise<void> {
    return this.#inner.destroy()
  }
}

class GuardedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection
  readonly #refusals: WriteRefusals
  isInTransaction = false
  /** Whether a statement failed since the transaction began. PostgreSQL then accepts only ROLLBACK. */
  hasFailed = false

  constructor(inner: DatabaseConnection, refusals: WriteRefusals) {
    this.inner = inner
    this.#refusals = refusals
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const checked = { ...query, parameters: query.parameters.map(toCheckedParam) }
    const execute = () => this.inner.executeQuery<Row>(checked).catch((error) => this.throwNoted(error))
    try {
      return await (this.isInTransaction ? execute() : withRetries(execute))
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  throwNoted(error: unknown): never {
    const own = toOwnError(error)
    if (isDatabaseRefusal(own)) this.#refusals.note(own.code)
    throw own
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming is not supported: read in pages.')
  }
}

/** @throws {AppError} `invalid_body` for JSON nested deeper than {@link MAX_JSON_DEPTH}. */
function toCheckedParam(value: unknown): Param {
  const param = toParam(value)
  if (typeof param === 'string' && isNestedDeeperThan(param, MAX_JSON_DEPTH)) {
    throw new AppError('invalid_body', `JSON must not be nested deeper than ${MAX_JSON_DEPTH} levels.`)
  }
  return param
}

function own(connection: DatabaseConnection): GuardedConnection {
  return connection as GuardedConnection
}

function throwOwnError(error: unknown): never {
  throw toOwnError(error)
}

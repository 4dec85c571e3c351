import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { type Param, type ParseText, parserOf } from '../row-types.ts'
import type { EngineClient, Session } from './engine-client.ts'
import type { Rows } from './messages.ts'

const BEGIN = CompiledQuery.raw('begin')
const COMMIT = CompiledQuery.raw('commit')
const ROLLBACK = CompiledQuery.raw('rollback')

/** Commands whose row count is the number of changed rows, the same as in Kysely's driver for PostgreSQL. */
const CHANGING_COMMANDS = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Kysely's driver for the engine's thread. A connection is a session: getting one needs no message. */
export class EmbeddedDriver implements Driver {
  readonly #client: EngineClient

  constructor(client: EngineClient) {
    this.#client = client
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new EmbeddedConnection(this.#client.newSession())
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await connection.executeQuery(beginOf(settings))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(COMMIT)
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A broken session is rolled back by its release; another statement would only double the wait
    if (!own(connection).session.isBroken) await connection.executeQuery(ROLLBACK)
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await runSavepoint('savepoint', connection, name)
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await runSavepoint('rollback to', connection, name)
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await runSavepoint('release', connection, name)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    own(connection).session.release()
  }

  async destroy(): Promise<void> {}
}

class EmbeddedConnection implements DatabaseConnection {
  readonly session: Session

  constructor(session: Session) {
    this.session = session
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // The guarded driver has turned all parameters into text
    const result = await this.session.query(query.sql, query.parameters as readonly Param[])
    const rows = toObjects(result) as Row[]
    if (!CHANGING_COMMANDS.has(result.command)) return { rows }
    return { rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming is not supported: read in pages.')
  }
}

function toObjects({ columns, types, rows }: Rows): Record<string, unknown>[] {
  const parsers = types.map((type): ParseText => parserOf(type))
  return rows.map((cells) => {
    const row: Record<string, unknown> = {}
    for (let column = 0; column < columns.length; column++) {
      const text = cells[column] ?? null
      row[columns[column]!] = text === null ? null : parsers[column]!(text)
    }
    return row
  })
}

function beginOf({ isolationLevel, accessMode }: TransactionSettings): CompiledQuery {
  if (!isolationLevel && !accessMode) return BEGIN
  const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
  return CompiledQuery.raw(`start transaction${level}${accessMode ? ` ${accessMode}` : ''}`)
}

async function runSavepoint(command: string, connection: DatabaseConnection, name: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(`${command} "${name.replaceAll('"', '""')}"`))
}

function own(connection: DatabaseConnection): EmbeddedConnection {
  return connection as EmbeddedConnection
}

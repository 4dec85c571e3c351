import { CommandError } from '../../errors.ts'
import type { BoundedClient } from './bounded-client.ts'

/** What the server has to know of a host before it uses it. */
export interface HostFacts {
  /**
   * Whether a pooler such as PgBouncer is between the server and PostgreSQL. It may give every transaction another
   * connection to PostgreSQL, so nothing that belongs to a connection can be used: SET, LISTEN, session locks.
   */
  readonly isPooler: boolean
  /** Whether a prepared statement can be used again: not behind a pooler that passes its name on unchanged. */
  readonly keepsPrepared: boolean
  /** Whether the host accepts no changes now: a standby, or a database with `default_transaction_read_only`. */
  readonly isReadOnly: boolean
  /** The limit that PostgreSQL itself sets for a statement without one of ours; 0 is none. */
  readonly statementTimeoutMs: number
}

/** 14 is the oldest version that the PostgreSQL project supported when this was written. */
const OLDEST_VERSION = 14
const PROBE = 'landpass_probe'
/** SQLSTATE duplicate_prepared_statement. */
const ALREADY_PREPARED = '42P05'

/**
 * Looks at a host over a connection of its own.
 * @throws {CommandError} when it is a PostgreSQL with which the server cannot work
 */
export async function inspectHost(client: BoundedClient): Promise<HostFacts> {
  const { rows } = await client.query<Row>(SELECT_FACTS)
  const { version, pid, read_only, statement_timeout_ms } = rows[0]!
  assertVersion(Number(version))
  // A pooler announces a process number of its own: it has many connections to PostgreSQL. The library does not type it
  const isPooler = pid !== (client as unknown as { processID: number }).processID
  const keepsPrepared = !isPooler || (await renamesPrepared(client))
  return {
    isPooler,
    keepsPrepared,
    isReadOnly: read_only === 'on',
    statementTimeoutMs: Number(statement_timeout_ms),
  }
}

interface Row {
  readonly version: string
  readonly pid: number
  readonly read_only: string
  readonly statement_timeout_ms: string
}

const SELECT_FACTS = `
  select current_setting('server_version_num') as version, pg_backend_pid() as pid,
    current_setting('transaction_read_only') as read_only,
    (select setting from pg_settings where name = 'statement_timeout') as statement_timeout_ms`

function assertVersion(version: number): void {
  if (version >= OLDEST_VERSION * 10_000) return
  throw new CommandError(`PostgreSQL ${OLDEST_VERSION} or newer is needed; this server is ${version}.`)
}

/**
 * A pooler that shares connections between clients has to rename prepared statements and to prepare them on each
 * connection again. One that passes names on unchanged loses them when the client gets another connection.
 */
async function renamesPrepared(client: BoundedClient): Promise<boolean> {
  await client.query('begin')
  try {
    await client.query({ name: PROBE, text: 'select $1::integer as one', values: [1] })
    const { rows } = await client.query('select name from pg_prepared_statements where name = $1', [PROBE])
    if (rows.length === 0) return true
    await client.query(`deallocate ${PROBE}`)
    return false
  } catch (error) {
    // Another process prepares the same name on the same connection
    if ((error as { code?: unknown }).code === ALREADY_PREPARED) return false
    throw error
  } finally {
    await client.query('rollback').catch(() => client.abandon())
  }
}

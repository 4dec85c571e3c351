import pg from 'pg'
import { SECOND_MS } from '../../clock.ts'
import { ROW_TYPES } from '../row-types.ts'

/** How long the orderly end of a connection may take; then its socket is destroyed. */
const END_WITHIN_MS = SECOND_MS
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS

/**
 * Options of every connection: our row types, and a limit on the wait for a host that does not answer. None of them is
 * a parameter of PostgreSQL's start message except the name: a pooler such as PgBouncer refuses those it does not know.
 */
export const CLIENT_SETTINGS = {
  types: ROW_TYPES,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  application_name: 'landpass',
  keepAlive: true,
  keepAliveInitialDelayMillis: 10 * SECOND_MS,
} as const

/**
 * A connection whose end takes bounded time. The end of `pg` waits until the other side has answered it, which a host
 * that was lost never does.
 */
export class BoundedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // Without a listener an error of a lost connection would end the process. Running statements get it anyway.
    this.on('error', () => {})
  }

  /** Ends the connection at once, and fails its running statements. A pool then removes it. */
  abandon(): void {
    this.connection.stream.destroy()
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const timer = setTimeout(() => this.abandon(), END_WITHIN_MS)
    this.once('end', () => clearTimeout(timer))
    if (callback) {
      super.end(callback)
      return undefined
    }
    return super.end().finally(() => clearTimeout(timer))
  }
}

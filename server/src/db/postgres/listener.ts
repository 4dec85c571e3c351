import pg from 'pg'
import { SECOND_MS } from '../../clock.ts'
import { BoundedClient } from './bounded-client.ts'

type OnPayload = (payload: string) => void

const FIRST_RETRY_MS = SECOND_MS / 4
const LAST_RETRY_MS = 10 * SECOND_MS

/** How often a listener makes sure that its connection is alive, and how long an answer may take. */
const PING_EVERY_MS = 5 * SECOND_MS
const ANSWER_WITHIN_MS = 5 * SECOND_MS

/**
 * Notifications need a connection of their own: a pool closes and shares its connections.
 *
 *   (none) ──listen──▶ connected ──lost, or a ping without answer──▶ waiting ──back-off──▶ connected, callbacks get ''
 *
 * Notifications that were sent while the connection was lost are missed. The payload '' announces that, so that the
 * callback reads the database again. A connection that carries nothing for hours would not notice that the other side
 * is gone, so a ping is sent every few seconds.
 */
export class PostgresListener {
  readonly #config: () => Promise<pg.ClientConfig>
  readonly #callbacks = new Map<string, Set<OnPayload>>()
  #connecting: Promise<BoundedClient> | undefined
  #retry: NodeJS.Timeout | undefined
  #retryMs = FIRST_RETRY_MS
  #hasListened = false
  #isClosed = false

  /** @param config of the host in use: another one after a failover */
  constructor(config: () => Promise<pg.ClientConfig>) {
    this.#config = config
  }

  async listen(channel: string, onPayload: OnPayload): Promise<void> {
    const callbacks = this.#callbacks.get(channel) ?? new Set()
    this.#callbacks.set(channel, callbacks.add(onPayload))
    if (!this.#connecting) {
      await this.#connect()
      return
    }
    const client = await this.#connecting
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    const client = await this.#connecting?.catch(() => undefined)
    await client?.end()
  }

  /** Connects at once, also while a retry is waiting: there is one connection at a time. */
  #connect(): Promise<BoundedClient> {
    clearTimeout(this.#retry)
    this.#retry = undefined
    const connecting = this.#open(() => {
      // The end of an earlier connection says nothing about this one
      if (this.#connecting !== connecting) return
      this.#connecting = undefined
      this.#retryLater()
    })
    this.#connecting = connecting
    return connecting
  }

  /** A connection that listens to all channels. @param onLost called when it cannot be used any more */
  async #open(onLost: () => void): Promise<BoundedClient> {
    const isAgain = this.#hasListened
    let client: BoundedClient | undefined
    try {
      client = new BoundedClient({ ...(await this.#config()), query_timeout: ANSWER_WITHIN_MS })
      client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''))
      await client.connect()
      this.#watch(client, onLost)
      for (const channel of this.#callbacks.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      client?.abandon()
      onLost()
      throw error
    }
    this.#hasListened = true
    this.#retryMs = FIRST_RETRY_MS
    if (isAgain) for (const channel of this.#callbacks.keys()) this.#deliver(channel, '')
    return client
  }

  #watch(client: BoundedClient, onLost: () => void): void {
    let next: NodeJS.Timeout | undefined
    const pingLater = () => {
      next = setTimeout(() => client.query('select 1').then(pingLater, () => client.abandon()), PING_EVERY_MS)
      next.unref()
    }
    pingLater()
    client.once('end', () => {
      clearTimeout(next)
      onLost()
    })
  }

  #deliver(channel: string, payload: string): void {
    for (const onPayload of this.#callbacks.get(channel) ?? []) onPayload(payload)
  }

  /** Not before the first success: until then the caller of `listen` gets the error, and decides. */
  #retryLater(): void {
    if (this.#isClosed || !this.#hasListened || this.#retry) return
    this.#retry = setTimeout(() => this.#connect().catch(() => undefined), this.#retryMs)
    this.#retry.unref()
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS)
  }
}

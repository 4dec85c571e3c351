import pg from 'pg'
import { SECOND_MS } from '../../clock.ts'

type OnPayload = (payload: string) => void

const FIRST_RETRY_MS = SECOND_MS / 4
const LAST_RETRY_MS = 30 * SECOND_MS

/**
 * Notifications need a connection of their own: a pool closes and shares its connections.
 *
 *   (none) ──listen──▶ connected ──lost──▶ waiting ──back-off──▶ connected, every callback gets ''
 *
 * Notifications that were sent while the connection was lost are missed. The payload '' announces that, so that the
 * callback reads the database again.
 */
export class PostgresListener {
  readonly #config: pg.ClientConfig
  readonly #callbacks = new Map<string, Set<OnPayload>>()
  #connecting: Promise<pg.Client> | undefined
  #retry: NodeJS.Timeout | undefined
  #retryMs = FIRST_RETRY_MS
  #isClosed = false

  constructor(config: pg.ClientConfig) {
    this.#config = config
  }

  async listen(channel: string, onPayload: OnPayload): Promise<void> {
    const callbacks = this.#callbacks.get(channel) ?? new Set()
    this.#callbacks.set(channel, callbacks.add(onPayload))
    this.#connecting ??= this.#connect()
    const client = await this.#connecting
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    const client = await this.#connecting?.catch(() => undefined)
    await client?.end()
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config)
    client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''))
    client.on('error', () => this.#onLost(client))
    client.on('end', () => this.#onLost(client))
    try {
      await client.connect()
    } catch (error) {
      this.#connecting = undefined
      throw error
    }
    return client
  }

  #deliver(channel: string, payload: string): void {
    for (const onPayload of this.#callbacks.get(channel) ?? []) onPayload(payload)
  }

  /** Called for 'error' and for 'end' of the same client: the second call does nothing. */
  #onLost(client: pg.Client): void {
    client.removeAllListeners('end')
    this.#connecting = undefined
    this.#retryLater()
  }

  async #reconnect(): Promise<void> {
    this.#retry = undefined
    try {
      this.#connecting = this.#connect()
      const client = await this.#connecting
      for (const channel of this.#callbacks.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      this.#retryMs = FIRST_RETRY_MS
    } catch {
      this.#retryLater()
      return
    }
    for (const channel of this.#callbacks.keys()) this.#deliver(channel, '')
  }

  #retryLater(): void {
    if (this.#isClosed || this.#retry) return
    this.#retry = setTimeout(() => this.#reconnect(), this.#retryMs)
    this.#retry.unref()
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS)
  }
}

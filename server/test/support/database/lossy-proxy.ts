import { once } from 'node:events'
import net from 'node:net'

/** A TCP proxy in front of a database or another service that can lose connections in the ways in which networks lose them. */
export interface LossyProxy {
  /** The address of the service through the proxy. */
  readonly url: string
  /** Connections that were ever accepted. */
  readonly accepted: number
  /** Connections that are open between the client and the proxy. */
  readonly open: number
  /**
   * Freezes all open connections for ever, as after the loss of a host: they stay open, and nothing is forwarded in
   * either direction. New connections work, unless `newOnes` is true: then they are accepted and never answered.
   */
  freeze(options?: { readonly newOnes?: boolean }): void
  /** Closes all connections and every new one at once, as a service that does not run. */
  refuse(): void
  /** New connections work again; frozen ones stay frozen. */
  thaw(): void
  /** Sends new connections to another PostgreSQL, and closes those that are open. */
  moveTo(databaseUrl: string): void
  stop(): Promise<void>
}

/** Starts a proxy in front of the server of `databaseUrl`. */
export async function startLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  const pairs = new Set<Pair>()
  let target = new URL(databaseUrl)
  let freezesNewOnes = false
  let refuses = false
  let accepted = 0
  const server = net.createServer((client) => {
    accepted += 1
    if (refuses) {
      client.on('error', () => {})
      client.destroy()
      return
    }
    const pair = new Pair(
      client,
      freezesNewOnes ? undefined : net.connect(Number(target.port), target.hostname),
    )
    pairs.add(pair)
    client.once('close', () => pairs.delete(pair))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as net.AddressInfo).port)
  return {
    url: url.href,
    get accepted() {
      return accepted
    },
    get open() {
      return pairs.size
    },
    freeze: ({ newOnes = false } = {}) => {
      freezesNewOnes = newOnes
      for (const pair of pairs) pair.freeze()
    },
    refuse: () => {
      refuses = true
      for (const pair of pairs) pair.end()
    },
    thaw: () => {
      freezesNewOnes = false
      refuses = false
    },
    moveTo: (other) => {
      target = new URL(other)
      for (const pair of pairs) pair.end()
    },
    stop: async () => {
      for (const pair of pairs) pair.end()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

class Pair {
  readonly #client: net.Socket
  readonly #upstream: net.Socket | undefined
  #isFrozen = false

  constructor(client: net.Socket, upstream: net.Socket | undefined) {
    this.#client = client
    this.#upstream = upstream
    for (const socket of [client, upstream]) socket?.on('error', () => {})
    client.once('close', () => upstream?.destroy())
    if (!upstream) {
      client.resume()
      return
    }
    client.setNoDelay(true)
    upstream.setNoDelay(true)
    client.pipe(upstream)
    upstream.pipe(client)
    // Refused or reset, which a pipe does not pass on
    upstream.once('error', () => {
      if (!this.#isFrozen) client.destroy()
    })
  }

  /** Reads on and drops what it reads, so that it notices when one side closes. */
  freeze(): void {
    this.#isFrozen = true
    for (const socket of [this.#client, this.#upstream]) socket?.unpipe().resume()
  }

  end(): void {
    this.#client.destroy()
    this.#upstream?.destroy()
  }
}

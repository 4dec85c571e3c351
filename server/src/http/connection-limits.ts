import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { clientAddress, type IsTrusted } from './client-address.ts'

/** How many connections may be open at a time. */
export interface ConnectionLimits {
  readonly max: number
  /** From one network address; 0 is no limit. Trusted proxies have none. */
  readonly perClient: number
  /** How long a connection beyond `perClient` waits for another one to close; left out: five seconds. */
  readonly waitMs?: number
}

const WAIT_MS = 5 * SECOND_MS
/** How long the connections of a client that sent too many requests at once are read slowly, and one of all these in what time. */
const SLOW_MS = MINUTE_MS
const READ_SLOWLY_EVERY_MS = 200
const MAX_SLOW_CLIENTS = 10_000

/** The connections of one address. */
interface Client {
  /** Those that have a place. */
  readonly open: Set<Socket>
  /** Connections beyond the limit, from which nothing is read, and when each is refused. */
  readonly waiting: Map<Socket, NodeJS.Timeout>
}

/**
 * Limits the connections of one network address. A connection beyond the limit waits: it is read when another one of its
 * address closes. After five seconds its request is refused with 429, and it is closed. A refusal at once would be
 * answered by the next connection at once, and all of these would wait to be accepted before those of other clients.
 *
 * Beyond the limit of all connections, new ones are closed before anything is read from them.
 */
export class ConnectionLimiter {
  private readonly limits: ConnectionLimits
  private readonly refuse: (socket: Socket, error: AppError) => void
  private readonly isProxy: IsTrusted
  private readonly clients = new Map<string, Client>()
  private readonly slowClients = new LRUCache<string, true>({ max: MAX_SLOW_CLIENTS, ttl: SLOW_MS })
  /** Connections that are to be read slowly: the first one is read next. */
  private readonly paused = new Set<Socket>()
  private readonly counted = { open: 0, refused: 0 }

  /**
   * @param isProxy whether an address is that of a trusted proxy
   * @param refuse makes every request of the connection be answered with this failure
   */
  constructor(
    limits: ConnectionLimits,
    isProxy: IsTrusted,
    refuse: (socket: Socket, error: AppError) => void,
  ) {
    this.limits = limits
    this.refuse = refuse
    this.isProxy = isProxy
  }

  /** Open connections now, those that wait included, and refused ones since the start. */
  get counts(): { readonly open: number; readonly refused: number } {
    return this.counted
  }

  watch(server: Server): void {
    server.maxConnections = this.limits.max
    server.on('drop', () => this.counted.refused++)
    server.on('connection', (socket) => this.admit(socket))
    const reading = setInterval(() => this.readPaused(), READ_SLOWLY_EVERY_MS).unref()
    server.once('close', () => clearInterval(reading))
  }

  /**
   * For a connection that was cut because it sent too many requests at once. Node.js parses all requests of a packet of
   * 64 KiB, which takes 30 ms and 7 MB for the shortest ones. So nothing more is read from the other connections of its
   * address, and from those that it opens within a minute; then one of all such connections is read every 200 ms.
   */
  readSlowly(socket: Socket): void {
    const { remoteAddress = '' } = socket
    if (this.isProxy(remoteAddress)) return
    const address = clientAddress({ ip: remoteAddress, socket })
    this.slowClients.set(address, true)
    for (const other of this.clients.get(address)?.open ?? []) this.pause(other)
  }

  private pause(socket: Socket): void {
    socket.pause()
    this.paused.add(socket)
  }

  private readPaused(): void {
    const [next] = this.paused
    if (!next) return
    this.paused.delete(next)
    next.resume()
  }

  private admit(socket: Socket): void {
    const { remoteAddress = '' } = socket
    const address = clientAddress({ ip: remoteAddress, socket })
    const client = this.clients.get(address) ?? { open: new Set(), waiting: new Map() }
    this.clients.set(address, client)
    this.counted.open++
    const isBeyond = this.limits.perClient > 0 && client.open.size >= this.limits.perClient
    if (isBeyond && !this.isProxy(remoteAddress)) this.wait(socket, client)
    else this.open(socket, address, client)
    socket.once('close', () => this.remove(socket, address, client))
  }

  private open(socket: Socket, address: string, client: Client): void {
    client.open.add(socket)
    // In the next tick: Node.js begins to read after the listeners of a new connection.
    if (this.slowClients.has(address)) process.nextTick(() => this.pause(socket))
  }

  private wait(socket: Socket, { waiting }: Client): void {
    process.nextTick(() => waiting.has(socket) && socket.pause())
    const refuse = () => {
      this.counted.refused++
      this.refuse(socket, this.refusal())
      socket.resume()
    }
    waiting.set(socket, setTimeout(refuse, this.limits.waitMs ?? WAIT_MS))
  }

  private remove(socket: Socket, address: string, client: Client): void {
    this.counted.open--
    this.paused.delete(socket)
    endWait(client, socket)
    const [next] = client.open.delete(socket) ? client.waiting.keys() : []
    if (next) {
      endWait(client, next)
      next.resume()
      this.open(next, address, client)
    } else if (client.open.size === 0) {
      this.clients.delete(address)
    }
  }

  private refusal(): AppError {
    const { perClient } = this.limits
    return new AppError(
      'too_many_requests',
      `This network address has ${perClient} connections open, and may have no more. Close one, or use those.`,
      { limit: perClient },
    )
  }
}

function endWait({ waiting }: Client, socket: Socket): void {
  clearTimeout(waiting.get(socket))
  waiting.delete(socket)
}

import type { Server } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { clientAddress } from './client-address.ts'

/** How many connections may be open at a time. */
export interface ConnectionLimits {
  readonly max: number
  /** From one network address; 0 is no limit. Trusted proxies have none. */
  readonly perClient: number
}

/**
 * Closes new connections beyond the limits before anything is read from them. Nothing is answered: an answer would cost
 * more than the connection.
 */
export class ConnectionLimiter {
  private readonly limits: ConnectionLimits
  private readonly proxies: BlockList
  private readonly openByClient = new Map<string, number>()
  private readonly counted = { open: 0, refused: 0 }

  /** @param trustedProxies addresses or ranges, `10.0.0.0/8` */
  constructor(limits: ConnectionLimits, trustedProxies: readonly string[]) {
    this.limits = limits
    this.proxies = listOf(trustedProxies)
  }

  /** Open connections now, and refused ones since the start. */
  get counts(): { readonly open: number; readonly refused: number } {
    return this.counted
  }

  watch(server: Server): void {
    server.maxConnections = this.limits.max
    server.on('drop', () => this.counted.refused++)
    server.prependListener('connection', (socket) => this.admit(socket))
  }

  private admit(socket: Socket): void {
    const { remoteAddress = '' } = socket
    const client = clientAddress({ ip: remoteAddress, socket })
    const open = this.openByClient.get(client) ?? 0
    const { perClient } = this.limits
    if (perClient > 0 && open >= perClient && !this.isProxy(remoteAddress)) {
      this.counted.refused++
      socket.resetAndDestroy()
      return
    }
    this.counted.open++
    this.openByClient.set(client, open + 1)
    socket.once('close', () => this.remove(client))
  }

  private remove(client: string): void {
    this.counted.open--
    const others = (this.openByClient.get(client) ?? 1) - 1
    if (others > 0) this.openByClient.set(client, others)
    else this.openByClient.delete(client)
  }

  private isProxy(address: string): boolean {
    return this.proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

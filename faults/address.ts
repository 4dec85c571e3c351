import { once } from 'node:events'
import net from 'node:net'

/** One address that leads to another port of this machine, or to none. */
export interface DatabaseAddress {
  readonly port: number
  /** Breaks all connections; new ones go to `port`, or are refused where it is undefined. */
  leadTo(port: number | undefined): void
  close(): void
}

export async function startAddress(firstPort: number): Promise<DatabaseAddress> {
  let target: number | undefined = firstPort
  const sockets = new Set<net.Socket>()
  const track = (socket: net.Socket, other: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // 'close' follows
    socket.once('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
    socket.pipe(other)
  }
  const server = net.createServer((inner) => {
    if (target === undefined) return void inner.destroy()
    const outer = net.connect({ port: target, host: '127.0.0.1', noDelay: true })
    inner.setNoDelay(true)
    track(inner, outer)
    track(outer, inner)
  })
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as net.AddressInfo).port,
    leadTo: (port) => {
      target = port
      breakAll()
    },
    close: () => {
      server.close()
      breakAll()
    },
  }
}

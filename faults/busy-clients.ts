import net from 'node:net'

/**
 * A process that sends requests over many connections from several addresses of this machine, one request of a
 * connection at a time: `node busy-clients.js <JSON of BusyClients>`. It prints a {@link BusyReport} as JSON when it ends.
 */
export interface BusyClients {
  readonly origin: string
  /** The paths that are requested, in turn. `{n}` in a path is the number of the request, from 0 on. */
  readonly paths: readonly string[]
  /** Local addresses from which the connections come, the same number from each. */
  readonly addresses: readonly string[]
  readonly connections: number
  /** Requests a second; 0: each connection sends its next request at once. */
  readonly perSecond: number
  readonly seconds: number
  /** Ends it earlier, when so many are answered; left out: never. */
  readonly requests?: number
}

export interface BusyReport {
  /** Answers by status. */
  readonly answers: Readonly<Record<string, number>>
  /** Answers 429 and 503 without `Retry-After`. */
  readonly withoutRetryAfter: number
  /** Connections that ended without an announcement by the server. */
  readonly broken: number
  /** Requests that were due while every connection had one under way. */
  readonly unsent: number
}

const options = JSON.parse(process.argv[2]!) as BusyClients
const { hostname, port } = new URL(options.origin)
const HEAD_END = '\r\n\r\n'
/** Of an answer without a length. */
const CHUNKS_END = '\r\n0\r\n\r\n'
const SEND_EVERY_MS = 5

const answers: Record<string, number> = {}
const counts = { withoutRetryAfter: 0, broken: 0, unsent: 0 }
const idle: (() => void)[] = []
const open = new Set<net.Socket>()
let isOver = false
let sent = 0
let answered = 0

function connect(localAddress: string): void {
  if (isOver) return
  const socket = net.connect({ port: Number(port), host: hostname, localAddress, noDelay: true })
  let head = ''
  let missingBytes = 0
  let tail = ''
  let closes = false
  const send = () => {
    if (socket.destroyed || sent === options.requests) return
    const path = options.paths[sent % options.paths.length]!.replace('{n}', String(sent))
    sent++
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  }
  const sendNext = () => {
    if (options.perSecond === 0) send()
    else idle.push(send)
  }
  open.add(socket)
  socket.once('connect', sendNext)
  socket.on('error', () => {}) // 'close' follows
  socket.on('data', (chunk) => {
    let body = chunk.length
    if (missingBytes === 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf(HEAD_END)
      if (end < 0) return
      body = head.length - end - HEAD_END.length
      const isChunked = /^transfer-encoding: chunked/im.test(head)
      missingBytes = isChunked
        ? Number.POSITIVE_INFINITY
        : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      closes = /^connection: close/im.test(head)
      const status = head.slice(9, 12)
      answers[status] = (answers[status] ?? 0) + 1
      const isRefusal = status === '429' || status === '503'
      if (isRefusal && !/^retry-after: \d/im.test(head)) counts.withoutRetryAfter++
      head = ''
    }
    if (missingBytes === Number.POSITIVE_INFINITY) {
      tail = (tail + chunk.toString('latin1')).slice(-CHUNKS_END.length)
      if (tail === CHUNKS_END) missingBytes = 0
    } else missingBytes -= body
    if (missingBytes > 0) return
    tail = ''
    answered++
    if (answered === options.requests) end()
    else if (!closes) sendNext()
  })
  socket.once('close', () => {
    open.delete(socket)
    if (!closes && !isOver) {
      counts.broken++
      sent-- // its request is sent again
    }
    setTimeout(() => connect(localAddress), 0)
  })
}

for (let at = 0; at < options.connections; at++) connect(options.addresses[at % options.addresses.length]!)

const startedMs = performance.now()
let due = 0
if (options.perSecond > 0) {
  setInterval(() => {
    const wanted = ((performance.now() - startedMs) / 1_000) * options.perSecond
    for (; due < wanted; due++) {
      const send = idle.shift()
      if (send) send()
      else counts.unsent++
    }
  }, SEND_EVERY_MS)
}
setTimeout(end, options.seconds * 1_000)

function end(): void {
  isOver = true
  console.log(JSON.stringify({ answers, ...counts } satisfies BusyReport))
  for (const socket of open) socket.destroy()
  process.exit()
}

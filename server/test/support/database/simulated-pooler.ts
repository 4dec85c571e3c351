import { once } from 'node:events'
import net from 'node:net'

/**
 * A connection pooler in transaction mode, as far as this server uses one: it speaks PostgreSQL's wire protocol, and
 * gives each transaction of a client whichever of its connections to PostgreSQL is free.
 */
export interface SimulatedPooler {
  readonly url: string
  stop(): Promise<void>
}

export interface PoolerOptions {
  /** `tracked`: renamed and prepared on each connection, as PgBouncer 1.21 does. `passed-on`: as before that. */
  readonly prepared: 'tracked' | 'passed-on'
  /** Connections to PostgreSQL. */
  readonly size?: number
}

/** Parameters of the start message that PgBouncer knows. */
const KNOWN_PARAMETERS = new Set(['user', 'database', 'application_name', 'client_encoding'])
const SSL_REQUEST = 80_877_103

export async function startSimulatedPooler(
  databaseUrl: string,
  options: PoolerOptions,
): Promise<SimulatedPooler> {
  const target = new URL(databaseUrl)
  const backends = new Backends(target, options.size ?? 2)
  const clients = new Set<PoolerClient>()
  const server = net.createServer((socket) => {
    const client = new PoolerClient(socket, backends, options.prepared === 'tracked')
    clients.add(client)
    socket.once('close', () => clients.delete(client))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as net.AddressInfo).port)
  return {
    url: url.href,
    stop: async () => {
      for (const client of clients) client.end()
      backends.end()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

interface Message {
  /** Empty for the start message. */
  readonly type: string
  /** Without type and length. */
  readonly body: Buffer
}

/** Cuts a stream of bytes into messages. */
class Messages {
  #held: Buffer = Buffer.alloc(0)
  #hasType: boolean

  /** @param hasType false for a client, whose first message has no type */
  constructor(hasType: boolean) {
    this.#hasType = hasType
  }

  *take(chunk: Buffer): Generator<Message> {
    this.#held = Buffer.concat([this.#held, chunk])
    for (;;) {
      const start = this.#hasType ? 1 : 0
      if (this.#held.length < start + 4) return
      const end = start + this.#held.readUInt32BE(start)
      if (this.#held.length < end) return
      const message = {
        type: this.#held.toString('latin1', 0, start),
        body: this.#held.subarray(start + 4, end),
      }
      this.#held = this.#held.subarray(end)
      if (!this.#hasType && message.body.readUInt32BE(0) !== SSL_REQUEST) this.#hasType = true
      yield message
    }
  }
}

function messageOf(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

/** One connection to PostgreSQL, used by one client at a time. */
class Backend {
  readonly socket: net.Socket
  readonly prepared = new Set<string>()
  readonly ready: Promise<void>
  /** Answers of statements that the pooler itself sent. */
  hiddenParses = 0
  onMessage: (message: Message) => void = () => {}

  constructor(target: URL) {
    this.socket = net.connect(Number(target.port), target.hostname)
    this.socket.on('error', () => {})
    const version = Buffer.from([0, 3, 0, 0])
    this.socket.write(
      messageOf('', version, 'user', target.username, 'database', target.pathname.slice(1), Buffer.from([0])),
    )
    const messages = new Messages(true)
    this.ready = new Promise((resolve) => {
      this.onMessage = ({ type }) => {
        if (type === 'Z') resolve()
      }
    })
    this.socket.on('data', (chunk) => {
      for (const message of messages.take(chunk)) this.onMessage(message)
    })
  }
}

class Backends {
  readonly #target: URL
  readonly #size: number
  readonly #all: Backend[] = []
  /** The one used last is taken first, as PgBouncer does. */
  readonly #free: Backend[] = []
  readonly #waiting: ((backend: Backend) => void)[] = []

  constructor(target: URL, size: number) {
    this.#target = target
    this.#size = size
  }

  async take(): Promise<Backend> {
    const free = this.#free.pop()
    if (free) return free
    if (this.#all.length >= this.#size) return new Promise((resolve) => this.#waiting.push(resolve))
    const backend = new Backend(this.#target)
    this.#all.push(backend)
    await backend.ready
    return backend
  }

  give(backend: Backend): void {
    backend.onMessage = () => {}
    const next = this.#waiting.shift()
    if (next) next(backend)
    else this.#free.push(backend)
  }

  end(): void {
    for (const { socket } of this.#all) socket.destroy()
  }
}

class PoolerClient {
  readonly #socket: net.Socket
  readonly #backends: Backends
  readonly #tracks: boolean
  /** Texts of this client's named statements: the body of Parse behind the name. */
  readonly #statements = new Map<string, Buffer>()
  #backend: Backend | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(socket: net.Socket, backends: Backends, tracks: boolean) {
    this.#socket = socket
    this.#backends = backends
    this.#tracks = tracks
    const messages = new Messages(false)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const message of messages.take(chunk)) this.#work = this.#work.then(() => this.#receive(message))
    })
  }

  end(): void {
    this.#socket.destroy()
  }

  async #receive(message: Message): Promise<void> {
    if (message.type === '') this.#start(message.body)
    else if (message.type === 'X') this.#socket.end()
    else await this.#forward(message)
  }

  #start(body: Buffer): void {
    if (body.readUInt32BE(0) === SSL_REQUEST) {
      this.#socket.write('N')
      return
    }
    const names = body
      .toString('utf8', 4)
      .split('\0')
      .filter((_, i) => i % 2 === 0)
    const unknown = names.find((name) => name !== '' && !KNOWN_PARAMETERS.has(name))
    if (unknown !== undefined) {
      this.#socket.end(refusal(`unsupported startup parameter: ${unknown}`))
      return
    }
    const ok = Buffer.alloc(4)
    const key = Buffer.from([127, 1, 2, 3, 4, 5, 6, 7])
    this.#socket.write(
      Buffer.concat([messageOf('R', ok), messageOf('K', key), messageOf('Z', Buffer.from('I'))]),
    )
  }

  async #forward(message: Message): Promise<void> {
    if (!this.#backend) {
      const backend = await this.#backends.take()
      this.#backend = backend
      backend.onMessage = (answer) => this.#answer(backend, answer)
    }
    const { socket } = this.#backend
    const { type, body } = this.#tracks ? this.#renamed(this.#backend, message) : message
    socket.write(messageOf(type, body))
  }

  #answer(backend: Backend, { type, body }: Message): void {
    if (type === '1' && backend.hiddenParses > 0) {
      backend.hiddenParses -= 1
      return
    }
    this.#socket.write(messageOf(type, body))
    if (type !== 'Z' || body.toString() !== 'I') return
    this.#backend = undefined
    this.#backends.give(backend)
  }

  /** Gives named statements a name of the pooler, and prepares them first where the connection does not have them. */
  #renamed(backend: Backend, { type, body }: Message): Message {
    if (type === 'P') return { type, body: this.#renamedParse(backend, body) }
    if (type !== 'B') return { type, body }
    const portalEnd = body.indexOf(0) + 1
    const nameEnd = body.indexOf(0, portalEnd)
    const name = body.toString('utf8', portalEnd, nameEnd)
    const rest = this.#statements.get(name)
    if (rest === undefined) return { type, body }
    const own = ownName(rest)
    if (!backend.prepared.has(own)) {
      backend.prepared.add(own)
      backend.hiddenParses += 1
      backend.socket.write(messageOf('P', own, rest))
    }
    return {
      type,
      body: Buffer.concat([body.subarray(0, portalEnd), Buffer.from(own), body.subarray(nameEnd)]),
    }
  }

  #renamedParse(backend: Backend, body: Buffer): Buffer {
    const nameEnd = body.indexOf(0)
    const name = body.toString('utf8', 0, nameEnd)
    if (name === '') return body
    const rest = body.subarray(nameEnd + 1)
    this.#statements.set(name, rest)
    const own = ownName(rest)
    // A second Parse of the same name fails, so the pooler has to answer it: this one prepares under another name
    const isNew = !backend.prepared.has(own)
    backend.prepared.add(own)
    return Buffer.concat([
      Buffer.from(`${isNew ? own : `again_${backend.prepared.size}_${Math.random()}`}\0`),
      rest,
    ])
  }
}

function ownName(rest: Buffer): string {
  return `POOLER_${rest.toString('latin1').length}_${[...rest].reduce((sum, byte) => (sum * 31 + byte) % 1_000_003, 7)}`
}

function refusal(sentence: string): Buffer {
  return messageOf('E', 'SFATAL', 'VFATAL', 'C08P01', `M${sentence}`, Buffer.from([0]))
}

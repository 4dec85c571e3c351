import net from 'node:net'
import { MessageChannel } from 'node:worker_threads'
import type { Db, Engine, EngineSource, Lent } from '../engine.ts'
import { openKysely } from '../guarded-dialect.ts'
import { Notices } from '../notices.ts'
import { WriteRefusals } from '../write-refusals.ts'
import { EmbeddedDriver } from './embedded-driver.ts'
import { EngineClient } from './engine-client.ts'
import { portLink, socketLink } from './link.ts'
import type { Answer, Request } from './messages.ts'

/** An engine whose PGlite runs in another thread of this process or of another one. */
class RemoteEngine implements Engine {
  readonly kind = 'embedded'
  readonly isJoined: boolean
  readonly db: Db
  readonly #client: EngineClient
  readonly #lend: () => Lent
  readonly #afterClose: () => Promise<void>
  readonly #refusals = new WriteRefusals()
  readonly #notices: Notices
  #closing: Promise<void> | undefined

  constructor(client: EngineClient, { isJoined = false, lend, afterClose, notices }: RemoteEngineParts) {
    this.isJoined = isJoined
    this.#client = client
    this.#lend = lend
    this.#afterClose = afterClose ?? (async () => {})
    this.#notices = notices ?? new Notices()
    this.db = openKysely(new EmbeddedDriver(client), this.#refusals)
  }

  async open(): Promise<void> {}

  onNotice(onNotice: (notice: string) => void): void {
    this.#notices.listen(onNotice)
  }

  refusedWrites(): ReturnType<Engine['refusedWrites']> {
    return this.#refusals.recent()
  }

  listen(channel: string, onPayload: (payload: string) => void): Promise<void> {
    return this.#client.listen(channel, onPayload)
  }

  maintain(): Promise<void> {
    return this.#client.maintain()
  }

  lend(): Lent {
    return this.#lend()
  }

  pool(): ReturnType<Engine['pool']> {
    const { pendingCount } = this.#client
    return { total: 1, idle: pendingCount === 0 ? 1 : 0, waiting: Math.max(0, pendingCount - 1) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.db.destroy()
    this.#client.close()
    await this.#afterClose()
  }
}

interface RemoteEngineParts {
  readonly isJoined?: boolean
  readonly lend: () => Lent
  readonly afterClose?: () => Promise<void>
  readonly notices?: Notices
}

type PortSource = EngineSource & { kind: 'embedded' }

/** Opens the engine at the other end of a port. */
export function openLentPort({ port, statementTimeoutMs }: PortSource): Engine {
  return engineOf(new EngineClient(portLink<Request, Answer>(port), statementTimeoutMs), statementTimeoutMs)
}

/** The engine that a client is connected to, in another thread of this process. */
export function engineOf(
  client: EngineClient,
  statementTimeoutMs: number,
  parts: Pick<RemoteEngineParts, 'afterClose' | 'notices'> = {},
): Engine {
  return new RemoteEngine(client, { lend: () => lendPort(client, statementTimeoutMs), ...parts })
}

/** Opens the engine of another process. @throws when nothing listens at the socket. */
export async function joinBySocket(source: EngineSource & { kind: 'joined' }): Promise<Engine> {
  const socket = await connect(source.socketPath)
  const client = new EngineClient(socketLink<Request, Answer>(socket), source.statementTimeoutMs)
  return new RemoteEngine(client, { isJoined: true, lend: () => ({ source, transfer: [] }) })
}

function lendPort(client: EngineClient, statementTimeoutMs: number): Lent {
  const { port1, port2 } = new MessageChannel()
  client.send({ op: 'lend', port: port2 }, [port2])
  return { source: { kind: 'embedded', port: port1, statementTimeoutMs }, transfer: [port1] }
}

function connect(socketPath: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(socketPath, () => resolve(socket))
    socket.once('error', reject)
  })
}

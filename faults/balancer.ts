import http from 'node:http'
import type { AddressInfo } from 'node:net'

interface Backend {
  readonly origin: string
  readonly agent: http.Agent
  isReady: boolean
}

/** A server on a busy machine is slow, not away. */
const CHECK_TIMEOUT_MS = 4_000

/**
 * A plain HTTP balancer: requests go in turn to the servers whose `/health/ready` answered 200 at the last poll, over
 * kept-alive connections. It never sends a request again: a broken connection is answered with 502.
 */
export class Balancer {
  private readonly backends: readonly Backend[]
  private readonly server: http.Server
  private readonly polling: NodeJS.Timeout
  private next = 0

  /** @param pollEveryMs how often the servers are asked whether they are ready */
  static async start(origins: readonly string[], pollEveryMs: number): Promise<Balancer> {
    const balancer = new Balancer(origins, pollEveryMs)
    await balancer.poll()
    await new Promise<void>((resolve) => balancer.server.listen(0, '127.0.0.1', resolve))
    return balancer
  }

  private constructor(origins: readonly string[], pollEveryMs: number) {
    this.backends = origins.map((origin) => ({
      origin,
      agent: new http.Agent({ keepAlive: true }),
      isReady: false,
    }))
    this.server = http.createServer((request, response) => this.forward(request, response))
    this.polling = setInterval(() => void this.poll(), pollEveryMs)
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Whether requests go to this server, as of the last poll. */
  isReady(origin: string): boolean {
    return this.backends.find((backend) => backend.origin === origin)?.isReady ?? false
  }

  close(): void {
    clearInterval(this.polling)
    this.server.close()
    this.server.closeAllConnections()
    for (const { agent } of this.backends) agent.destroy()
  }

  private async poll(): Promise<void> {
    await Promise.all(
      this.backends.map(async (backend) => {
        backend.isReady = await fetch(`${backend.origin}/health/ready`, {
          signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
          headers: { connection: 'close' },
        }).then(
          async (response) => {
            await response.arrayBuffer()
            return response.ok
          },
          () => false,
        )
      }),
    )
  }

  private forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const backend = this.pick()
    if (!backend) return void response.writeHead(503).end()
    const { hostname, port } = new URL(backend.origin)
    const { connection: _, ...headers } = request.headers
    const forwarded = http.request(
      { hostname, port, agent: backend.agent, method: request.method, path: request.url, headers },
      (answer) => {
        const { connection: _hop, 'keep-alive': _too, ...kept } = answer.headers
        response.writeHead(answer.statusCode ?? 502, kept)
        answer.pipe(response)
        answer.once('error', () => response.destroy())
      },
    )
    forwarded.once('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    request.pipe(forwarded)
  }

  private pick(): Backend | undefined {
    const ready = this.backends.filter(({ isReady }) => isReady)
    return ready[this.next++ % Math.max(1, ready.length)]
  }
}

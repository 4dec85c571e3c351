import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { COMMON_HEADERS } from './common-headers.ts'
import { CROSS_ORIGIN_HEADERS } from './cross-origin.ts'
import type { Metrics } from './metrics.ts'
import { requestId } from './request-id.ts'

/** A 200 that needs no more than to be sent. */
export interface ReadyAnswer {
  /** The route that made it, as the figures name it. */
  readonly route: string
  /** All that the route itself would set, `content-length` aside. */
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** Finds the ready answer for an address exactly as it came, query and all. */
export type FindReady = (url: string) => ReadyAnswer | undefined

/**
 * Sends ready answers before the framework has looked at the request: for a small body, routing and hooks cost as
 * much as everything else together. A request that is not a plain GET or HEAD takes the usual way, and so does the
 * first request for each address; clients see no difference between the two.
 *
 * The server that `createServer` makes asks {@link answers} first with every request.
 */
export class ReadyAnswers {
  private readonly metrics: Metrics
  private find: FindReady | undefined

  constructor(metrics: Metrics) {
    this.metrics = metrics
  }

  /** From now on ready answers are looked for with this. */
  findWith(find: FindReady): void {
    this.find = find
  }

  /** From now on every request takes the usual way: a framework that closes tells its clients to go. */
  close(): void {
    this.find = undefined
  }

  /** Answers a request if its answer is ready; false where it has to take the usual way. */
  answers(request: IncomingMessage, response: ServerResponse): boolean {
    const ready = this.find && isPlainRead(request) ? this.find(request.url ?? '') : undefined
    if (!ready) return false
    this.send(request, response, ready)
    return true
  }

  private send(
    request: IncomingMessage,
    response: ServerResponse,
    { route, headers, body }: ReadyAnswer,
  ): void {
    const startedMs = performance.now()
    response.once('finish', () => {
      const tookMs = performance.now() - startedMs
      const { method = 'GET', socket } = request
      this.metrics.countAnswer({ method, route, status: 200, tookMs, socket })
    })
    response.writeHead(200, {
      ...COMMON_HEADERS,
      'x-request-id': requestId(request),
      ...CROSS_ORIGIN_HEADERS,
      ...headers,
      'content-length': body.length,
    })
    response.end(body) // which leaves it out of the answer to HEAD
  }
}

function isPlainRead({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return (
    headers.host !== undefined &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined
  )
}

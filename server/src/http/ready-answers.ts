import type { IncomingMessage, ServerResponse } from 'node:http'
import { READY_ANSWER_UNITS } from './cost-account.ts'
import type { CostBudget } from './cost-budget.ts'
import { ANSWER_HEADER_LIST, type HeaderList } from './cross-origin.ts'
import { countHosts } from './host-header.ts'
import type { Metrics } from './metrics.ts'
import { requestId } from './request-id.ts'

/** An answer with status 200 whose headers and body are in memory. */
export interface ReadyAnswer {
  /** The group of the route that made the answer, as metrics name it. */
  readonly group: string
  /** All headers but the request id. */
  readonly head: HeaderList
  readonly body: Buffer
}

/**
 * Makes a ready answer.
 *
 * @param headers all that the route sets, except `content-length`
 */
export function readyAnswer({
  group,
  headers,
  body,
}: {
  readonly group: string
  readonly headers: HeaderList
  readonly body: Buffer
}): ReadyAnswer {
  return { group, head: [...ANSWER_HEADER_LIST, ...headers, 'content-length', String(body.length)], body }
}

interface Charges {
  readonly budget: CostBudget
  readonly clientOf: (request: IncomingMessage) => string
}

/** Finds the ready answer for an address exactly as it was requested, with its query. */
export type FindReady = (url: string) => ReadyAnswer | undefined

/**
 * Sends ready answers without the framework, for pages that show many pictures of parcels. For a small body, its routing and
 * hooks cost as much as the rest of the request: without this, such a picture costs about twice as much. A request that is not a plain GET or HEAD is passed to the framework, and so is the first request for each
 * address. Clients see no difference, except that ready answers have no `RateLimit-…` headers: these would cost a
 * twentieth of the answer.
 *
 * The server of `createServer` calls {@link sendIfReady} for every request, before the framework.
 */
export class ReadyAnswers {
  private readonly metrics: Metrics
  private find: FindReady | undefined
  private charges: Charges | undefined

  constructor(metrics: Metrics) {
    this.metrics = metrics
  }

  /** Sets the function that finds ready answers. */
  findWith(find: FindReady): void {
    this.find = find
  }

  /** Charges ready answers to the budget of their client; one that has used it up is passed to the framework. */
  chargeTo(budget: CostBudget, clientOf: (request: IncomingMessage) => string): void {
    if (budget.isLimited) this.charges = { budget, clientOf }
  }

  /** From now on the framework gets every request: while it closes, it answers that itself. */
  close(): void {
    this.find = undefined
  }

  /** Sends the answer if there is a ready one. @returns false if the framework has to answer */
  sendIfReady(request: IncomingMessage, response: ServerResponse): boolean {
    const ready = this.find && isPlainRead(request) ? this.find(request.url ?? '') : undefined
    if (!ready) return false
    if (!this.charge(request)) return false
    this.send(request, response, ready)
    return true
  }

  /** @returns false if the client has used up its budget: the framework refuses the request */
  private charge(request: IncomingMessage): boolean {
    if (!this.charges) return true
    const { budget, clientOf } = this.charges
    const { isTaken } = budget.bucketOf(clientOf(request)).take(READY_ANSWER_UNITS)
    if (isTaken) budget.charged += READY_ANSWER_UNITS
    return isTaken
  }

  private send(request: IncomingMessage, response: ServerResponse, { group, head, body }: ReadyAnswer): void {
    const startedMs = performance.now()
    response.on('finish', () => {
      const tookMs = performance.now() - startedMs
      this.metrics.countAnswer({ group, status: 200, tookMs, socket: request.socket })
    })
    response.writeHead(200, ['x-request-id', requestId(request), ...head])
    response.end(body) // Node.js sends no body to HEAD
  }
}

function isPlainRead(request: IncomingMessage): boolean {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  return (
    countHosts(request) === 1 &&
    headers['if-match'] === undefined &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined
  )
}

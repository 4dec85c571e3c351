import { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { SECOND_MS } from '../clock.ts'
import { isObject } from '../json-object.ts'
import { askAddress, type OutboundAnswer, OutboundError } from '../outbound.ts'

/** For a whole answer. */
const TIMEOUT_MS = 10 * SECOND_MS
/** Of an answer. A thousand offers have half a mebibyte. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** Servers give fewer where they have a lower limit. */
const PAGE_ROWS = 1_000
/** Of one list: with full pages, more offers than there are parcels. */
const MAX_PAGES = 200

/** Why the server cannot be read. Its message is for everyone: it has nothing of the address and of the answer. */
export class ListingsError extends Error {
  override readonly name = 'ListingsError'
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export interface MarketplaceServerOptions {
  /** Its address may have a key in path or query, which no error and no log shows. */
  readonly url: string
  readonly callsPerSecond: number
  readonly timing: Timing
  readonly signal: AbortSignal
}

/** A public marketplace server, or another Landpass: https://marketplace-api.decentraland.org for mainnet. */
export class MarketplaceServer {
  private readonly options: MarketplaceServerOptions
  private readonly limiter: RateLimiter

  constructor(options: MarketplaceServerOptions) {
    this.options = options
    const { callsPerSecond, timing, signal } = options
    this.limiter = new RateLimiter({ maxInFlight: 1, callsPerSecond, timing, signal, random: Math.random })
  }

  /**
   * The ids of the signed trades among the open offers of a registry's tokens, page by page. Each id comes once. The list ends
   * with a page that names nothing new: the total of the server is not trusted, nor that its pages are full.
   *
   * @throws {ListingsError}
   */
  async *openTrades(registry: string): AsyncGenerator<readonly string[], void, undefined> {
    const named = new Set<string>()
    let rows = 0
    for (let page = 0; page < MAX_PAGES; page++) {
      const orders = await this.readPage(registry, rows)
      rows += orders.length
      const ids = orders.flatMap((order) => orderNames(order) ?? [])
      const isNew = ids.filter(({ id }) => !named.has(id))
      for (const { id } of isNew) named.add(id)
      if (isNew.length === 0) return
      yield [...new Set(isNew.flatMap(({ tradeId }) => tradeId ?? []))]
    }
    throw new ListingsError(`the marketplace server names offers without end: ${MAX_PAGES} pages were read`)
  }

  /**
   * The JSON of a trade; undefined where the server has none of this id, or cannot say.
   *
   * @throws {ListingsError}
   */
  async trade(id: string): Promise<unknown> {
    const answer = await this.ask(`/v1/trades/${encodeURIComponent(id)}`, {})
    assertNotBusy(answer)
    const { status, json } = answer
    // One trade that a server cannot answer must not keep all others from being read.
    return status === 200 && isObject(json) ? json.data : undefined
  }

  private async readPage(registry: string, skip: number): Promise<readonly unknown[]> {
    const query = {
      ...{ contractAddress: registry, status: 'open', network: 'ETHEREUM', sortBy: 'oldest' },
      ...{ first: String(PAGE_ROWS), skip: String(skip) },
    }
    const { json } = assertGood(await this.ask('/v1/orders', query))
    const orders = isObject(json) ? json.data : undefined
    if (!Array.isArray(orders))
      throw new ListingsError('the marketplace server answered something else than a list of offers')
    if (orders.length > PAGE_ROWS)
      throw new ListingsError('the marketplace server answered more offers than it was asked for')
    return orders
  }

  private ask(path: string, query: Readonly<Record<string, string>>) {
    const { url: base, timing, signal } = this.options
    const url = new URL(base)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return this.limiter.run(1, async () => {
      const startedMs = timing.nowMs()
      try {
        const answer = await askAddress(
          url,
          { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, startTimer: timing.startTimer, signal },
          { method: 'GET', headers: { 'accept-encoding': 'gzip' } },
        )
        if (answer.status === 429 || answer.status === 503) this.limiter.noteRefusal(answer.retryAfterMs)
        else this.limiter.noteAnswer(startedMs)
        return answer
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof OutboundError ? new ListingsError(FAILURES[error.failure]) : error
      }
    })
  }
}

const FAILURES = {
  timeout: `the marketplace server did not answer within ${TIMEOUT_MS / SECOND_MS} seconds`,
  unreachable: 'the marketplace server cannot be reached',
  too_large: 'an answer of the marketplace server is too large',
  redirect: 'the marketplace server answered with a redirect, which is not followed',
} as const satisfies Record<OutboundError['failure'], string>

/** The name of an offer, and that of its trade where it is a signed one; undefined for what is no offer. */
function orderNames(
  order: unknown,
): { readonly id: string; readonly tradeId: string | undefined } | undefined {
  if (!isObject(order)) return undefined
  const { id, tradeId } = order
  const isTrade = typeof tradeId === 'string' && /^[\w-]{1,100}$/.test(tradeId)
  const name = isTrade ? tradeId : id
  if (typeof name !== 'string' || name.length > 100) return undefined
  return { id: name, tradeId: isTrade ? tradeId : undefined }
}

function assertNotBusy({ status, retryAfterMs }: OutboundAnswer): void {
  if (status === 429 || status === 503)
    throw new ListingsError(`the marketplace server refuses requests for a while (${status})`, retryAfterMs)
}

function assertGood(answer: OutboundAnswer): OutboundAnswer {
  assertNotBusy(answer)
  const { status, json } = answer
  if (status !== 200) throw new ListingsError(`the marketplace server answered with status ${status}`)
  if (json === undefined) throw new ListingsError('the marketplace server answered something else than JSON')
  return answer
}

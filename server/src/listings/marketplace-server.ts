import { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { SECOND_MS } from '../clock.ts'
import { isObject } from '../json-object.ts'
import { askAddress, type OutboundAnswer, OutboundError, parseOrUndefined } from '../outbound.ts'

/** For a whole answer. */
const TIMEOUT_MS = 10 * SECOND_MS
/** Of a page of a list. A thousand offers have half a mebibyte. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024
/** Of all pages of a list together. */
const MAX_LIST_BYTES = 64 * 1024 * 1024
/** Of one trade. */
const MAX_TRADE_BYTES = 128 * 1024
/** How many trades in a row may have no usable answer. */
const MAX_FAILURES_IN_ROW = 3
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

/** There is no whole answer of the server. */
class UnusableAnswerError extends ListingsError {}

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
  private failuresInRow = 0

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
    let bytesLeft = MAX_LIST_BYTES
    for (let page = 0; page < MAX_PAGES; page++) {
      const { orders, bytes } = await this.readPage(registry, rows, Math.min(MAX_PAGE_BYTES, bytesLeft))
      bytesLeft -= bytes
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
   * @throws {ListingsError} where it refuses requests for a while, or three trades in a row had no usable answer
   */
  async trade(id: string): Promise<unknown> {
    try {
      const { answer } = await this.ask(`/v1/trades/${encodeURIComponent(id)}`, {}, MAX_TRADE_BYTES)
      this.failuresInRow = 0
      assertNotBusy(answer)
      return answer.status === 200 && isObject(answer.json) ? answer.json.data : undefined
    } catch (error) {
      // One trade that a server cannot answer must not keep all others from being read.
      if (!(error instanceof UnusableAnswerError)) throw error
      this.failuresInRow += 1
      if (this.failuresInRow < MAX_FAILURES_IN_ROW) return undefined
      this.failuresInRow = 0
      throw error
    }
  }

  private async readPage(
    registry: string,
    skip: number,
    maxBytes: number,
  ): Promise<{ readonly orders: readonly unknown[]; readonly bytes: number }> {
    const query = {
      ...{ contractAddress: registry, status: 'open', network: 'ETHEREUM', sortBy: 'oldest' },
      ...{ first: String(PAGE_ROWS), skip: String(skip) },
    }
    const { answer, bytes } = await this.ask('/v1/orders', query, maxBytes)
    const { json } = assertGood(answer)
    const orders = isObject(json) ? json.data : undefined
    if (!Array.isArray(orders))
      throw new ListingsError('the marketplace server answered something else than a list of offers')
    if (orders.length > PAGE_ROWS)
      throw new ListingsError('the marketplace server answered more offers than it was asked for')
    return { orders, bytes }
  }

  private ask(path: string, query: Readonly<Record<string, string>>, maxBytes: number) {
    const { url: base, timing, signal } = this.options
    const url = new URL(base)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return this.limiter.run(1, async () => {
      const startedMs = timing.nowMs()
      let bytes = 0
      const parse = (body: Buffer) => {
        bytes = body.length
        return parseOrUndefined(body.toString('utf8'))
      }
      try {
        const answer = await askAddress(
          url,
          { timeoutMs: TIMEOUT_MS, maxBytes, startTimer: timing.startTimer, signal },
          { method: 'GET', headers: { 'accept-encoding': 'gzip' }, parse },
        )
        if (answer.status === 429 || answer.status === 503) this.limiter.noteRefusal(answer.retryAfterMs)
        else this.limiter.noteAnswer(startedMs)
        return { answer, bytes }
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof OutboundError ? new UnusableAnswerError(FAILURES[error.failure]) : error
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

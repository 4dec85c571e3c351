import Fastify, { type FastifyReply } from 'fastify'
import type { TradeJson } from './signed-listing.ts'

/** What the server does wrong, as public ones do. */
export interface MarketplaceFaults {
  /** Added to the total of a list. */
  readonly totalIsOffBy?: number
  /** The most rows of a page, whatever a client asks for. */
  readonly mostRows?: number
  /** Times of orders in milliseconds, where public servers give seconds. */
  readonly inMilliseconds?: boolean
  /** Orders that a list leaves out. */
  readonly dropped?: readonly string[]
  /** The price of every order, whatever was signed. */
  readonly price?: string
  /** Another content for some trades. */
  readonly lies?: Readonly<Record<string, unknown>>
  /** A refusal in place of the answer about some trades. */
  readonly tradeRefusals?: Readonly<
    Record<string, { readonly status: number; readonly retryAfterS?: number }>
  >
  /** A refusal in place of every answer. */
  readonly refusal?: { readonly status: number; readonly retryAfterS?: number }
  /** A page of HTML in place of every answer. */
  readonly isHtml?: boolean
  /** Every page of a list has the rows of the first one. */
  readonly repeatsPages?: boolean
  /** Every page is full of new names. */
  readonly isEndless?: boolean
  /** No answer at all. */
  readonly hangs?: boolean
}

/** A marketplace server that plays the public one: the parts of it that programs read offers from. */
export interface MarketplaceSimulator {
  /** `http://127.0.0.1:4567` */
  readonly address: string
  /** By their ids, in the order in which they were made. */
  readonly trades: Map<string, TradeJson>
  faults: MarketplaceFaults
  /** Awaited before the answer about a trade. */
  onTrade: (id: string) => Promise<void>
  /** The addresses of all requests, without the host. */
  readonly requests: string[]
  close(): Promise<void>
}

const PAGE_ROWS = 1_000

/**
 * Starts the server: `GET /v1/orders?contractAddress=&first=&skip=` and `GET /v1/trades/{id}`. Besides the orders of its
 * trades each list has one that was made on the chain.
 */
export async function startMarketplaceSimulator({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<MarketplaceSimulator> {
  const app = Fastify({ forceCloseConnections: true })
  const simulator = {
    trades: new Map<string, TradeJson>(),
    faults: {} as MarketplaceFaults,
    onTrade: async (_id: string): Promise<void> => undefined,
    requests: [] as string[],
  }
  app.addHook('onRequest', async (request, reply) => {
    simulator.requests.push(request.url)
    const { hangs, refusal, isHtml } = simulator.faults
    if (hangs) return reply.hijack()
    if (refusal) return refuse(reply, refusal)
    if (isHtml) return reply.type('text/html').send('<html><body>Please wait</body></html>')
  })
  app.get<{ Querystring: { contractAddress?: string; first?: string; skip?: string } }>(
    '/v1/orders',
    (request) => {
      const { contractAddress, first, skip } = request.query
      const { faults, trades } = simulator
      const dropped = new Set(faults.dropped)
      const orders = [
        ...[...trades.values()]
          .filter(({ id, sent }) => sent[0]?.contractAddress === contractAddress && !dropped.has(id))
          .map((trade) => orderOf(trade, faults)),
        ...(contractAddress === undefined ? [] : [orderOnChain(contractAddress)]),
      ]
      const limit = Math.min(Number(first ?? PAGE_ROWS), faults.mostRows ?? PAGE_ROWS)
      const from = faults.repeatsPages ? 0 : Number(skip ?? 0)
      const data = faults.isEndless
        ? Array.from({ length: limit }, (_, at) => ({ id: `endless-${from + at}`, tradeId: '' }))
        : orders.slice(from, from + limit)
      return { data, total: orders.length + (faults.totalIsOffBy ?? 0) }
    },
  )
  app.get<{ Params: { id: string } }>('/v1/trades/:id', async (request, reply) => {
    const { id } = request.params
    await simulator.onTrade(id)
    const tradeRefusal = simulator.faults.tradeRefusals?.[id]
    if (tradeRefusal) return refuse(reply, tradeRefusal)
    const trade = simulator.faults.lies?.[id] ?? simulator.trades.get(id)
    if (trade === undefined) return reply.status(404).send({ ok: false, message: 'Trade not found' })
    return { ok: true, data: trade }
  })
  const address = await app.listen({ host, port })
  return Object.assign(simulator, { address, close: () => app.close() })
}

function refuse(reply: FastifyReply, { status, retryAfterS }: NonNullable<MarketplaceFaults['refusal']>) {
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS))
  return reply.status(status).send({ ok: false, message: 'Try again later' })
}

function orderOf(trade: TradeJson, { inMilliseconds, price }: MarketplaceFaults) {
  const [sent, received] = [trade.sent[0]!, trade.received[0]!]
  const timeOf = (ms: number) => (inMilliseconds ? ms : ms / 1_000)
  return {
    id: trade.id,
    tradeId: trade.id,
    marketplaceAddress: trade.contract,
    contractAddress: sent.contractAddress,
    tokenId: sent.tokenId,
    owner: trade.signer,
    buyer: '',
    price: price ?? received.amount,
    status: 'open',
    expiresAt: timeOf(trade.checks.expiration),
    createdAt: timeOf(trade.createdAt),
    updatedAt: timeOf(trade.createdAt),
    network: 'ETHEREUM',
    chainId: trade.chainId,
    issuedId: null,
  }
}

function orderOnChain(contractAddress: string) {
  return { id: `0x${'0c'.repeat(32)}`, tradeId: '', contractAddress, price: '1', status: 'open' }
}

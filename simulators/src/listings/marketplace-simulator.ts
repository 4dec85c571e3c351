import { isObject } from '@landpass/server/json-object'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { TradeJson } from './signed-listing.ts'
import type { RentalJson } from './signed-rental.ts'

/** What the server does wrong, as public ones do. Its names are those of the control calls. */
export interface MarketplaceFaults {
  /** Added to the total of a list. */
  readonly total_is_off_by?: number
  /** The most rows of a page, whatever a client asks for. */
  readonly most_rows?: number
  /** Times of orders in milliseconds, where public servers give seconds. */
  readonly in_milliseconds?: boolean
  /** Ids of orders that a list leaves out. */
  readonly left_out?: readonly string[]
  /** The price of every order, whatever was signed. */
  readonly price?: string
  /** Another content for some trades, by their ids. */
  readonly lies?: Readonly<Record<string, unknown>>
  /** A refusal in place of the answer about some trades, by their ids. */
  readonly trade_refusals?: Readonly<Record<string, Refusal>>
  /** A refusal in place of every answer. */
  readonly refusal?: Refusal
  /** A page of HTML in place of every answer. */
  readonly html?: boolean
  /** Every page of a list has the rows of the first one. */
  readonly repeats_pages?: boolean
  /** Every page is full of new names. */
  readonly endless?: boolean
  /** No answer at all. */
  readonly hangs?: boolean
}

interface Refusal {
  readonly status: number
  readonly retry_after_s?: number
}

/** What is allowed for each fault, to check what control calls send. */
const FORMS: Readonly<
  Record<keyof MarketplaceFaults, readonly [form: string, isGood: (value: unknown) => boolean]>
> = {
  total_is_off_by: ['a whole number', Number.isSafeInteger],
  most_rows: [
    'a whole number from 1 to 1000',
    (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= PAGE_ROWS,
  ],
  in_milliseconds: ['true or false', isBoolean],
  left_out: ['a list of ids', (value) => Array.isArray(value) && value.every((id) => typeof id === 'string')],
  price: ['a text of digits', (value) => typeof value === 'string' && /^\d{1,78}$/.test(value)],
  lies: ['an object by ids', isObject],
  trade_refusals: ['an object by ids', (value) => isObject(value) && Object.values(value).every(isRefusal)],
  refusal: ['{"status":429,"retry_after_s":60}', isRefusal],
  html: ['true or false', isBoolean],
  repeats_pages: ['true or false', isBoolean],
  endless: ['true or false', isBoolean],
  hangs: ['true or false', isBoolean],
}

/** The offers to rent that it has now, by their ids. */
export type RentalOffers = ReadonlyMap<string, RentalJson>

/** The trades that a marketplace server has now, by their ids, the oldest first. */
export type Trades = ReadonlyMap<string, TradeJson>

/** A marketplace server that plays the public one: the parts of it that programs read offers from. */
export interface MarketplaceSimulator {
  /** `http://127.0.0.1:4567` */
  readonly address: string
  /** Its own trades, and offers to rent. */
  readonly trades: Map<string, TradeJson>
  readonly rentals: Map<string, RentalJson>
  faults: MarketplaceFaults
  /** Awaited before the answer about a trade. */
  onTrade: (id: string) => Promise<void>
  /** The addresses of all requests for offers, without the host. */
  readonly requests: string[]
  close(): Promise<void>
}

const PAGE_ROWS = 1_000
const RENTAL_ROWS = 100
const CHAIN_TIMEOUT_MS = 10_000

/**
 * Starts the server, with faults on command: `GET` and `PATCH /simulator/settings`, `POST /simulator/reset`.
 *
 * @param chain address of a simulated chain whose players sign offers; without one it has only the trades that the caller gives it
 */
export async function startMarketplaceSimulator({
  host,
  port,
  chain,
}: {
  readonly host: string
  readonly port: number
  readonly chain?: string | undefined
}): Promise<MarketplaceSimulator> {
  const app = Fastify({ forceCloseConnections: true })
  const simulator = {
    trades: new Map<string, TradeJson>(),
    rentals: new Map<string, RentalJson>(),
    faults: {} as MarketplaceFaults,
    onTrade: async (_id: string): Promise<void> => undefined,
    requests: [] as string[],
  }
  await app.register(async (part) => {
    part.addHook('onRequest', async (request, reply) => {
      simulator.requests.push(request.url)
      if (simulator.requests.length > MOST_REQUESTS) simulator.requests.shift()
      const { hangs, refusal, html } = simulator.faults
      if (hangs) return reply.hijack()
      if (refusal) return refuse(reply, refusal)
      if (html) return reply.type('text/html').send('<html><body>Please wait</body></html>')
    })
    addMarketplaceRoutes(part, {
      trades: async () => (chain === undefined ? simulator.trades : (await offersOf(chain)).trades),
      rentals: async () => (chain === undefined ? simulator.rentals : (await offersOf(chain)).rentals),
      faults: () => simulator.faults,
      onTrade: (id) => simulator.onTrade(id),
    })
  })
  app.get('/simulator/settings', async () => simulator.faults)
  app.patch('/simulator/settings', async ({ body }, reply) => {
    const wrong = wrongFault(body)
    if (wrong !== undefined) return reply.status(400).send({ message: wrong })
    simulator.faults = { ...simulator.faults, ...(body as MarketplaceFaults) }
    return simulator.faults
  })
  app.post('/simulator/reset', async () => {
    simulator.faults = {}
    return { ok: true }
  })
  const address = await app.listen({ host, port })
  return Object.assign(simulator, { address, close: () => app.close() })
}

/** The newest requests are kept. */
const MOST_REQUESTS = 10_000

export interface MarketplaceSource {
  readonly trades: () => Promise<Trades>
  readonly rentals: () => Promise<RentalOffers>
  readonly faults?: () => MarketplaceFaults
  readonly onTrade?: (id: string) => Promise<void>
}

/**
 * Adds the routes of a marketplace server, `GET /v1/orders?contractAddress=&first=&skip=` and `GET /v1/trades/{id}`, and of a
 * rentals server, `GET /v1/rentals-listings?limit=&offset=`. Besides the orders of the trades each list has one that was made on the
 * chain.
 */
export function addMarketplaceRoutes(
  app: FastifyInstance,
  { trades, rentals, faults = () => ({}), onTrade = async () => undefined }: MarketplaceSource,
): void {
  app.get<{ Querystring: { contractAddress?: string; first?: string; skip?: string } }>(
    '/v1/orders',
    async (request) => {
      const { contractAddress, first, skip } = request.query
      const wrong = faults()
      const leftOut = new Set(wrong.left_out)
      const orders = [
        ...[...(await trades()).values()]
          .filter(({ id, sent }) => sent[0]?.contractAddress === contractAddress && !leftOut.has(id))
          .map((trade) => orderOf(trade, wrong)),
        ...(contractAddress === undefined ? [] : [orderOnChain(contractAddress)]),
      ]
      const limit = Math.min(Number(first ?? PAGE_ROWS), wrong.most_rows ?? PAGE_ROWS)
      const from = wrong.repeats_pages ? 0 : Number(skip ?? 0)
      const data = wrong.endless
        ? Array.from({ length: limit }, (_, at) => ({ id: `endless-${from + at}`, tradeId: '' }))
        : orders.slice(from, from + limit)
      return { data, total: orders.length + (wrong.total_is_off_by ?? 0) }
    },
  )
  app.get<{ Querystring: { limit?: string; offset?: string } }>('/v1/rentals-listings', async (request) => {
    const wrong = faults()
    const limit = Math.min(
      Number(request.query.limit ?? RENTAL_ROWS),
      RENTAL_ROWS,
      wrong.most_rows ?? RENTAL_ROWS,
    )
    const offset = wrong.repeats_pages ? 0 : Number(request.query.offset ?? 0)
    const leftOut = new Set(wrong.left_out)
    const listings = [...(await rentals()).values()].filter(({ id }) => !leftOut.has(id))
    const results = wrong.endless
      ? Array.from({ length: limit }, (_, at) => ({ id: `endless-${offset + at}` }))
      : listings.slice(offset, offset + limit)
    const total = listings.length + (wrong.total_is_off_by ?? 0)
    return {
      ok: true,
      data: { results, total, page: Math.floor(offset / limit), pages: Math.ceil(total / limit), limit },
    }
  })
  app.get<{ Params: { id: string } }>('/v1/trades/:id', async (request, reply) => {
    const { id } = request.params
    await onTrade(id)
    const { trade_refusals, lies } = faults()
    const refusal = trade_refusals?.[id]
    if (refusal) return refuse(reply, refusal)
    const trade = lies?.[id] ?? (await trades()).get(id)
    if (trade === undefined) return reply.status(404).send({ ok: false, message: 'Trade not found' })
    return { ok: true, data: trade }
  })
}

/** What players of a simulated chain offer. @throws where it does not answer */
async function offersOf(chain: string): Promise<{ trades: Trades; rentals: RentalOffers }> {
  const answer = await fetch(`${chain}/simulator/offers`, { signal: AbortSignal.timeout(CHAIN_TIMEOUT_MS) })
  if (!answer.ok) throw new Error(`the chain simulator answered with status ${answer.status}`)
  const { trades, rentals } = (await answer.json()) as OffersJson
  return { trades: byId(trades), rentals: byId(rentals) }
}

/** The answer of `GET /simulator/offers` of a simulated chain. */
export interface OffersJson {
  readonly trades: readonly TradeJson[]
  readonly rentals: readonly RentalJson[]
}

export function byId<Offer extends { readonly id: string }>(
  offers: readonly Offer[],
): ReadonlyMap<string, Offer> {
  return new Map(offers.map((offer) => [offer.id, offer]))
}

/** Why a body of faults is wrong; undefined where it is not. */
function wrongFault(body: unknown): string | undefined {
  if (!isObject(body)) return 'the body is a JSON object'
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(FORMS, name)) return `there is no setting ${name}`
    const [form, isGood] = FORMS[name as keyof MarketplaceFaults]
    if (!isGood(value)) return `${name} is ${form}`
  }
  return undefined
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isRefusal(value: unknown): boolean {
  const { status, retry_after_s = 0 } = (isObject(value) ? value : {}) as Partial<Refusal>
  return Number.isInteger(status) && status! >= 400 && status! <= 599 && Number.isSafeInteger(retry_after_s)
}

function refuse(reply: FastifyReply, { status, retry_after_s }: Refusal) {
  if (retry_after_s !== undefined) reply.header('retry-after', String(retry_after_s))
  return reply.status(status).send({ ok: false, message: 'Try again later' })
}

function orderOf(trade: TradeJson, { in_milliseconds, price }: MarketplaceFaults) {
  const [sent, received] = [trade.sent[0]!, trade.received[0]!]
  const timeOf = (ms: number) => (in_milliseconds ? ms : ms / 1_000)
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

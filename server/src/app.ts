import { setTimeout } from 'node:timers/promises'
import type { Coord } from '@landpass/client/grid'
import { isGift } from '@landpass/client/tokens'
import type { FastifyInstance } from 'fastify'
import { ChangeStream } from './api/changes/change-stream.ts'
import { SearchStreams } from './api/changes/search-streams.ts'
import { Pictures } from './api/images/pictures.ts'
import { type LandLink, type LandSummaryReading, landSummaryOf } from './api/land/land-summary.ts'
import { serveLandApi, VERSION_PREFIXES } from './api/land-api.ts'
import { LAND_SHAPES } from './api/land-shapes.ts'
import { type Attendance, createAttendance } from './attendance/attendance.ts'
import { GRANT_SIGNATURE_HEADER } from './attendance/grants/grant-routes.ts'
import { isOperator } from './attendance/issuers/own/made-events/operator-key.ts'
import { SHARE_SIZE } from './attendance/issuers/own/token-pictures/share-image.ts'
import { getToken } from './attendance/issuers/own/tokens/token-list-queries.ts'
import type { SignedToken } from './attendance/issuers/own/tokens/token-queries.ts'
import { SIGNED_FETCH_HEADERS } from './attendance/signed-fetch/signature-headers.ts'
import type { Chain } from './chain/chain.ts'
import { followerSeries, statusSeries } from './chain/chain-metrics.ts'
import { type OwnState, StatusReader } from './chain/follow/status-reader.ts'
import { RateLimiter } from './chain/rpc/rate-limiter.ts'
import { REAL_TIMING } from './chain/rpc/timing.ts'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from './clock.ts'
import { type Config, readConfig } from './config/config.ts'
import { checkDatabase } from './db/check-database.ts'
import { workerStates } from './db/distribution.ts'
import type { Engine } from './db/engine.ts'
import { CommandError } from './errors.ts'
import { cacheControlOf } from './freshness.ts'
import { rawClientAddress } from './http/client-address.ts'
import { CompressedBodies } from './http/compressed-bodies.ts'
import { type CostLimits, chargeRequests } from './http/cost-account.ts'
import { CostBudget } from './http/cost-budget.ts'
import { EventStreams } from './http/event-streams.ts'
import { healthRoutes, metricsRoute, type ReadinessChecks, within } from './http/health.ts'
import { LargeAnswers } from './http/large-answers.ts'
import { Metrics } from './http/metrics.ts'
import { type MetricsAddress, type MetricsServer, serveMetrics } from './http/metrics-server.ts'
import { describeRoutes, serveDescription } from './http/openapi.ts'
import { ReadyAnswers } from './http/ready-answers.ts'
import { createServer, logsRequests } from './http/server.ts'
import { Stopping } from './http/stopping.ts'
import type { WorkerGroup } from './http/worker-group.ts'
import { type RevisionRange, readChangedAssets } from './land/changes/change-journal.ts'
import { readLandHead } from './land/changes/land-head.ts'
import { type ListingsStatus, READINGS, type ReadingName, SERVERS } from './land/changes/listings-reading.ts'
import { MAINNET_REGISTRIES, type Registries } from './land/records/contracts.ts'
import {
  hideAbandonedOffers,
  ListingsReader,
  type ListingsReaderOptions,
} from './listings/listings-reader.ts'
import { ListingsStatusReader, readerSeries } from './listings/listings-status.ts'
import { MarketplaceServer } from './listings/marketplace-server.ts'
import type { OfferFeed } from './listings/offer-feed.ts'
import type { RentalContracts } from './listings/rental-listing.ts'
import { RentalsServer } from './listings/rentals-server.ts'
import { ServerClient } from './listings/server-client.ts'
import type { TradeContracts } from './listings/verify-trade.ts'
import { drawPlaces } from './map/place-picture.ts'
import { findingsOf } from './operation/find.ts'
import { operationRoutes } from './operation/operation-routes.ts'
import { servePages } from './site/pages.ts'
import { serveTokenPages, type TokenSummary } from './site/token-pages.ts'
import { translationRoutes } from './site/translations.ts'
import { StateKeeper } from './state/state-keeper.ts'
import { RecentFigure } from './work/recent-figure.ts'

/** The two interfaces of one deployment. */
export const INTERFACES = ['land', 'attendance'] as const
export type Interface = (typeof INTERFACES)[number]

export interface App {
  readonly server: FastifyInstance
  readonly metrics: Metrics
  /** Holds the state of the land; never started where the land is not served. */
  readonly keeper: StateKeeper
  /** Undefined where attendance is not served: then neither its settings nor its key are read. */
  readonly attendance: Attendance | undefined
  /** The port of the metrics, where they have one of their own and are served already. */
  metricsPort(): number | undefined
  /**
   * Serves the metrics if they have a port of their own, before `start()` where that has to wait for the database.
   *
   * @throws {CommandError} if the port cannot be used
   */
  startMetrics(): Promise<void>
  /**
   * Serves the metrics if that is not done yet, loads the world and starts the worker that settles claims, for those
   * interfaces that are served. Can be called again where it failed because the database was away.
   */
  start(): Promise<void>
  /**
   * Says that the server is not ready, and lets connections close after their next answer; everything is still served.
   * Resolves after `SHUTDOWN_DELAY_MS`, when balancers send no more requests, or when `signal` is aborted.
   */
  drain(signal?: AbortSignal): Promise<void>
  /** Stops accepting requests, waits for running ones, then releases everything except the engine. */
  close(): Promise<void>
}

export interface AppOptions {
  readonly config: Config
  readonly engine: Engine
  readonly clock: Clock
  /** Which interfaces to serve; both by default. */
  readonly interfaces?: readonly Interface[]
  /** Follows the chain in this process; undefined where it does not. */
  readonly chain?: FollowingChain | undefined
  /** Contracts of the network that the land is of; mainnet by default. */
  readonly registries?: Registries | undefined
  /** Contracts that signed offers of the network are about; undefined: none are read. */
  readonly tradeContracts?: TradeContracts | undefined
  /** Contracts that signed offers to rent are about; undefined: none are read. */
  readonly rentalContracts?: RentalContracts | undefined
  /** The other processes that serve with this one; undefined where it serves alone. */
  readonly group?: WorkerGroup | undefined
  /** Whether the land is that of the demo, which the map page says. */
  readonly isDemo?: boolean
  /** Where the program of the thread that reads the land lies, when it is bundled. */
  readonly stateThread?: URL | undefined
}

/** What follows the chain in this process. */
export interface FollowingChain {
  readonly chain: Chain
  /** What it does where it does not follow. */
  readonly ownState: () => OwnState | undefined
}

/** How long running requests may take after `close()`; then their connections are cut. */
const CLOSE_TIMEOUT_MS = 10 * SECOND_MS

/** Creates and connects all parts. The server does not listen yet, and nothing is loaded before `start()`. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, engine, clock, interfaces = INTERFACES, stateThread } = options
  const servesLand = interfaces.includes('land')
  const metrics = new Metrics(config.metrics)
  const budget = new CostBudget(config.readCostPerMinute)
  if (options.group && budget.isLimited) budget.shareWith(options.group)
  const costLimits = { budget, largeAnswers: new LargeAnswers() }
  const readyAnswers = new ReadyAnswers(metrics)
  const stopping = new Stopping()
  const server = await createServer({ ...config, metrics, readyAnswers, stopping })
  chargeRequests(server, costLimits)
  const keeper = new StateKeeper(engine, { ...config, stateThread }, server.log, clock)
  const closing = new AbortController()
  const callContract = await callContractOf(config, closing.signal)
  const attendance = interfaces.includes('attendance')
    ? await createAttendance({
        callContract,
        ...{ config, engine, clock, metrics, log: server.log, group: options.group },
        ...(servesLand && { drawPlaces: (places) => drawPlacesOf(keeper, places) }),
      })
    : undefined
  measureDatabase(metrics, engine, () => ({ writes: attendance !== undefined && !attendance.setupProblem }))
  const chainStatus = new StatusReader({
    db: engine.db,
    clock,
    network: options.chain?.chain.network,
    ownState: options.chain?.ownState,
  })

  const offers = READINGS.map((name) => new ListingsStatusReader(name, engine.db, clock))
  const offerReaders = servesLand
    ? offerReadersOf(options, { callContract, log: server.log, signal: closing.signal })
    : []

  await describeRoutes(server, {
    publicUrl: config.publicUrl,
    shapes: servesLand ? LAND_SHAPES : {},
    securitySchemes: attendance ? { ...SIGNED_FETCH_HEADERS, ...GRANT_SIGNATURE_HEADER } : {},
  })
  healthRoutes(server, {
    stopping,
    checks: readinessChecks(
      engine,
      servesLand ? { keeper, chainStatus, offers, clock } : undefined,
      attendance,
    ),
  })
  const { port: metricsPort, ...metricsAddress } = config.metrics
  if (metricsPort === undefined) metricsRoute(server, metrics, metricsAddress.path)
  measureCost(metrics, costLimits)
  readyAnswers.chargeTo(costLimits.budget, rawClientAddress(config.trustedProxies))
  const served = servesLand
    ? await serveLand({ server, metrics, keeper, chainStatus, offers, offerReaders, ...options })
    : undefined
  // Ready answers are sent without a log line, so they are off where every request is logged.
  if (!logsRequests(config.logLevel))
    readyAnswers.findWith((url) => attendance?.findReady(url) ?? served?.pictures.findReady(url))
  if (attendance) {
    serveTokenPages(server, {
      interfaces,
      publicUrl: config.publicUrl,
      shareSize: SHARE_SIZE,
      describeToken: async (id) => summaryOf(await getToken(engine.db, id)),
    })
    await attendance.register(server)
  }
  const startedAtMs = clock.nowMs()
  const { operatorKey } = config.attendance.makers
  operationRoutes(server, {
    isOperator: (request) => isOperator(request, operatorKey),
    find: findingsOf({
      ...{ engine, attendance },
      metrics: () => metrics.text(),
      served: servesLand
        ? { keeper, chainStatus, offers, clock, followsChain: options.chain !== undefined }
        : undefined,
    }),
  })
  for (const prefix of VERSION_PREFIXES) await server.register(translationRoutes, { prefix, startedAtMs })
  serveDescription(server)
  servePages(server, {
    interfaces,
    publicUrl: config.publicUrl,
    links: config.pageLinks,
    isDemo: options.isDemo === true,
    summaryOf: served?.summaryOf,
    offers: () => attendance?.offers(),
  })

  let metricsServer: MetricsServer | undefined
  let reading: Promise<unknown> | undefined
  const startMetrics = async () => {
    if (metricsPort === undefined || metricsServer) return
    metricsServer = await listenForMetrics(metrics, { ...metricsAddress, port: metricsPort })
  }
  return {
    server,
    metrics,
    keeper,
    attendance,
    metricsPort: () => metricsServer?.port,
    startMetrics,
    start: async () => {
      await startMetrics()
      await attendance?.open()
      attendance?.start()
      if (!servesLand) return
      await keeper.start()
      const ended = { db: engine.db, clock, timing: REAL_TIMING, signal: closing.signal }
      reading ??= Promise.all(
        READINGS.map(
          (name) =>
            offerReaders.find((reader) => reader.name === name)?.run() ??
            hideAbandonedOffers({ ...ended, name }),
        ),
      )
    },
    drain: async (signal) => {
      stopping.begin()
      await setTimeout(config.shutdownDelayMs, undefined, { signal }).catch(() => {})
    },
    close: async () => {
      const timeout = new AbortController()
      const cutting = setTimeout(CLOSE_TIMEOUT_MS, undefined, { signal: timeout.signal })
      cutting.then(() => server.server.closeAllConnections()).catch(() => {})
      await server.close()
      closing.abort()
      timeout.abort()
      await Promise.all([keeper.close(), attendance?.close(), metricsServer?.close(), reading])
    },
  }
}

/** Calls contracts at the nodes of the land, for wallets that are contracts; undefined where there are none. */
async function callContractOf({ chain }: Config, signal: AbortSignal) {
  if (chain.nodeUrls.length === 0) return undefined
  // Imported late: a server without nodes does not read this code
  const { contractCaller } = await import('./chain/rpc/contract-caller.ts')
  const { readNetwork } = await import('./chain/networks/read-network.ts')
  return contractCaller({ urls: chain.nodeUrls, network: await readNetwork(chain.network), signal })
}

/** Reads signed offers: nothing where that is off. */
function offerReadersOf(
  { config, engine, clock, tradeContracts, rentalContracts }: AppOptions,
  parts: Pick<ListingsReaderOptions, 'callContract' | 'log' | 'signal'>,
): readonly ListingsReader[] {
  const { listings, rentals } = config
  const { isShown } = listings
  const { signal } = parts
  const timing = REAL_TIMING
  // Each has its half, because another process may read from the other server.
  const servers = [listings.url, rentals.url].filter((url) => url !== undefined).length
  const rate = { maxInFlight: 1, callsPerSecond: listings.callsPerSecond / servers, random: Math.random }
  const clientOf = (name: ReadingName, url: string) => {
    const limiter = new RateLimiter({ ...rate, timing, signal })
    return new ServerClient({ what: SERVERS[name], url, limiter, timing, signal })
  }
  const readerOf = (feed: OfferFeed, intervalMs: number) =>
    new ListingsReader({ ...parts, db: engine.db, clock, feed, intervalMs, isShown, timing })
  const readers: ListingsReader[] = []
  if (listings.url !== undefined && tradeContracts) {
    const server = new MarketplaceServer(clientOf('listings', listings.url), tradeContracts)
    readers.push(readerOf(server, listings.intervalMs))
  }
  if (rentals.url !== undefined && rentalContracts) {
    const server = new RentalsServer(clientOf('rentals', rentals.url), rentalContracts)
    readers.push(readerOf(server, rentals.intervalMs))
  }
  return readers
}

function summaryOf(token: SignedToken): TokenSummary {
  const { id, eventName, eventLocation: place, number, timeS, revokedAtS } = token
  return { id, eventName, place, number, timeS, isGiven: isGift(token), isRevoked: revokedAtS !== null }
}

interface LandParts extends AppOptions {
  readonly server: FastifyInstance
  readonly metrics: Metrics
  readonly keeper: StateKeeper
  readonly chainStatus: StatusReader
  readonly offers: readonly ListingsStatusReader[]
  readonly offerReaders: readonly ListingsReader[]
}

/** Registers the land interface: JSON, map images and the change stream. @returns what other parts of the server use of it */
async function serveLand(parts: LandParts): Promise<ServedInterface> {
  const { server, metrics, keeper, config, engine, clock } = parts
  const { chainStatus, offers, offerReaders } = parts
  for (const status of offers) metrics.addSeries(status.series())
  for (const reader of offerReaders) metrics.addSeries(readerSeries(reader))
  metrics.addSeries(statusSeries(chainStatus, () => clock.nowMs()))
  if (parts.chain) metrics.addSeries(followerSeries(parts.chain.chain))
  const { registries = MAINNET_REGISTRIES } = parts
  const land = {
    db: engine.db,
    clock,
    world: config.world,
    registries,
    bodies: new CompressedBodies(),
    mapCacheControl: cacheControlOf(config.mapCaching),
    state: () => keeper.current(),
  }
  const pictures = new Pictures(land)
  const streamParts = {
    land,
    streams: new EventStreams(server, config.changeStreams),
    readChanges: async (worldId: number, range: RevisionRange) =>
      keeper.changesOf(worldId, range) ?? readChangedAssets(engine.db, worldId, range),
    log: server.log,
  }
  const changeStream = new ChangeStream({ ...streamParts, catchUp: () => keeper.refresh() })
  const searchStreams = new SearchStreams(streamParts)
  keeper.onReplaced(() => {
    changeStream.announceNewState()
    searchStreams.announceNewState()
  })
  for (const { gauges, counters } of [pictures, changeStream, searchStreams]) {
    metrics.addGauges(gauges)
    metrics.addCounters(counters)
  }
  metrics.addGauges([
    {
      name: 'landpass_land_revision',
      help: 'Revision of the land that the answers show.',
      read: () => keeper.revision,
    },
  ])
  await serveLandApi(server, {
    land,
    pictures,
    changeStream,
    searchStreams,
    chain: chainStatus,
    offers,
    settings: config,
  })
  return { pictures, summaryOf: (link) => landSummaryOf(land, link) }
}

interface ServedInterface {
  /** The cache of the images. */
  readonly pictures: Pictures
  readonly summaryOf: (link: LandLink) => LandSummaryReading | undefined
}

/** A picture of places on the current map; undefined before the land is loaded. */
function drawPlacesOf(keeper: StateKeeper, places: readonly Coord[]): Buffer | undefined {
  if (keeper.revision === 0) return undefined
  const { bounds, cells, parcels } = keeper.current().parts
  return drawPlaces({ bounds, cells, rowAt: parcels.rowAt, offers: undefined }, places)
}

/**
 * What `/health/ready` and its parts check. The land answers from memory, attendance from the database.
 *
 * @param served undefined where the land is not served
 * @param attendance undefined where attendance is not served
 */
function readinessChecks(
  engine: Engine,
  served: ServedLand | undefined,
  attendance: Attendance | undefined,
): ReadinessChecks {
  const land = served && (async () => landFacts(served))
  const workers = new RecentFigure(() => workerStates(engine.db), { maxAgeMs: 5 * SECOND_MS })
  const isConfigured = () => attendance !== undefined && !attendance.setupProblem
  const database = async () => {
    // Attendance that is not configured writes nothing.
    await checkDatabase(engine, { writes: isConfigured() })
    await readLandHead(engine.db)
    // After the database, whose failure says more: it keeps attendance from being opened
    if (isConfigured()) attendance?.assertConfigured()
    // Still ready: claims of events on other workers go on. Their addresses are in the metrics
    const down = [...((await workers.read()) ?? [])].filter(([, isUp]) => !isUp).length
    return down > 0 ? { workersDown: down } : {}
  }
  return {
    all: async () => ({ ...(await land?.()), ...(await database()) }),
    ...(land && { land }),
    ...(attendance && {
      attendance: async () => {
        attendance.assertConfigured()
        return database()
      },
    }),
  }
}

interface ServedLand {
  readonly keeper: StateKeeper
  readonly chainStatus: StatusReader
  readonly offers: readonly ListingsStatusReader[]
  readonly clock: Clock
}

/** The land is ready however old it is; where it comes from the chain, its age is one of the facts. */
async function landFacts({
  keeper,
  chainStatus,
  offers,
  clock,
}: ServedLand): Promise<Record<string, unknown>> {
  const { revision } = keeper.current()
  const readings = await Promise.all(
    offers.map(async (status) => {
      const read = await status.recent()
      return read && read.state !== 'off' ? [[status.name, listingsFacts(read, status)]] : []
    }),
  )
  const ofOffers = Object.fromEntries(readings.flat())
  const { block, state, reason } = (await chainStatus.recent()) ?? {}
  if (!block) return { revision, ...ofOffers }
  const ageSeconds = Math.max(Math.round((clock.nowMs() - Date.parse(block.time)) / SECOND_MS), 0)
  return {
    revision,
    chain: { state, block: block.number, ageSeconds, ...(reason && { reason }) },
    ...ofOffers,
  }
}

function listingsFacts(read: ListingsStatus, reader: ListingsStatusReader): Record<string, unknown> {
  const { state, reason } = read
  return { state, ageSeconds: reader.ageSeconds(read) ?? null, ...(reason && { reason }) }
}

function measureDatabase(metrics: Metrics, engine: Engine, needs: () => { readonly writes: boolean }): void {
  // Within less than the figure waits: while the database hangs, it would stay the last one
  const check = within(SECOND_MS / 2, async () => {
    await checkDatabase(engine, needs())
    return {}
  })
  const isUp = () =>
    check().then(
      () => true,
      () => false,
    )
  const figure = new RecentFigure(isUp, { maxAgeMs: 5 * SECOND_MS })
  metrics.addSeries([
    {
      kind: 'gauge',
      name: 'landpass_database_up',
      help: 'Whether the database answers, and accepts changes where attendance is served: 1 or 0.',
      labelNames: [],
      read: async () => [{ labels: {}, value: Number((await figure.read()) ?? false) }],
    },
  ])
  const connections = 'landpass_database_connections'
  metrics.addGauges([
    { name: `${connections}_total`, help: 'Open database connections.', read: () => engine.pool().total },
    { name: `${connections}_idle`, help: 'Idle database connections.', read: () => engine.pool().idle },
    {
      name: `${connections}_waiting`,
      help: 'Queries that wait for a database connection.',
      read: () => engine.pool().waiting,
    },
  ])
}

/** @throws {CommandError} if the port cannot be used */
async function listenForMetrics(metrics: Metrics, address: MetricsAddress): Promise<MetricsServer> {
  try {
    return await serveMetrics(metrics, address)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const where = `${address.host}:${address.port}`
    throw new CommandError(
      `Cannot serve the metrics on ${where} (${code}). Check METRICS_HOST and METRICS_PORT.`,
    )
  }
}

function measureCost(metrics: Metrics, { budget, largeAnswers }: CostLimits): void {
  metrics.addGauges([
    {
      name: 'landpass_cost_addresses',
      help: 'Network addresses that have a budget of cost.',
      read: () => budget.size,
    },
    {
      name: 'landpass_large_answers',
      help: 'Large answers that are being sent.',
      read: () => largeAnswers.size,
    },
  ])
  metrics.addCounters([
    {
      name: 'landpass_cost_units_total',
      help: 'Charged cost of all answers, in reads of one parcel.',
      read: () => budget.charged,
    },
    {
      name: 'landpass_cost_refused_total',
      help: 'Requests of addresses that had used up their budget.',
      read: () => budget.refused,
    },
    {
      name: 'landpass_large_answers_refused_total',
      help: 'Large answers that were refused because too many were being sent.',
      read: () => largeAnswers.refused,
    },
  ])
}

/** The document of `/openapi.json` with the default settings. It only describes routes, so it needs no database. */
export async function openApiDocument(): Promise<object> {
  const config = readConfig({ LOG_LEVEL: 'silent' })
  const { server } = await createApp({ config, engine: NO_ENGINE, clock: SYSTEM_CLOCK })
  await server.ready()
  const document = server.swagger()
  await server.close()
  return document
}

/** Stands in for the engine where routes are described and never called. */
const NO_ENGINE = Object.freeze({}) as Engine

import { setTimeout } from 'node:timers/promises'
import type { Coord } from '@landpass/client/grid'
import { isGift } from '@landpass/client/tokens'
import type { FastifyInstance } from 'fastify'
import { ChangeStream } from './api/changes/change-stream.ts'
import { SearchStreams } from './api/changes/search-streams.ts'
import { momentsOf } from './api/common/land-moment.ts'
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
import { REAL_TIMING } from './chain/rpc/timing.ts'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from './clock.ts'
import { type Config, readConfig } from './config/config.ts'
import type { Engine } from './db/engine.ts'
import { CommandError } from './errors.ts'
import { cacheControlOf } from './freshness.ts'
import { rawClientAddress } from './http/client-address.ts'
import { CompressedBodies } from './http/compressed-bodies.ts'
import { chargeRequests } from './http/cost-account.ts'
import { CostBudget } from './http/cost-budget.ts'
import { costFigures } from './http/cost-figures.ts'
import { EventStreams } from './http/event-streams.ts'
import { healthRoutes, metricsRoute } from './http/health.ts'
import { LargeAnswers } from './http/large-answers.ts'
import { Metrics } from './http/metrics.ts'
import { type MetricsAddress, type MetricsServer, serveMetrics } from './http/metrics-server.ts'
import { describeRoutes, serveDescription } from './http/openapi.ts'
import { ReadyAnswers } from './http/ready-answers.ts'
import { serveRoutes } from './http/routes.ts'
import { createServer, logsRequests } from './http/server.ts'
import { Stopping } from './http/stopping.ts'
import type { WorkerGroup } from './http/worker-group.ts'
import { type RevisionRange, readChangedAssets } from './land/changes/change-journal.ts'
import { READINGS } from './land/changes/listings-reading.ts'
import { MAINNET_REGISTRIES, type Registries } from './land/records/contracts.ts'
import { hideAbandonedOffers, type ListingsReader } from './listings/listings-reader.ts'
import { ListingsStatusReader, readerSeries } from './listings/listings-status.ts'
import { offerReaders } from './listings/offer-readers.ts'
import type { RentalContracts } from './listings/rental-listing.ts'
import type { TradeContracts } from './listings/verify-trade.ts'
import { drawPlaces } from './map/place-picture.ts'
import { connectionGauges, databaseUpSeries } from './operation/database-figures.ts'
import { findingsOf } from './operation/find.ts'
import { operationRoutes } from './operation/operation-routes.ts'
import { readinessChecks } from './operation/readiness.ts'
import { servePages } from './site/pages.ts'
import { serveTokenPages, type TokenSummary } from './site/token-pages.ts'
import { translationRoutes } from './site/translations.ts'
import type { ReadLand } from './state/read-in-thread.ts'
import { StateKeeper } from './state/state-keeper.ts'

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
  /** How all of the land is read from the tables; in a thread by default. */
  readonly readLand?: ReadLand | undefined
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
  const { config, engine, clock, interfaces = INTERFACES, readLand } = options
  const servesLand = interfaces.includes('land')
  const metrics = new Metrics(config.metrics)
  const budget = new CostBudget(config.readCostPerMinute)
  if (options.group && budget.isLimited) budget.shareWith(options.group)
  const costLimits = { budget, largeAnswers: new LargeAnswers() }
  // They are sent without a log line
  const readyAnswers = logsRequests(config.logLevel) ? undefined : new ReadyAnswers(metrics)
  const stopping = new Stopping()
  const server = await createServer({ ...config, metrics, readyAnswers, stopping })
  chargeRequests(server, costLimits)
  const keeper = new StateKeeper(engine, { ...config, readLand }, server.log, clock)
  const closing = new AbortController()
  const callContract = await callContractOf(config, closing.signal)
  const attendance = interfaces.includes('attendance')
    ? await createAttendance({
        callContract,
        ...{ config, engine, clock, metrics, log: server.log, group: options.group },
        ...(servesLand && { drawPlaces: (places) => drawPlacesOf(keeper, places) }),
      })
    : undefined
  metrics.addSeries([databaseUpSeries(engine, attendance)])
  metrics.addGauges(connectionGauges(engine))
  const chainStatus = new StatusReader({
    db: engine.db,
    clock,
    network: options.chain?.chain.network,
    ownState: options.chain?.ownState,
  })

  const offers = READINGS.map((name) => new ListingsStatusReader(name, engine.db, clock))
  const readerParts = { db: engine.db, clock, timing: REAL_TIMING, signal: closing.signal }
  const readers = servesLand
    ? offerReaders(
        config,
        { trades: options.tradeContracts, rentals: options.rentalContracts },
        { ...readerParts, callContract, log: server.log },
      )
    : []

  await describeRoutes(server, {
    publicUrl: config.publicUrl,
    shapes: servesLand ? LAND_SHAPES : {},
    securitySchemes: attendance ? { ...SIGNED_FETCH_HEADERS, ...GRANT_SIGNATURE_HEADER } : {},
  })
  const servedLand = servesLand ? { keeper, chainStatus, offers, clock } : undefined
  healthRoutes(server, { stopping, checks: readinessChecks(engine, servedLand, attendance) })
  const { port: metricsPort, ...metricsAddress } = config.metrics
  if (metricsPort === undefined) metricsRoute(server, metrics, metricsAddress.path)
  metrics.addFigures(costFigures(costLimits))
  readyAnswers?.chargeTo(costLimits.budget, rawClientAddress(config.trustedProxies))
  const describeLand = servesLand
    ? await serveLand({ server, metrics, keeper, chainStatus, offers, readers, ...options })
    : undefined
  if (attendance) {
    readyAnswers?.findWith((url) => attendance.findReady(url))
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
      served: servedLand && { ...servedLand, followsChain: options.chain !== undefined },
    }),
  })
  for (const prefix of VERSION_PREFIXES) await serveRoutes(server, translationRoutes, { startedAtMs }, prefix)
  serveDescription(server)
  servePages(server, {
    interfaces,
    publicUrl: config.publicUrl,
    links: config.pageLinks,
    isDemo: options.isDemo === true,
    summaryOf: describeLand,
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
      reading ??= Promise.all(
        READINGS.map(
          (name) =>
            readers.find((reader) => reader.name === name)?.run() ??
            hideAbandonedOffers({ ...readerParts, name }),
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
  readonly readers: readonly ListingsReader[]
}

/** Registers the land interface: JSON, map images and the change stream. @returns the function that describes the land of a link */
async function serveLand(parts: LandParts): Promise<(link: LandLink) => LandSummaryReading | undefined> {
  const { server, metrics, keeper, config, engine, clock } = parts
  const { chainStatus, offers, readers } = parts
  for (const status of offers) metrics.addSeries(status.series())
  for (const reader of readers) metrics.addSeries(readerSeries(reader))
  metrics.addSeries(statusSeries(chainStatus, () => clock.nowMs()))
  if (parts.chain) metrics.addSeries(followerSeries(parts.chain.chain))
  const { registries = MAINNET_REGISTRIES } = parts
  const state = () => keeper.current()
  const moment = momentsOf(state, clock)
  const heldAnswers = server.readyAnswers?.holdDuring(moment)
  const land = {
    db: engine.db,
    clock,
    world: config.world,
    registries,
    bodies: new CompressedBodies(),
    mapCacheControl: cacheControlOf(config.mapCaching),
    state,
    moment,
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
    heldAnswers?.dropOlder()
    changeStream.announceNewState()
    searchStreams.announceNewState()
  })
  for (const figures of [pictures, changeStream, searchStreams]) metrics.addFigures(figures)
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
  return (link: LandLink) => landSummaryOf(land, link)
}

/** A picture of places on the current map; undefined before the land is loaded. */
function drawPlacesOf(keeper: StateKeeper, places: readonly Coord[]): Buffer | undefined {
  if (keeper.revision === 0) return undefined
  const { bounds, cells, parcels } = keeper.current().parts
  return drawPlaces({ bounds, cells, rowAt: parcels.rowAt, offers: undefined }, places)
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

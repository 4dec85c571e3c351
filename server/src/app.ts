import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { ChangeStream } from './api/changes/change-stream.ts'
import { Pictures } from './api/images/pictures.ts'
import { serveLandApi, VERSION_PREFIXES } from './api/land-api.ts'
import { LAND_SHAPES } from './api/land-shapes.ts'
import { type Attendance, createAttendance } from './attendance/attendance.ts'
import { SIGNED_FETCH_HEADERS } from './attendance/signed-fetch/signature-headers.ts'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from './clock.ts'
import { type Config, readConfig } from './config/config.ts'
import { checkDatabase } from './db/check-database.ts'
import type { Engine } from './db/engine.ts'
import { rawClientAddress } from './http/client-address.ts'
import { CompressedBodies } from './http/compressed-bodies.ts'
import { CostBudget } from './http/cost-budget.ts'
import { EventStreams } from './http/event-streams.ts'
import { healthRoutes, type ReadinessChecks } from './http/health.ts'
import { LargeAnswers } from './http/large-answers.ts'
import { watchMethods } from './http/methods.ts'
import { Metrics } from './http/metrics.ts'
import { describeRoutes, serveDescription } from './http/openapi.ts'
import { ReadyAnswers } from './http/ready-answers.ts'
import { createServer, logsRequests } from './http/server.ts'
import { Stopping } from './http/stopping.ts'
import { readChangedAssets } from './land/changes/change-journal.ts'
import { readLandHead } from './land/changes/land-head.ts'
import { servePages } from './site/pages.ts'
import { translationRoutes } from './site/translations.ts'
import { StateKeeper } from './state/state-keeper.ts'

/** The two interfaces of one deployment. */
export const INTERFACES = ['land', 'attendance'] as const
export type Interface = (typeof INTERFACES)[number]

export interface App {
  readonly server: FastifyInstance
  /** Holds the state of the land; never started where the land is not served. */
  readonly keeper: StateKeeper
  /** Undefined where attendance is not served: then neither its settings nor its key are read. */
  readonly attendance: Attendance | undefined
  /** Loads the world and starts the worker that settles claims, for those interfaces that are served. */
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
}

/** How long running requests may take after `close()`; then their connections are cut. */
const CLOSE_TIMEOUT_MS = 10 * SECOND_MS

/** Creates and connects all parts. The server does not listen yet, and nothing is loaded before `start()`. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, engine, clock, interfaces = INTERFACES } = options
  const servesLand = interfaces.includes('land')
  const metrics = new Metrics()
  const readyAnswers = new ReadyAnswers(metrics)
  const stopping = new Stopping()
  const server = await createServer({ ...config, metrics, readyAnswers, stopping })
  const addRefusals = watchMethods(server)
  const keeper = new StateKeeper(engine, config, server.log, clock)
  const attendance = interfaces.includes('attendance')
    ? await createAttendance({ config, engine, clock, metrics, log: server.log })
    : undefined
  measureDatabase(metrics, engine)

  await describeRoutes(server, {
    publicUrl: config.publicUrl,
    shapes: servesLand ? LAND_SHAPES : {},
    securitySchemes: attendance ? SIGNED_FETCH_HEADERS : {},
  })
  healthRoutes(server, {
    metrics,
    stopping,
    checks: readinessChecks(engine, servesLand ? keeper : undefined, attendance),
  })
  if (servesLand) await serveLand({ server, metrics, readyAnswers, keeper, ...options })
  await attendance?.register(server)
  const startedAtMs = clock.nowMs()
  for (const prefix of VERSION_PREFIXES) await server.register(translationRoutes, { prefix, startedAtMs })
  await serveDescription(server)
  servePages(server, { interfaces })
  addRefusals()

  return {
    server,
    keeper,
    attendance,
    start: async () => {
      attendance?.start()
      if (servesLand) await keeper.start()
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
      timeout.abort()
      await Promise.all([keeper.close(), attendance?.close()])
    },
  }
}

interface LandParts extends AppOptions {
  readonly server: FastifyInstance
  readonly metrics: Metrics
  readonly readyAnswers: ReadyAnswers
  readonly keeper: StateKeeper
}

/** Registers the land interface: JSON, map images and the change stream. */
async function serveLand(parts: LandParts): Promise<void> {
  const { server, metrics, readyAnswers, keeper, config, engine, clock } = parts
  const land = {
    db: engine.db,
    clock,
    world: config.world,
    bodies: new CompressedBodies(),
    state: () => keeper.current(),
  }
  const budget = new CostBudget(config.landCostPerMinute)
  const costLimits = { budget, largeAnswers: new LargeAnswers() }
  readyAnswers.chargeTo(budget, rawClientAddress(config.trustedProxies))
  const pictures = new Pictures(land)
  const changeStream = new ChangeStream({
    land,
    streams: new EventStreams(server, config.changeStreams),
    readChanges: (worldId, range) => readChangedAssets(engine.db, worldId, range),
    catchUp: () => keeper.refresh(),
    log: server.log,
  })
  keeper.onReplaced(() => changeStream.announceNewState())
  for (const { gauges, counters } of [pictures, changeStream]) {
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
  await serveLandApi(server, { land, pictures, changeStream, settings: config, costLimits })
  // Ready answers are sent without a log line, so they are off where every request is logged.
  if (!logsRequests(config.logLevel)) readyAnswers.findWith((url) => pictures.findReady(url))
}

/**
 * What `/health/ready` and its parts check. The land answers from memory, attendance from the database.
 *
 * @param keeper undefined where the land is not served
 * @param attendance undefined where attendance is not served
 */
function readinessChecks(
  engine: Engine,
  keeper: StateKeeper | undefined,
  attendance: Attendance | undefined,
): ReadinessChecks {
  const land = keeper && (async () => ({ revision: keeper.current().revision }))
  const database = async () => {
    await checkDatabase(engine, { writes: attendance !== undefined })
    await readLandHead(engine.db)
    return {}
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

function measureDatabase(metrics: Metrics, engine: Engine): void {
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

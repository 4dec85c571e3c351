import type { FastifyInstance } from 'fastify'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from './clock.ts'
import { type Config, readConfig } from './config.ts'
import type { Engine } from './db/engine.ts'
import { AppError } from './errors.ts'
import { healthRoutes } from './http/health.ts'
import { watchMethods } from './http/methods.ts'
import { Metrics } from './http/metrics.ts'
import { describeRoutes, serveDescription } from './http/openapi.ts'
import { sendReadyAnswers } from './http/ready-answers.ts'
import { createServer, logsRequests } from './http/server.ts'
import { landRoutes } from './land/land-routes.ts'
import { readLandState } from './land/land-state.ts'
import { PresentKeeper } from './land/present/present-keeper.ts'
import { LAND_SHAPES } from './land/schemas.ts'
import { tileRoutes } from './land/tiles/tile-routes.ts'
import { v2Routes } from './land/v2-routes.ts'
import { imageRoutes } from './map/image-routes.ts'
import { Pictures } from './map/pictures.ts'
import { pyramidRoutes } from './map/pyramid-routes.ts'
import { frontPage } from './site/front-page.ts'
import { translationRoutes } from './site/translations.ts'

export interface App {
  readonly server: FastifyInstance
  readonly keeper: PresentKeeper
  /** Stops taking requests, finishes those that run, then lets go of everything but the engine. */
  close(): Promise<void>
}

export interface AppOptions {
  readonly config: Config
  readonly engine: Engine
  readonly clock: Clock
}

const VERSION_PREFIX = '/v1'
/** Tokens, and whatever else the older version never had. */
const NEWER_PREFIX = '/v2'
/** How long a running answer may take once the server was told to stop. */
const CLOSE_PATIENCE_MS = 10 * SECOND_MS

/** Puts the parts together. The server does not listen yet, and the world is not loaded until `keeper.start()`. */
export async function createApp({ config, engine, clock }: AppOptions): Promise<App> {
  const metrics = new Metrics()
  const server = await createServer({ ...config, metrics })
  const addRefusals = watchMethods(server)
  const keeper = new PresentKeeper(engine, config, server.log)
  const land = { db: engine.db, clock, world: config.world, present: () => keeper.current() }
  const pictures = new Pictures(land)
  measure(metrics, engine, keeper)
  metrics.addGauges(pictures.gauges)
  metrics.addCounters(pictures.counters)

  await describeRoutes(server, { publicUrl: config.publicUrl, shapes: LAND_SHAPES })
  healthRoutes(server, { metrics, isReady: () => readiness(engine, keeper) })
  const startedAtMs = clock.nowMs()
  for (const prefix of ['', VERSION_PREFIX]) {
    await server.register(landRoutes, { prefix, land })
    await server.register(imageRoutes, { prefix, land, pictures })
    await server.register(pyramidRoutes, { prefix, land, pictures, publicUrl: config.publicUrl })
    await server.register(translationRoutes, { prefix, startedAtMs })
  }
  await server.register(tileRoutes, { land })
  await server.register(v2Routes, { prefix: NEWER_PREFIX, land, settings: config })
  await serveDescription(server)
  frontPage(server)
  addRefusals()
  // Ready answers are sent without a line in the log.
  if (!logsRequests(config.logLevel)) sendReadyAnswers(server, metrics, (url) => pictures.findReady(url))

  return {
    server,
    keeper,
    close: async () => {
      const patience = setTimeout(() => server.server.closeAllConnections(), CLOSE_PATIENCE_MS)
      await server.close()
      clearTimeout(patience)
      await keeper.close()
    },
  }
}

async function readiness(engine: Engine, keeper: PresentKeeper) {
  const { revision } = keeper.current()
  try {
    await readLandState(engine.db)
  } catch {
    throw new AppError('database_unavailable', 'The database does not answer.')
  }
  return { revision }
}

function measure(metrics: Metrics, engine: Engine, keeper: PresentKeeper): void {
  const connections = 'landpass_database_connections'
  metrics.addGauges([
    {
      name: 'landpass_land_revision',
      help: 'Revision of the land that is answered.',
      read: () => keeper.revision,
    },
    { name: `${connections}_total`, help: 'Open database connections.', read: () => engine.pool().total },
    { name: `${connections}_idle`, help: 'Database connections at rest.', read: () => engine.pool().idle },
    { name: `${connections}_waiting`, help: 'Callers that wait for one.', read: () => engine.pool().waiting },
  ])
}

/** What `/openapi.json` says with the default settings. No route is called for it, so no database is needed. */
export async function openApiDocument(): Promise<object> {
  const config = readConfig({ LOG_LEVEL: 'silent' })
  const { server } = await createApp({ config, engine: NO_ENGINE, clock: SYSTEM_CLOCK })
  await server.ready()
  const document = server.swagger()
  await server.close()
  return document
}

/** Only described, never asked: whoever asks it all the same is told so by the error of an undefined method. */
const NO_ENGINE = Object.freeze({}) as Engine

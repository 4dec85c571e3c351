import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, SECOND_MS } from '../clock.ts'
import type { Config, IssuerConfig } from '../config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import type { Metrics } from '../http/metrics.ts'
import type { AttendanceContext } from './attendance-context.ts'
import { AttendanceMetrics } from './attendance-metrics.ts'
import { captchaRoutes } from './captcha/captcha-routes.ts'
import { Captchas } from './captcha/captchas.ts'
import { claimRoutes } from './claims/claim-routes.ts'
import { ClaimWorker } from './claims/claim-worker.ts'
import { Claims } from './claims/claims.ts'
import { findAnySealed } from './codes/code-queries.ts'
import { codeRoutes } from './codes/code-routes.ts'
import { EditCodeGuard } from './edit-code-guard.ts'
import { CodeCountCache } from './events/code-count-cache.ts'
import { EventCache } from './events/event-cache.ts'
import { eventRoutes } from './events/event-routes.ts'
import { PoapIssuer } from './issuer/poap-issuer.ts'
import { findOrMakeKey } from './key-file.ts'
import { registerLimits } from './limits.ts'
import { PresenceProviders } from './presence/presence-providers.ts'
import { Refusals } from './refusals.ts'
import { reportRoutes } from './report/report-routes.ts'
import { SignedFetch } from './signed-fetch/signed-fetch.ts'
import { Tidying } from './tidying.ts'
import { Vault } from './vault.ts'

export interface AttendanceOptions {
  readonly config: Config
  readonly engine: Engine
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: FastifyBaseLogger
}

/** The attendance interface: its routes, and the work that goes on behind them. */
export interface Attendance {
  /** Why the operator has to act before anything works; undefined: it does. */
  readonly obstacle: Obstacle | undefined
  register(app: FastifyInstance): Promise<void>
  /** Begins to look after claims. */
  start(): void
  /** Finishes what runs, or hands it over. */
  close(): Promise<void>
}

export interface Obstacle {
  /** Settings that are missing, or are not what they have to be. */
  readonly settings: readonly string[]
  /** For the operator, without a full stop. */
  readonly reason: string
}

/** How long steps of claims that run may take once the server was told to stop. */
const CLOSE_PATIENCE_MS = 10 * SECOND_MS
/** Never used: whatever would need them is refused before, by `assertConfigured`. */
const NO_KEY = Buffer.alloc(32)
const NOBODY = { apiKey: 'none', clientId: 'none', clientSecret: 'none' }

/** Puts the parts of the attendance interface together. */
export async function createAttendance(options: AttendanceOptions): Promise<Attendance> {
  const { config, engine, clock, metrics, log } = options
  const { db } = engine
  const { attendance: settings } = config
  const measured = new AttendanceMetrics(metrics, db)
  const missing = findMissing(settings.issuer, settings.key, engine)
  const vault = new Vault(missing ? NO_KEY : await findKey(options))
  const obstacle = missing ?? (await findOtherKey(db, vault))
  const isConfigured = obstacle === undefined
  const issuerSettings = isConfigured ? settings.issuer : { ...settings.issuer, ...NOBODY }
  const issuer = new PoapIssuer({ config: issuerSettings, db, vault, clock, onCall: measured.onIssuerCall })
  const worker = new ClaimWorker({
    db,
    clock,
    vault,
    issuer,
    callsPerSecond: settings.issuer.callsPerSecond,
    log,
    onStep: measured.onStep,
  })
  const captchas = new Captchas({
    db,
    vault,
    clock,
    proofOfWorkBits: settings.proofOfWorkBits,
    onResult: measured.onCaptcha,
  })
  const signedFetch = new SignedFetch({
    db,
    clock,
    windowMs: settings.signatureWindowMs,
    publicUrl: config.publicUrl,
    onResult: measured.onSignature,
  })
  const guard = new EditCodeGuard({ db, clock })
  const refusals = new Refusals({ db, clock })
  const presence = new PresenceProviders({
    config: settings.presence,
    clock,
    onAnswer: measured.onPresence,
  })
  const codeCounts = new CodeCountCache(db)
  const claims = new Claims({ db, clock, worker, signedFetch, codeCounts, waitMs: settings.claimWaitMs })
  const tidying = new Tidying({ captchas, signedFetch, guard, refusals, log })

  const parts = {
    db,
    clock,
    world: config.world,
    config: settings,
    vault,
    issuer,
    presence,
    captchas,
    signedFetch,
    guard,
    claims,
    events: new EventCache(db),
    codeCounts,
    refusals,
    assertConfigured: () => assertConfigured(obstacle),
    onClaim: measured.onClaim,
  }

  return {
    obstacle,
    register: async (app) => {
      await app.register((scope) => addRoutes(scope, parts))
    },
    start: () => {
      if (!isConfigured) return
      worker.start()
      tidying.start()
    },
    close: async () => {
      if (!isConfigured) return
      await worker.close(CLOSE_PATIENCE_MS)
      await tidying.close()
    },
  }
}

/** All endpoints, under the same limits. */
async function addRoutes(
  scope: FastifyInstance,
  parts: Omit<AttendanceContext, 'countPlayer'>,
): Promise<void> {
  // Not to be logged: people put edit codes into queries, and into the place of an event's number.
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, isAddressPrivate: true }
  })
  const limits = await registerLimits(scope, parts.config.limits)
  const attendance = { ...parts, countPlayer: limits.playerLimit }
  await scope.register(eventRoutes, { attendance, limits })
  await scope.register(codeRoutes, { attendance, limits })
  await scope.register(claimRoutes, { attendance, limits })
  await scope.register(reportRoutes, { attendance, limits })
  await scope.register(captchaRoutes, { ...attendance, clientLimit: limits.clientLimit })
}

async function findKey({ config, log }: AttendanceOptions): Promise<Buffer> {
  const { key } = config.attendance
  if (key) return key
  const file = await findOrMakeKey(config.dataDir)
  if (file.isNew) log.info({ path: file.path }, 'made a key for claim codes: keep a copy of this file')
  return file.key
}

/** With PostgreSQL there are several processes, which must share one key: none is made up there. */
function findMissing(
  { apiKey, clientId, clientSecret }: IssuerConfig,
  key: Buffer | undefined,
  { kind }: Engine,
): Obstacle | undefined {
  const needed = {
    ISSUER_API_KEY: apiKey,
    ISSUER_CLIENT_ID: clientId,
    ISSUER_CLIENT_SECRET: clientSecret,
    ATTENDANCE_KEY: kind === 'embedded' ? true : key,
  }
  const settings = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []))
  return settings.length === 0 ? undefined : { settings, reason: `without ${settings.join(', ')}` }
}

/**
 * A claim could do nothing with codes that cannot be read, and loading them again would store each a second time,
 * since their fingerprints are others. So nothing is touched until the right key is back.
 */
async function findOtherKey(db: Db, vault: Vault): Promise<Obstacle | undefined> {
  const sealed = await findAnySealed(db)
  if (!sealed || vault.canOpen('claim-code', sealed)) return undefined
  return {
    settings: ['ATTENDANCE_KEY'],
    reason: 'with another ATTENDANCE_KEY than the one that the stored claim codes were encrypted with',
  }
}

function assertConfigured(obstacle: Obstacle | undefined): void {
  if (!obstacle) return
  throw new AppError(
    'attendance_not_configured',
    `This server was started ${obstacle.reason}: the operator has to set what attendance needs.`,
    { missing: obstacle.settings },
  )
}

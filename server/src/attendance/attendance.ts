import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, SECOND_MS } from '../clock.ts'
import type { AttendanceConfig, Config, LimitsConfig } from '../config/config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { databaseUnavailable } from '../db/statement-error.ts'
import { CommandError } from '../errors.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ReadyAnswer } from '../http/ready-answers.ts'
import { AttendanceMetrics } from './attendance-metrics.ts'
import { type CaptchaRouteOptions, captchaRoutes } from './captcha/captcha-routes.ts'
import { Captchas } from './captcha/captchas.ts'
import { ClaimQueue } from './claims/claim-queue.ts'
import { type ClaimRouteOptions, claimRoutes } from './claims/claim-routes.ts'
import { ClaimRules } from './claims/claim-rules.ts'
import { ClaimWorker } from './claims/claim-worker.ts'
import { Claims, type ClaimsOptions } from './claims/claims.ts'
import { Cleanup } from './cleanup.ts'
import { CodeLoader } from './codes/code-loader.ts'
import { type CodeRouteOptions, codeRoutes } from './codes/code-routes.ts'
import { EditCodeGuard } from './edit-code-guard.ts'
import { CodeCountCache } from './events/code-count-cache.ts'
import { EventCache } from './events/event-cache.ts'
import { EventHolds } from './events/event-holds.ts'
import { type EventRouteOptions, eventRoutes } from './events/event-routes.ts'
import { Organisers } from './events/organisers.ts'
import { type GrantRouteOptions, grantRoutes } from './grants/grant-routes.ts'
import { Grants } from './grants/grants.ts'
import { GuessChallenges } from './guess-challenge.ts'
import type { Issuer } from './issuer/issuer.ts'
import { isOwnEvent } from './issuer/own-event-ids.ts'
import { PoapIssuer } from './issuer/poap-issuer.ts'
import { type Limits, registerLimits } from './limits.ts'
import { OrganiserPasses } from './organiser-passes.ts'
import { type ApprovalRouteOptions, approvalRoutes } from './own-issuer/approval-routes.ts'
import { Approvals } from './own-issuer/approvals.ts'
import { EventMaker, type EventMakerOptions } from './own-issuer/event-maker.ts'
import { type IssuerKeyRouteOptions, issuerKeyRoutes } from './own-issuer/issuer-key-routes.ts'
import { Issuers } from './own-issuer/issuers.ts'
import { type MadeEventRouteOptions, madeEventRoutes } from './own-issuer/made-event-routes.ts'
import { isOperator } from './own-issuer/operator-key.ts'
import { OwnIssuer } from './own-issuer/own-issuer.ts'
import { revocationRoutes } from './own-issuer/revocation-routes.ts'
import { SharePictures } from './own-issuer/share-pictures.ts'
import { TokenAnswers } from './own-issuer/token-answers.ts'
import { TokenKeys, tokenKeyPath } from './own-issuer/token-keys.ts'
import { TokenLog } from './own-issuer/token-log.ts'
import { tokenLogRoutes } from './own-issuer/token-log-routes.ts'
import { ReadyPictures, tokenPictureRoutes } from './own-issuer/token-picture-routes.ts'
import { TokenPictures } from './own-issuer/token-pictures.ts'
import { type TokenRouteOptions, tokenRoutes } from './own-issuer/token-routes.ts'
import { PresenceProviders } from './presence/presence-providers.ts'
import { Refusals } from './refusals.ts'
import { Reports } from './report/report.ts'
import { type ReportRouteOptions, reportRoutes } from './report/report-routes.ts'
import { refreshForm } from './seal-queries.ts'
import {
  assertNoSetupProblem,
  checkVault,
  halfSetCredentials,
  hasOwnIssuer,
  missingCredentials,
  openVault,
  type SetupProblem,
} from './setup-problem.ts'
import { SignedFetch } from './signed-fetch/signed-fetch.ts'
import type { Vault } from './vault.ts'

export interface AttendanceOptions {
  readonly config: Config
  readonly engine: Engine
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: FastifyBaseLogger
  /** A square picture of places, as a PNG file; undefined while there is no map of them. */
  readonly drawPlaces?: EventMakerOptions['drawPlaces']
}

/** The attendance interface: its routes and its work in the background. */
export interface Attendance {
  /**
   * What the operator has to correct before attendance can be served; undefined where nothing is wrong. A key that does
   * not decrypt what is stored is found by {@link open}.
   */
  readonly setupProblem: SetupProblem | undefined
  /**
   * @throws {AppError} `attendance_not_configured` if there is a {@link setupProblem}, `database_unavailable` before
   * {@link open}
   */
  assertConfigured(): void
  register(app: FastifyInstance): Promise<void>
  /** The picture of a token, or the answer of a gate, if it is in memory. */
  findReady(url: string): ReadyAnswer | undefined
  /** Reads what the database says about the key. Call it when the tables are up to date; again where it failed. */
  open(): Promise<void>
  /** Starts the claim worker and the cleanup, once. */
  start(): void
  /** Finishes the running steps of claims; what is unfinished is left to other processes. */
  close(): Promise<void>
}

/** How long `close` waits for running steps of claims. */
const CLOSE_TIMEOUT_MS = 10 * SECOND_MS
/** Never used: without credentials the other issuer is not called (own-issuer/issuers.ts). */
const PLACEHOLDER_CREDENTIALS = { apiKey: 'none', clientId: 'none', clientSecret: 'none' }

/** Puts the parts of the attendance interface together. Reads nothing of the database, which may be away still. */
export async function createAttendance(options: AttendanceOptions): Promise<Attendance> {
  const { config, engine, clock, log } = options
  const { db } = engine
  const metrics = new AttendanceMetrics(options.metrics, db)
  const opened = await openVault(options)
  const { vault } = opened
  let { setupProblem } = opened
  let isOpen = setupProblem !== undefined
  let isStarted = false
  const base = { db, clock, vault, metrics }

  const poap = createIssuer({ ...base, config: config.attendance.issuer })
  const { keys, own } = createOwnIssuer({ ...base, config, engine, log })
  const missing = missingCredentials(config.attendance.issuer)
  const halfSet = halfSetCredentials(config.attendance.issuer)
  if (halfSet) log.warn({ missing }, halfSet)
  let keyProblem: SetupProblem | undefined
  /** A file of keys that was restored is used from then on. */
  const assertKeysUsable = async () => {
    if (keyProblem && (await areKeysRestored(keys, log))) keyProblem = undefined
    assertNoSetupProblem(keyProblem)
  }
  const issuer = new Issuers({
    get own() {
      return keyProblem ? undefined : own
    },
    other: poap,
    missing,
  })
  const { guard, organisers } = createOrganisers({
    ...base,
    issuer,
    config: config.attendance.organisers,
  })
  const codeCounts = new CodeCountCache(db)
  const holds = new EventHolds({ db, clock })
  const refusals = new Refusals({ db, clock })
  const players = createPlayers({ ...base, config: config.attendance, publicUrl: config.publicUrl })
  const grants = new Grants({ db, clock, vault, maxOpen: config.attendance.maxOpenGrants })
  const { worker, rules } = createClaims({
    ...base,
    ...players,
    config: config.attendance,
    issuer,
    prepareToken: async (event) => {
      if (!isOwnEvent(event.event_id)) return undefined
      await assertKeysUsable() // a claim that is reserved now would wait for the file
      return own?.prepare(event)
    },
    codeCounts,
    holds,
    grants,
    log,
  })
  const codes = new CodeLoader({ db, clock, vault, issuer, codeCounts, holds })
  const approvals = new Approvals({ db, clock, codes })
  const cleanup = new Cleanup({
    ...players,
    guard,
    approvals,
    grants,
    refusals,
    refreshSeal: () => refreshForm(db, vault),
    tokenLog: new TokenLog({ db, clock }),
    log,
  })

  const { makers } = config.attendance
  const { drawPlaces = () => undefined } = options
  const current = async () => {
    await assertKeysUsable()
    return keys.current()
  }
  const maker = new EventMaker({ db, clock, keys: { current }, codes, log, drawPlaces, ...makers })
  const pictures = new TokenPictures(db)
  const shares = new SharePictures(db)
  const readyPictures = new ReadyPictures(pictures)
  const tokenAnswers = new TokenAnswers()
  const endpoints: Endpoints = {
    ...players,
    db,
    clock,
    world: config.world,
    organisers,
    events: new EventCache(db),
    codeCounts,
    holds,
    codes,
    maker,
    approvals,
    ...makers,
    publicUrl: config.publicUrl,
    showsHolders: (eventId) => maker.showsHolders(eventId),
    changeMade: (event, change) => maker.change(event, change),
    keys,
    pictures,
    shares,
    tokenAnswers,
    reports: new Reports({ db, clock, refusals, codeCounts, holds }),
    rules,
    grants,
    onGrant: metrics.onGrant,
    queue: new ClaimQueue({ db, clock, holds, pacer: poap.pacer }),
    refusals,
    onClaim: metrics.onClaim,
    assertConfigured: () => {
      if (!isOpen) throw databaseUnavailable('what it says about the key was not read yet')
      assertNoSetupProblem(setupProblem)
    },
  }
  return {
    get setupProblem() {
      return setupProblem
    },
    assertConfigured: endpoints.assertConfigured,
    register: async (app) => {
      await app.register((scope) => addRoutes(scope, config.attendance.limits, endpoints))
    },
    findReady: (url) => readyPictures.find(url) ?? tokenAnswers.findGate(url),
    open: async () => {
      if (isOpen) return
      setupProblem = await checkVault(db, vault)
      if (!setupProblem && own) keyProblem = await openKeys(keys, log)
      isOpen = true
    },
    start: () => {
      if (setupProblem || isStarted) return
      isStarted = true
      worker.start()
      cleanup.start()
    },
    close: async () => {
      if (!isStarted) return
      await worker.close(CLOSE_TIMEOUT_MS)
      await keys.close()
      await cleanup.close()
    },
  }
}

interface IssuerNeeds {
  readonly config: AttendanceConfig['issuer']
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly metrics: AttendanceMetrics
}

function createIssuer({ config, db, clock, vault, metrics }: IssuerNeeds): PoapIssuer {
  return new PoapIssuer({
    config: missingCredentials(config).length > 0 ? { ...config, ...PLACEHOLDER_CREDENTIALS } : config,
    db,
    vault,
    clock,
    onCall: metrics.onIssuerCall,
  })
}

interface OwnIssuerNeeds {
  readonly config: Config
  readonly engine: Pick<Engine, 'kind'>
  readonly db: Db
  readonly clock: Clock
  readonly log: FastifyBaseLogger
}

/** The issuer of events that are made here; undefined where the settings allow none. */
function createOwnIssuer({ config, engine, db, clock, log }: OwnIssuerNeeds) {
  const path = tokenKeyPath(config, engine.kind)
  const isDefaultPath = config.attendance.tokenKeyFile === undefined
  const onThreadEnded = () =>
    log.error('the thread that signs tokens ended; the main thread signs for a while')
  const keys = new TokenKeys({ db, clock, path, isDefaultPath, log, signing: { onThreadEnded } })
  const own = hasOwnIssuer(config, engine.kind) ? new OwnIssuer({ db, clock, keys }) : undefined
  return { keys, own }
}

/** Reads the keys that sign tokens, or makes the first one. The log has the path of a file that cannot be used, answers not. */
async function openKeys(keys: TokenKeys, log: FastifyBaseLogger): Promise<SetupProblem | undefined> {
  try {
    const { path, isNew, isReplaced, isOpenToOthers } = await keys.open()
    if (isReplaced) log.warn({ path }, 'the file with the keys that sign tokens is missing: made a new key')
    if (isNew) log.info({ path }, 'made a key that signs tokens: keep a copy of this file')
    if (isOpenToOthers) log.warn({ path }, 'other users may read the keys that sign tokens: chmod 600')
    return undefined
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    log.error({ reason: error.message }, 'the keys that sign tokens cannot be used')
    return { settings: ['TOKEN_KEY_FILE'], reason: 'with a file of keys for tokens that cannot be used' }
  }
}

/** Whether the file has a published key again, after a start without one. Only a start makes keys, and publishes them. */
async function areKeysRestored(keys: TokenKeys, log: FastifyBaseLogger): Promise<boolean> {
  try {
    const { path } = await keys.open({ mayMake: false })
    log.info({ path }, 'the keys that sign tokens can be used again')
    return true
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return false
  }
}

interface OrganisersNeeds {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly issuer: Issuer
  readonly config: AttendanceConfig['organisers']
}

/** What decides who may change an event. */
function createOrganisers({ db, clock, vault, issuer, config }: OrganisersNeeds) {
  const challenges = new GuessChallenges({ vault, clock })
  const passes = new OrganiserPasses({ db, clock, vault, ttlMs: config.passTtlMs })
  const guard = new EditCodeGuard({ db, clock, challenges, proofBits: config.proofBits })
  return {
    guard,
    organisers: new Organisers({
      db,
      clock,
      guard,
      challenges,
      passes,
      issuer,
      // The edit codes of our own events have 128 random bits
      isGuessable: (eventId) => !isOwnEvent(eventId),
    }),
  }
}

interface PlayersNeeds {
  readonly config: AttendanceConfig
  readonly publicUrl: string | undefined
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly metrics: AttendanceMetrics
}

/** What finds out who a player is, and where. */
function createPlayers({ config, publicUrl, db, clock, vault, metrics }: PlayersNeeds) {
  const { signatureWindowMs: windowMs, proofOfWorkBits, presence } = config
  return {
    signedFetch: new SignedFetch({ db, clock, windowMs, publicUrl, onResult: metrics.onSignature }),
    captchas: new Captchas({ db, vault, clock, proofOfWorkBits, onResult: metrics.onCaptcha }),
    presence: new PresenceProviders({ config: presence, clock, onAnswer: metrics.onPresence }),
  }
}

interface ClaimsNeeds {
  readonly config: AttendanceConfig
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly metrics: AttendanceMetrics
  readonly issuer: Issuer
  readonly prepareToken: ClaimsOptions['prepareToken']
  readonly signedFetch: SignedFetch
  readonly captchas: Captchas
  readonly codeCounts: CodeCountCache
  readonly holds: EventHolds
  readonly grants: Grants
  readonly log: FastifyBaseLogger
}

/** The rules of claims, and the worker that finishes claims at the issuer. */
function createClaims(needs: ClaimsNeeds) {
  const { config, db, clock, vault, metrics, issuer, prepareToken, signedFetch, captchas } = needs
  const { codeCounts, holds, grants, log } = needs
  const { callsPerSecond, timeoutMs: issuerTimeoutMs } = config.issuer
  const forSteps = { issuer, issuerTimeoutMs, callsPerSecond, holds }
  const worker = new ClaimWorker({ db, clock, vault, ...forSteps, log, onStep: metrics.onStep })
  const claims = new Claims({
    db,
    clock,
    worker,
    prepareToken,
    signedFetch,
    codeCounts,
    grants,
    waitMs: config.claimWaitMs,
  })
  return { worker, rules: new ClaimRules({ clock, signedFetch, captchas, claims, holds, grants }) }
}

/** Everything that the options of the routes name, without the limits. */
type Endpoints = Omit<
  EventRouteOptions &
    CodeRouteOptions &
    ClaimRouteOptions &
    ReportRouteOptions &
    GrantRouteOptions &
    CaptchaRouteOptions &
    MadeEventRouteOptions &
    ApprovalRouteOptions &
    Omit<IssuerKeyRouteOptions, 'keys'> & {
      readonly keys: TokenKeys
      readonly pictures: TokenPictures
      readonly shares: SharePictures
      readonly tokenAnswers: TokenAnswers
    } & TokenRouteOptions,
  keyof Limits
>

/** Registers all endpoints, with common limits. */
async function addRoutes(scope: FastifyInstance, config: LimitsConfig, endpoints: Endpoints): Promise<void> {
  // Addresses are not logged: organisers put edit codes into queries and in place of the event number
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, isAddressPrivate: true }
  })
  const limits = await registerLimits(scope, config)
  const { clientLimit, imageLimit, organiserLimit, listLimit, playerLimit } = limits
  const { makerLimit, makerDayLimit, waitingDayLimit, grantLimit, eventGrantLimit } = limits
  const { db, clock, world, assertConfigured } = endpoints
  const { organisers, events, codeCounts, holds, codes, reports } = endpoints
  const { signedFetch, captchas, presence, rules, queue, refusals, onClaim } = endpoints
  const { maker, approvals, maxTokens, changeMade, operatorKey, keys, showsHolders, publicUrl } = endpoints
  const { pictures, shares, tokenAnswers, grants, onGrant } = endpoints

  const forOrganisers = { db, organisers, organiserLimit, assertConfigured }
  const forPlayers = { signedFetch, clientLimit, playerLimit, assertConfigured }
  await scope.register(eventRoutes, {
    ...forOrganisers,
    ...{ clock, world, events, codeCounts, holds, maxTokens, changeMade },
  })
  await scope.register(codeRoutes, { ...forOrganisers, codes })
  await scope.register(claimRoutes, { ...forPlayers, events, presence, rules, queue, refusals, onClaim })
  await scope.register(reportRoutes, { ...forOrganisers, reports })
  await scope.register(grantRoutes, { ...forOrganisers, grants, grantLimit, eventGrantLimit, onGrant })
  await scope.register(captchaRoutes, { ...forPlayers, captchas, imageLimit })
  await scope.register(madeEventRoutes, {
    ...{ clock, world, maker, publicUrl, maxTokens, operatorKey, assertConfigured },
    ...{ makerLimit, makerDayLimit, waitingDayLimit },
  })
  await scope.register(approvalRoutes, { db, approvals, operatorKey, organiserLimit, assertConfigured })
  await scope.register(issuerKeyRoutes, { clock, keys, assertConfigured })
  await scope.register(revocationRoutes, { ...forOrganisers, clock, keys, tokenAnswers })
  await scope.register(tokenLogRoutes, { db })
  await scope.register(tokenRoutes, {
    ...{ db, events, showsHolders, publicUrl, tokenAnswers, organisers, organiserLimit, listLimit },
  })
  await scope.register(tokenPictureRoutes, {
    ...{ events, pictures, shares, imageLimit, listLimit },
    isOperator: (request) => isOperator(request, operatorKey),
  })
}

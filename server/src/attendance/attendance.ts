import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, SECOND_MS } from '../clock.ts'
import type { AttendanceConfig, Config } from '../config/config.ts'
import type { Db, Engine } from '../db/engine.ts'
import { databaseUnavailable } from '../db/statement-error.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ReadyAnswer } from '../http/ready-answers.ts'
import { AttendanceMetrics } from './attendance-metrics.ts'
import { addRoutes, type Endpoints } from './attendance-routes.ts'
import { Captchas } from './captcha/captchas.ts'
import { ClaimQueue } from './claims/claim-queue.ts'
import { ClaimRules } from './claims/claim-rules.ts'
import { ClaimWorker } from './claims/claim-worker.ts'
import { Claims, type ClaimsOptions } from './claims/claims.ts'
import { Refusals } from './claims/refusals.ts'
import { Cleanup } from './cleanup.ts'
import { CodeLoader } from './codes/code-loader.ts'
import { PendingLoads } from './codes/pending-loads.ts'
import { BlockedPlayers } from './events/blocked-players.ts'
import { CodeCountCache } from './events/code-count-cache.ts'
import { EventCache } from './events/event-cache.ts'
import { EventHolds } from './events/event-holds.ts'
import type { Event } from './events/event-queries.ts'
import { Gifts } from './gifts/gifts.ts'
import { Grants } from './grants/grants.ts'
import type { Issuer } from './issuers/issuer.ts'
import { Issuers, withoutTokenKey } from './issuers/issuers.ts'
import { areKeysRestored, createOwnIssuer, openKeys } from './issuers/own/connect-own-issuer.ts'
import { TokenLog } from './issuers/own/log/token-log.ts'
import { AnsweredEvents } from './issuers/own/made-events/answered-events.ts'
import { Approvals } from './issuers/own/made-events/approvals.ts'
import { EditCodes } from './issuers/own/made-events/edit-codes.ts'
import { EventMaker, type EventMakerOptions } from './issuers/own/made-events/event-maker.ts'
import { isOwnEvent } from './issuers/own/own-event-ids.ts'
import { SharePictures } from './issuers/own/token-pictures/share-pictures.ts'
import { ReadyPictures } from './issuers/own/token-pictures/token-picture-routes.ts'
import { TokenPictures } from './issuers/own/token-pictures/token-pictures.ts'
import { TokenAnswers } from './issuers/own/tokens/token-answers.ts'
import { PoapIssuer } from './issuers/poap/poap-issuer.ts'
import { watched } from './issuers/watched-issuer.ts'
import { EditCodeGuard } from './organisers/edit-code-guard.ts'
import { GuessChallenges } from './organisers/guess-challenge.ts'
import { OrganiserPasses } from './organisers/organiser-passes.ts'
import { Organisers } from './organisers/organisers.ts'
import { PresenceProviders } from './presence/presence-providers.ts'
import { Rehearsals } from './rehearsal/rehearsals.ts'
import { Reports } from './report/report.ts'
import type { Vault } from './secrets/vault.ts'
import { ServiceState } from './service-state.ts'
import {
  assertNoSetupProblem,
  checkVault,
  halfSetCredentials,
  missingCredentials,
  openVault,
  type SetupProblem,
} from './setup-problem.ts'
import { type CallContract, ContractWallets } from './signed-fetch/contract-wallets.ts'
import { SignedFetch } from './signed-fetch/signed-fetch.ts'
import { newSignerCheck } from './signed-fetch/signer-check.ts'

/** Statements of an event that insert claims at the same time: on PostgreSQL, which executes them side by side. */
const INSERTS_AT_ONCE = 2

export interface AttendanceOptions {
  readonly config: Config
  readonly engine: Engine
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: FastifyBaseLogger
  /** A square picture of places, as a PNG file; undefined while there is no map of them. */
  readonly drawPlaces?: EventMakerOptions['drawPlaces']
  /** Calls contracts at an Ethereum node; undefined where no node is set. */
  readonly callContract?: CallContract | undefined
}

/** How organisers get events on a server. */
export interface EventOffers {
  /** Who makes events here. */
  readonly makers: AttendanceConfig['makers']['who']
  /** Whether events that were made here can be changed, and their tokens claimed. */
  readonly hasOwn: boolean
  /** Whether events of the other issuer can be registered and changed. */
  readonly hasPoap: boolean
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
  /** What organisers can do on this server now. */
  offers(): EventOffers
  /** The picture of a token, or the answer of a gate, if it is in memory. */
  findReady(url: string): ReadyAnswer | undefined
  /** Reads what the database says about the key. Call it when the tables are up to date; again where it failed. */
  open(): Promise<void>
  /** Starts the claim worker and the cleanup, once. */
  start(): void
  /** Finishes the running steps of claims; what is unfinished is left to other processes. */
  close(): Promise<void>
}

/** How long `close` waits for running steps of claims, and for codes that are being loaded. */
const CLOSE_TIMEOUT_MS = 10 * SECOND_MS
/** Never used: without credentials the other issuer is not called (issuers/issuers.ts). */
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

  const issuerState = new ServiceState(clock)
  const presenceState = new ServiceState(clock)
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
    other: watched(poap, issuerState),
    missing,
  })
  const prepareToken = async (event: Event, address: string, isGiven = false) => {
    await assertKeysUsable()
    if (!own) throw withoutTokenKey()
    return own.prepare(event, address, isGiven)
  }
  const { guard, organisers } = createOrganisers({
    ...base,
    issuer,
    config: config.attendance.organisers,
  })
  const codeCounts = new CodeCountCache(db)
  const holds = new EventHolds({ db, clock })
  const blocked = new BlockedPlayers({ db, clock })
  const refusals = new Refusals({ db, clock })
  const rehearsals = new Rehearsals({ db, clock })
  const players = createPlayers({
    ...base,
    config: config.attendance,
    publicUrl: config.publicUrl,
    presenceState,
    callContract: options.callContract,
    log,
  })
  const { maxOpenGrants: maxOpen, maxOpenGrantsOfAll: maxOpenOfAll } = config.attendance
  const grants = new Grants({ db, clock, vault, maxOpen, maxOpenOfAll })
  const { worker, rules } = createClaims({
    ...base,
    insertsAtOnce: engine.kind === 'postgres' ? INSERTS_AT_ONCE : 1,
    ...players,
    config: config.attendance,
    issuer,
    prepareToken: async (event, address) =>
      isOwnEvent(event.event_id) ? prepareToken(event, address) : undefined,
    codeCounts,
    holds,
    blocked,
    grants,
    rehearsals,
    log,
  })
  const codes = new CodeLoader({ db, clock, vault, issuer, codeCounts, holds })
  const loads = new PendingLoads({ db, clock, vault, issuer, codes, log })
  const approvals = new Approvals({ db, clock, codeCounts })
  const { makers } = config.attendance
  const gifts = new Gifts({
    ...{ db, clock, codeCounts, log },
    who: makers.who,
    prepareToken: (event, address) => prepareToken(event, address, true),
    onMinted: () => metrics.onStep('confirm'),
    forgetReport: (eventId) => reports.forget(eventId),
  })
  const answered = new AnsweredEvents({ db, log })
  const cleanup = new Cleanup({
    ...players,
    guard,
    answered,
    approvals,
    grants,
    gifts,
    refusals,
    rehearsals,
    tokenLog: new TokenLog({ db, clock }),
    log,
  })

  const { drawPlaces = () => undefined } = options
  const current = async () => {
    await assertKeysUsable()
    return keys.current()
  }
  const maker = new EventMaker({ db, clock, keys: { current }, codeCounts, drawPlaces, ...makers })
  const pictures = new TokenPictures(db)
  const shares = new SharePictures(db)
  const readyPictures = new ReadyPictures(pictures)
  const tokenAnswers = new TokenAnswers()
  const reports = new Reports({
    ...{ db, clock, refusals, rehearsals, gifts, codeCounts, holds, issuerState, presenceState },
  })
  const endpoints: Endpoints = {
    ...players,
    db,
    clock,
    world: config.world,
    organisers,
    events: new EventCache(db),
    codeCounts,
    holds,
    rehearsals,
    blocked,
    codes,
    loads,
    maker,
    editCodes: new EditCodes({ db, clock }),
    answered,
    approvals,
    ...makers,
    publicUrl: config.publicUrl,
    showsHolders: (eventId) => maker.showsHolders(eventId),
    changeMade: (event, change, by) => maker.change(event, change, by).then(() => pictures.forget(event)),
    keys,
    pictures,
    shares,
    tokenAnswers,
    reports,
    forgetReport: (eventId) => reports.forget(eventId),
    rules,
    grants,
    gifts,
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
    offers: () => {
      if (setupProblem) return { makers: 'nobody', hasOwn: false, hasPoap: false }
      // A file that was restored is found for the next reader
      if (keyProblem) void assertKeysUsable().catch(() => {})
      const hasOwn = own !== undefined && !keyProblem
      return { makers: hasOwn ? makers.who : 'nobody', hasOwn, hasPoap: missing.length === 0 }
    },
    findReady: (url) => readyPictures.find(url) ?? tokenAnswers.findGate(url),
    open: async () => {
      if (isOpen) return
      setupProblem = await checkVault(db, vault, { nowMs: clock.nowMs(), log })
      if (!setupProblem && own) keyProblem = await openKeys(keys, log)
      isOpen = true
    },
    start: () => {
      if (setupProblem || isStarted) return
      isStarted = true
      worker.start()
      loads.start()
      cleanup.start()
    },
    close: async () => {
      if (!isStarted) return
      await Promise.all([worker.close(CLOSE_TIMEOUT_MS), loads.close(CLOSE_TIMEOUT_MS)])
      await players.signerCheck.close()
      await cleanup.close()
      await gifts.close()
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
  readonly presenceState: ServiceState
  readonly callContract: CallContract | undefined
  readonly log: FastifyBaseLogger
}

/** What finds out who a player is, and where. */
function createPlayers(needs: PlayersNeeds) {
  const { config, publicUrl, db, clock, vault, metrics, presenceState, callContract, log } = needs
  const { signatureWindowMs: windowMs, proofOfWorkBits, presence } = config
  const onThreadEnded = () =>
    log.error(
      {},
      'the thread that checks signatures of requests ended; the main thread checks them for a while',
    )
  const signerCheck = newSignerCheck({ onThreadEnded })
  const onFailure = (err: unknown) => log.warn({ err }, 'a wallet that is a contract could not be asked')
  return {
    signerCheck,
    signedFetch: new SignedFetch({
      ...{ db, clock, windowMs, publicUrl },
      checkSigners: (signatures) => signerCheck.do(signatures),
      contractWallets: callContract && new ContractWallets({ callContract, clock, onFailure }),
      onResult: metrics.onSignature,
    }),
    captchas: new Captchas({ db, vault, clock, proofOfWorkBits, onResult: metrics.onCaptcha }),
    presence: new PresenceProviders({
      config: presence,
      clock,
      onAnswer: metrics.onPresence,
      onResult: (result) => presenceState.note(result !== 'unknown'),
    }),
  }
}

interface ClaimsNeeds {
  readonly config: AttendanceConfig
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly metrics: AttendanceMetrics
  readonly issuer: Issuers
  readonly prepareToken: ClaimsOptions['prepareToken']
  readonly insertsAtOnce: number
  readonly signedFetch: SignedFetch
  readonly captchas: Captchas
  readonly codeCounts: CodeCountCache
  readonly holds: EventHolds
  readonly blocked: BlockedPlayers
  readonly grants: Grants
  readonly rehearsals: Rehearsals
  readonly log: FastifyBaseLogger
}

/** The rules of claims, and the worker that finishes claims at the issuer. */
function createClaims(needs: ClaimsNeeds) {
  const { config, db, clock, vault, metrics, issuer, prepareToken, insertsAtOnce, signedFetch, captchas } =
    needs
  const { codeCounts, holds, blocked, grants, rehearsals, log } = needs
  const { callsPerSecond, timeoutMs: issuerTimeoutMs } = config.issuer
  const forSteps = { issuer, own: issuer, issuerTimeoutMs, callsPerSecond, holds }
  const worker = new ClaimWorker({ db, clock, vault, ...forSteps, log, onStep: metrics.onStep })
  const claims = new Claims({
    db,
    clock,
    worker,
    prepareToken,
    insertsAtOnce,
    onMinted: () => metrics.onStep('confirm'),
    signedFetch,
    codeCounts,
    grants,
    waitMs: config.claimWaitMs,
  })
  const checks = { signedFetch, captchas, claims, holds, blocked, grants, rehearsals }
  return { worker, rules: new ClaimRules({ clock, ...checks }) }
}

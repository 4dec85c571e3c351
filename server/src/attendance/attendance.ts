import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { AttendanceConfig, Config } from '../config/config.ts'
import { isPartial } from '../db/all-events.ts'
import type { Db, Engine } from '../db/engine.ts'
import { databaseUnavailable } from '../db/statement-error.ts'
import type { CallContract } from '../ethereum/wallet-call.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ReadyAnswer } from '../http/ready-answers.ts'
import type { WorkerGroup } from '../http/worker-group.ts'
import { AttendanceMetrics } from './attendance-metrics.ts'
import { addRoutes, type Endpoints } from './attendance-routes.ts'
import { Captchas } from './captcha/captchas.ts'
import { ClaimQueue } from './claims/claim-queue.ts'
import { ClaimRules } from './claims/claim-rules.ts'
import { ClaimWorker } from './claims/claim-worker.ts'
import { Claims } from './claims/claims.ts'
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
import { Issuers } from './issuers/issuers.ts'
import { ConnectedOwnIssuer } from './issuers/own/connect-own-issuer.ts'
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
import { ContractWallets } from './signed-fetch/contract-wallets.ts'
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
  /** The processes that serve with this one. */
  readonly group: WorkerGroup | undefined
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
  /** How many events wait for the approval of the operator. */
  countWaiting(): Promise<number>
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
  const opened = await openVault(options)
  const { vault } = opened
  let { setupProblem } = opened
  let isOpen = setupProblem !== undefined
  let isStarted = false
  const assertConfigured = () => {
    if (!isOpen) throw databaseUnavailable('what it says about the key was not read yet')
    assertNoSetupProblem(setupProblem)
  }

  const base = { ...options, db, vault, metrics: new AttendanceMetrics(options.metrics, db) }
  const events = createEvents(base)
  const players = createPlayers(base)
  const claims = createClaims({ ...base, ...events, ...players })
  const { ownIssuer, pictures, missing, loads } = events
  const { worker, gifts } = claims
  const tokenAnswers = new TokenAnswers()
  const readyPictures = new ReadyPictures(pictures)
  const cleanup = new Cleanup({
    ...events,
    ...players,
    ...claims,
    tokenLog: new TokenLog({ db, clock }),
    log,
  })

  const closeWork = async (): Promise<void> => {
    await Promise.all([worker.close(CLOSE_TIMEOUT_MS), loads.close(CLOSE_TIMEOUT_MS)])
    await gifts.close()
  }
  const checkKeys = async (): Promise<void> => {
    setupProblem = await checkVault(db, vault, { nowMs: clock.nowMs(), log })
    if (setupProblem || !isPartial(db)) clearInterval(checking)
    if (!setupProblem || !isOpen) return
    log.error(`attendance is not served any more: ${setupProblem.reason}`)
    // Codes that cannot be decrypted would be marked as void
    if (isStarted) await closeWork()
  }
  let checking: NodeJS.Timeout | undefined

  const { world, publicUrl } = config
  const { makers, limits } = config.attendance
  const shared = { db, clock, world, publicUrl, ...makers, assertConfigured, tokenAnswers }
  const endpoints: Endpoints = { ...shared, ...events, ...players, ...claims, group: options.group }
  return {
    get setupProblem() {
      return setupProblem
    },
    assertConfigured,
    register: async (app) => {
      await app.register((scope) => addRoutes(scope, limits, endpoints))
    },
    offers: () => {
      if (setupProblem) return { makers: 'nobody', hasOwn: false, hasPoap: false }
      // A file that was restored is found for the next reader
      void ownIssuer.assertKeysUsable().catch(() => {})
      const hasOwn = ownIssuer.issuer !== undefined
      return { makers: hasOwn ? makers.who : 'nobody', hasOwn, hasPoap: missing.length === 0 }
    },
    findReady: (url) => readyPictures.find(url) ?? tokenAnswers.findGate(url),
    open: async () => {
      if (isOpen) return
      // Again until no worker of the database is down, and left out
      checking ??= setInterval(() => void checkKeys().catch(() => {}), MINUTE_MS).unref()
      await checkKeys()
      if (!setupProblem) await ownIssuer.open()
      isOpen = true
    },
    countWaiting: async () => (await events.approvals.waiting({ after: 0, limit: 1 })).total,
    start: () => {
      if (setupProblem || isStarted) return
      isStarted = true
      worker.start()
      loads.start()
      cleanup.start()
    },
    close: async () => {
      clearInterval(checking)
      if (!isStarted) return
      await closeWork()
      await players.signerCheck.close()
      await cleanup.close(CLOSE_TIMEOUT_MS)
    },
  }
}

/** What all parts are made from. */
interface Base extends Omit<AttendanceOptions, 'metrics'> {
  readonly db: Db
  readonly vault: Vault
  readonly metrics: AttendanceMetrics
}

/** Both issuers, the events, and what their organisers and the operator do. */
function createEvents(base: Base) {
  const { config, db, clock, metrics } = base
  const { issuer: settings, organisers: limits, makers } = config.attendance

  const missing = missingCredentials(settings)
  const halfSet = halfSetCredentials(settings)
  if (halfSet) base.log.warn({ missing }, halfSet)
  const credentials = missing.length > 0 ? PLACEHOLDER_CREDENTIALS : {}
  const poap = new PoapIssuer({
    ...base,
    config: { ...settings, ...credentials },
    onCall: metrics.onIssuerCall,
  })
  const issuerState = new ServiceState(clock)
  const ownIssuer = new ConnectedOwnIssuer(base)
  const issuer = new Issuers({ own: () => ownIssuer.issuer, other: watched(poap, issuerState), missing })

  const challenges = new GuessChallenges(base)
  const passes = new OrganiserPasses({ ...base, ttlMs: limits.passTtlMs })
  const guard = new EditCodeGuard({ ...base, challenges, proofBits: limits.proofBits })
  // The edit codes of our own events have 128 random bits
  const isGuessable = (eventId: number) => !isOwnEvent(eventId)
  const organisers = new Organisers({ ...base, guard, challenges, passes, issuer, isGuessable })

  const codeCounts = new CodeCountCache(db)
  const holds = new EventHolds(base)
  const codes = new CodeLoader({ ...base, issuer, codeCounts, holds })
  const loads = new PendingLoads({ ...base, issuer, codes })

  const { drawPlaces = () => undefined } = base
  const maker = new EventMaker({ ...base, ...makers, keys: ownIssuer, codeCounts, drawPlaces })
  const pictures = new TokenPictures(db)
  return {
    ...{ missing, poap, issuerState, ownIssuer, keys: ownIssuer.keys, issuer, guard, organisers },
    ...{ codeCounts, holds, codes, loads, maker, pictures },
    events: new EventCache(db),
    blocked: new BlockedPlayers(base),
    rehearsals: new Rehearsals(base),
    approvals: new Approvals({ ...base, codeCounts }),
    editCodes: new EditCodes(base),
    answered: new AnsweredEvents(base),
    shares: new SharePictures(db),
    forgetPicture: (event: Event) => pictures.forget(event),
    showsHolders: (eventId: number) => maker.showsHolders(eventId),
    changeMade: async (...change: Parameters<EventMaker['change']>) => {
      await maker.change(...change)
      pictures.forget(change[0])
    },
  }
}

/** What finds out who a player is, and where. */
function createPlayers({ config, db, clock, vault, metrics, callContract, log, group }: Base) {
  const { signatureWindowMs: windowMs, proofOfWorkBits, presence } = config.attendance
  const presenceState = new ServiceState(clock)
  const onThreadEnded = () =>
    log.error(
      {},
      'the thread that checks signatures of requests ended; the main thread checks them for a while',
    )
  const signerCheck = newSignerCheck({ onThreadEnded })
  const onFailure = (err: unknown) => log.warn({ err }, 'a wallet that is a contract could not be asked')
  return {
    presenceState,
    signerCheck,
    signedFetch: new SignedFetch({
      ...{ db, clock, windowMs, publicUrl: config.publicUrl },
      checkSigners: (signatures) => signerCheck.do(signatures),
      contractWallets: callContract && new ContractWallets({ callContract, clock, group, onFailure }),
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

type ClaimsNeeds = Base & ReturnType<typeof createEvents> & ReturnType<typeof createPlayers>

/** The rules of claims, the worker that finishes claims at the issuer, grants, gifts and the report. */
function createClaims(needs: ClaimsNeeds) {
  const { config, engine, metrics, poap, ownIssuer, issuer } = needs
  const { maxOpenGrants, maxOpenGrantsOfAll, makers } = config.attendance
  const { callsPerSecond, timeoutMs: issuerTimeoutMs } = config.attendance.issuer
  const onMinted = () => metrics.onStep('confirm')

  const grants = new Grants({ ...needs, maxOpen: maxOpenGrants, maxOpenOfAll: maxOpenGrantsOfAll })
  const forSteps = { issuer, issuerTimeoutMs, callsPerSecond, onStep: metrics.onStep }
  const worker = new ClaimWorker({ ...needs, ...forSteps })
  const claims = new Claims({
    ...needs,
    grants,
    worker,
    prepareToken: async (event, address) =>
      isOwnEvent(event.event_id) ? ownIssuer.prepare(event, address) : undefined,
    insertsAtOnce: engine.kind === 'postgres' ? INSERTS_AT_ONCE : 1,
    onMinted,
    waitMs: config.attendance.claimWaitMs,
  })
  const rules = new ClaimRules({ ...needs, claims, grants })

  const refusals = new Refusals(needs)
  const forgetReport = (eventId: number) => reports.forget(eventId)
  const gifts = new Gifts({
    ...needs,
    who: makers.who,
    prepareToken: (event, address) => ownIssuer.prepare(event, address, true),
    onMinted,
    forgetReport,
  })
  const reports = new Reports({ ...needs, refusals, gifts })
  return {
    ...{ grants, worker, rules, refusals, gifts, reports, forgetReport },
    queue: new ClaimQueue({ ...needs, pacer: poap.pacer }),
    onGrant: metrics.onGrant,
    onClaim: metrics.onClaim,
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { IssuerConfig } from '../../config/config.ts'
import type { Db } from '../../db/engine.ts'
import { type OutboundAnswer, OutboundError, type OutboundRequest } from '../outbound.ts'
import { UnreadableSecretError, type Vault } from '../vault.ts'
import {
  countedRequests,
  isLeased,
  type Lease,
  releaseLease,
  storedToken,
  storeToken,
  takeLease,
} from './access-token-queries.ts'
import { isObject } from './event-record.ts'
import { IssuerError } from './issuer.ts'

/** The key and credentials of the operator, all given. */
export interface IssuerCredentials {
  readonly apiKey: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface AccessToken {
  readonly text: string
  /** From here on another one is asked for, while this one still works. */
  readonly freshUntilMs: number
  readonly expiresAtMs: number
}

export interface AccessTokensOptions {
  readonly config: IssuerConfig
  readonly credentials: IssuerCredentials
  readonly db: Db
  readonly vault: Vault
  readonly clock: Clock
  /** Sends the request to the token address. @throws {OutboundError} */
  readonly send: (request: OutboundRequest) => Promise<OutboundAnswer>
}

/** More are said to be refused for an hour. */
const REQUESTS_PER_HOUR = 4
const REFRESH_EARLY_MS = 10 * MINUTE_MS
/** Where the issuer does not say how long a token lives. It says a day; a shorter guess costs few requests. */
const DEFAULT_LIFE_S = 12 * (HOUR_MS / SECOND_MS)
const LONGEST_LIFE_S = 30 * 24 * (HOUR_MS / SECOND_MS)
/** What a holder of the lease may need besides the time limit of the request. */
const LEASE_MARGIN_MS = 5 * SECOND_MS
const POLL_INTERVAL_MS = 50
/** After a failure, after the second one in a row, and after each later one: four requests must last an hour. */
const PAUSES_MS = [5 * SECOND_MS, MINUTE_MS, 20 * MINUTE_MS] as const
/** Wrong credentials stay wrong until the operator changes them. */
const REFUSED_PAUSE_MS = 20 * MINUTE_MS

/**
 * The issuer's access token. It is kept in the database, sealed: restarts and other processes use it too. A new one
 * is asked for ten minutes before it ends, by one process at a time, at most four times an hour.
 *
 *   held here, fresh ──▶ use it
 *   stored, fresh ─────▶ hold and use it                     (another process asked)
 *   neither ───lease───▶ ask the issuer, store, hold, use it
 *              no lease: another process asks: look again; an old one that still works is used meanwhile
 */
export class AccessTokens {
  private readonly options: AccessTokensOptions
  private readonly settings: string
  private held: AccessToken | undefined
  /** One search at a time: twenty calls that need a token wait for the same. */
  private search: Promise<AccessToken> | undefined
  /** The token that the issuer did not accept: what is stored may still be it. */
  private rejected: string | undefined
  private noRenewalUntilMs = 0
  private failures = 0
  private lastFailure: { error: IssuerError; pauseUntilMs: number } | undefined

  constructor(options: AccessTokensOptions) {
    this.options = options
    this.settings = settingsFingerprint(options)
  }

  /** A token that should work. @throws {IssuerError} with `call` `token` */
  async get(): Promise<AccessToken> {
    const nowMs = this.nowMs()
    if (this.held && nowMs < this.held.freshUntilMs) return this.held
    // One caller refreshes; the others need not wait while the old one works
    if (this.held && this.search && nowMs < this.held.expiresAtMs) return this.held
    this.search ??= this.find().finally(() => {
      this.search = undefined
    })
    return this.search
  }

  /**
   * Another token instead of one that was answered with 401. Undefined: a new one was not accepted either, a short
   * while ago, so the token is not what is wrong.
   *
   * @throws {IssuerError} with `call` `token`
   */
  async renew(rejected: AccessToken): Promise<AccessToken | undefined> {
    if (this.nowMs() < this.noRenewalUntilMs) return undefined
    this.rejected = rejected.text
    if (this.held?.text === rejected.text) this.held = undefined
    const token = await this.get()
    // The end of a search that began before: what comes now is another one, or the issuer insists on this
    return token.text === rejected.text ? this.get() : token
  }

  /** A renewed token was answered with 401 as well: without this each further call would use up a token request. */
  renewalDidNotHelp(): void {
    this.noRenewalUntilMs = this.nowMs() + REFUSED_PAUSE_MS
  }

  private nowMs(): number {
    return this.options.clock.nowMs()
  }

  private async find(): Promise<AccessToken> {
    const row = await storedToken(this.options.db)
    const stored = this.read(row.sealed)
    if (stored && this.nowMs() < stored.freshUntilMs) return this.hold(stored)
    if (stored && this.nowMs() < stored.expiresAtMs) return this.refresh(this.hold(stored), row.sealed)
    this.assertNoPause()
    return this.obtain(row.sealed)
  }

  /** The old one still works, so a failure is no harm yet. */
  private async refresh(old: AccessToken, seen: Buffer | null): Promise<AccessToken> {
    if (this.lastFailure && this.nowMs() < this.lastFailure.pauseUntilMs) return old
    const lease = await this.takeLease(seen)
    if (!lease) return old
    try {
      return await this.ask(lease)
    } catch (error) {
      if (error instanceof IssuerError) return old
      throw error
    }
  }

  /** Asks, or waits for the process that does. */
  private async obtain(useless: Buffer | null): Promise<AccessToken> {
    let seen = useless
    const patienceMs = performance.now() + this.options.config.timeoutMs + 2 * LEASE_MARGIN_MS
    for (;;) {
      const lease = await this.takeLease(seen)
      if (lease) return this.ask(lease)
      const row = await storedToken(this.options.db)
      const stored = this.read(row.sealed)
      if (stored && this.nowMs() < stored.freshUntilMs) return this.hold(stored)
      seen = row.sealed
      this.assertBudget(countedRequests(row, this.nowMs()), isLeased(row, this.nowMs()))
      if (performance.now() > patienceMs) throw new IssuerError('unavailable', { call: 'token' })
      await sleep(POLL_INTERVAL_MS)
    }
  }

  private takeLease(seen: Buffer | null): Promise<Lease | undefined> {
    const { db, config } = this.options
    const nowMs = this.nowMs()
    const untilMs = nowMs + config.timeoutMs + LEASE_MARGIN_MS
    return takeLease(db, { seen, nowMs, untilMs, perHour: REQUESTS_PER_HOUR })
  }

  private async ask(lease: Lease): Promise<AccessToken> {
    try {
      const token = await this.request()
      // Whatever the issuer gives out now is as good as it gets, even if it is the same as before
      this.rejected = undefined
      this.hold(token)
      this.failures = 0
      this.lastFailure = undefined
      const sealed = this.options.vault.seal('issuer-token', JSON.stringify({ ...token, for: this.settings }))
      await storeToken(this.options.db, lease, { sealed, expiresAtMs: token.expiresAtMs })
      return token
    } catch (error) {
      if (error instanceof IssuerError) {
        this.remember(error)
        await releaseLease(this.options.db, lease)
      }
      throw error
    }
  }

  private async request(): Promise<AccessToken> {
    const { config, credentials, send } = this.options
    const json = {
      audience: config.audience,
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }
    try {
      return readTokenAnswer(await send({ method: 'POST', path: '', json }), this.nowMs())
    } catch (error) {
      if (error instanceof OutboundError) throw new IssuerError('unavailable', { call: 'token' })
      throw error
    }
  }

  /** The token that was stored; undefined for none, another operator's, a rejected one, or one of another key. */
  private read(sealed: Buffer | null): AccessToken | undefined {
    if (sealed === null) return undefined
    try {
      const { for: settings, ...token } = JSON.parse(
        this.options.vault.open('issuer-token', sealed),
      ) as AccessToken & {
        for: string
      }
      return settings === this.settings && token.text !== this.rejected ? token : undefined
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined
      throw error
    }
  }

  /** A search that began before a token was rejected may still end with it: that one is not held. */
  private hold(token: AccessToken): AccessToken {
    if (token.text !== this.rejected) this.held = token
    return token
  }

  private remember(error: IssuerError): void {
    const step = Math.min(this.failures, PAUSES_MS.length - 1)
    const ownPauseMs = error.kind === 'refused' ? REFUSED_PAUSE_MS : PAUSES_MS[step]!
    this.failures += 1
    this.lastFailure = { error, pauseUntilMs: this.nowMs() + Math.max(ownPauseMs, error.retryAfterMs ?? 0) }
  }

  private assertNoPause(): void {
    const nowMs = this.nowMs()
    if (!this.lastFailure || nowMs >= this.lastFailure.pauseUntilMs) return
    const { error, pauseUntilMs } = this.lastFailure
    throw new IssuerError(error.kind, {
      call: 'token',
      status: error.status,
      retryAfterMs: pauseUntilMs - nowMs,
    })
  }

  private assertBudget(requestsMs: readonly number[], isLeased: boolean): void {
    const [oldestMs] = requestsMs
    if (isLeased || oldestMs === undefined || requestsMs.length < REQUESTS_PER_HOUR) return
    const kind = this.lastFailure?.error.kind === 'refused' ? 'refused' : 'busy'
    throw new IssuerError(kind, { call: 'token', retryAfterMs: oldestMs + HOUR_MS - this.nowMs() })
  }
}

/**
 * Reads the answer of the token address. Bad credentials are a 401, or a code word in the body.
 *
 * @throws {IssuerError}
 */
export function readTokenAnswer({ status, json, retryAfterMs }: OutboundAnswer, nowMs: number): AccessToken {
  const facts = { call: 'token', status, retryAfterMs }
  if (status === 429) throw new IssuerError('busy', facts)
  if (status < 500 && (status === 401 || status === 403 || hasBadCredentials(json)))
    throw new IssuerError('refused', facts)
  const text = isObject(json) && status < 300 ? json.access_token : undefined
  if (!isToken(text)) throw new IssuerError('unavailable', facts)
  const lifeMs = readLifeS(json) * SECOND_MS
  return {
    text,
    freshUntilMs: nowMs + Math.max(lifeMs - REFRESH_EARLY_MS, Math.floor(lifeMs / 2)),
    expiresAtMs: nowMs + lifeMs,
  }
}

function hasBadCredentials(json: unknown): boolean {
  const error = isObject(json) ? json.error : undefined
  return error === 'unauthorized_client' || error === 'invalid_client' || error === 'access_denied'
}

/** What may stand in a header. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,8000}$/.test(value)
}

function readLifeS(json: unknown): number {
  const seconds = isObject(json) ? json.expires_in : undefined
  const isUsable = typeof seconds === 'number' && seconds >= 1
  return isUsable ? Math.floor(Math.min(seconds, LONGEST_LIFE_S)) : DEFAULT_LIFE_S
}

/** A token is good for what it was asked for: after a change of settings it must not be sent to somebody else. */
function settingsFingerprint({ config, credentials, vault }: AccessTokensOptions): string {
  const { url, tokenUrl, audience } = config
  const { clientId, clientSecret } = credentials
  const settings = JSON.stringify([url, tokenUrl, audience, clientId, clientSecret])
  return vault.fingerprint('issuer-token', settings).toString('hex')
}

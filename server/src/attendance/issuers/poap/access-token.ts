import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS, steadyMs } from '../../../clock.ts'
import type { IssuerConfig } from '../../../config/config.ts'
import type { Db } from '../../../db/engine.ts'
import { isObject } from '../../../json-object.ts'
import { type OutboundAnswer, OutboundError, type OutboundRequest } from '../../../outbound.ts'
import { TOKEN_BINDING } from '../../secrets/encryption-queries.ts'
import { UnreadableSecretError, type Vault } from '../../secrets/vault.ts'
import { IssuerError } from '../issuer.ts'
import {
  countedRequests,
  isLeased,
  type Lease,
  releaseLease,
  storedToken,
  storeToken,
  takeLease,
} from './access-token-queries.ts'

/** The operator's API key and credentials at the issuer. */
export interface IssuerCredentials {
  readonly apiKey: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface AccessToken {
  readonly text: string
  /** After this time a new token is requested, while this one still works. */
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

/** The issuer is said to refuse more requests for an hour. */
const REQUESTS_PER_HOUR = 4
const REFRESH_EARLY_MS = 10 * MINUTE_MS
/** Lifetime of a token where the answer does not say it. It is a day; half of it costs few extra requests. */
const DEFAULT_LIFE_S = 12 * (HOUR_MS / SECOND_MS)
const LONGEST_LIFE_S = 30 * 24 * (HOUR_MS / SECOND_MS)
/** How much longer the lease is than the timeout of the token request. */
const LEASE_MARGIN_MS = 5 * SECOND_MS
const POLL_INTERVAL_MS = 50
/** Pauses after the first, second and every later failure in a row: four requests must be enough for an hour. */
const PAUSES_MS = [5 * SECOND_MS, MINUTE_MS, 20 * MINUTE_MS] as const
/** Pause after wrong credentials: only the operator can correct them. */
const REFUSED_PAUSE_MS = 20 * MINUTE_MS

/**
 * The issuer's access token. It is stored in the database, encrypted, so that it survives restarts and all processes
 * share it. One process at a time requests a new one, ten minutes before the old one ends, at most four times an hour.
 *
 *   cached here, fresh ──▶ use it
 *   stored, fresh ───────▶ cache and use it                    (another process requested it)
 *   neither ───lease─────▶ request one from the issuer, store, cache and use it
 *              no lease: another process requests one: poll the database; use the old token while it works
 */
export class AccessTokens {
  private readonly options: AccessTokensOptions
  /** Fingerprints of the settings: with the current key, and with the others. */
  private readonly settings: readonly string[]
  private cached: AccessToken | undefined
  /** The search that is under way: all calls that need a token share it. */
  private search: Promise<AccessToken> | undefined
  /** A token that the issuer did not accept; it may still be stored. */
  private rejected: string | undefined
  // Pauses end by the steady clock, the lives of tokens by the clock of the machine, which all processes share
  private noRenewalUntilSteadyMs = Number.NEGATIVE_INFINITY
  private failures = 0
  private lastFailure: { error: IssuerError; pauseUntilSteadyMs: number } | undefined

  constructor(options: AccessTokensOptions) {
    this.options = options
    this.settings = settingsFingerprints(options)
  }

  /** A valid token, as far as known. @throws {IssuerError} with `call` `token` */
  async get(): Promise<AccessToken> {
    const nowMs = this.nowMs()
    if (this.cached && nowMs < this.cached.freshUntilMs) return this.cached
    // While one call refreshes the token, other calls use the old one
    if (this.cached && this.search && nowMs < this.cached.expiresAtMs) return this.cached
    this.search ??= this.find().finally(() => {
      this.search = undefined
    })
    return this.search
  }

  /**
   * A new token in place of one that was answered with 401. Undefined when a new token was refused too a short time
   * ago, so that the cause is not the token.
   *
   * @throws {IssuerError} with `call` `token`
   */
  async renew(rejected: AccessToken): Promise<AccessToken | undefined> {
    if (this.steadyMs() < this.noRenewalUntilSteadyMs) return undefined
    this.rejected = rejected.text
    if (this.cached?.text === rejected.text) this.cached = undefined
    const token = await this.get()
    // A search that began earlier may return the rejected token: then search once more
    return token.text === rejected.text ? this.get() : token
  }

  /** Stops renewals for a while after a renewed token was answered with 401: they would use up the token requests. */
  renewalDidNotHelp(): void {
    this.noRenewalUntilSteadyMs = this.steadyMs() + REFUSED_PAUSE_MS
  }

  private nowMs(): number {
    return this.options.clock.nowMs()
  }

  private steadyMs(): number {
    return steadyMs(this.options.clock)
  }

  private async find(): Promise<AccessToken> {
    const row = await storedToken(this.options.db)
    const stored = this.read(row.encrypted)
    if (stored && this.nowMs() < stored.freshUntilMs) return this.cache(stored)
    if (stored && this.nowMs() < stored.expiresAtMs) return this.refresh(this.cache(stored), row.encrypted)
    this.assertNoPause()
    return this.obtain(row.encrypted)
  }

  /** Requests a new token while `old` still works; returns `old` if that fails. */
  private async refresh(old: AccessToken, seen: Buffer | null): Promise<AccessToken> {
    if (this.lastFailure && this.steadyMs() < this.lastFailure.pauseUntilSteadyMs) return old
    const lease = await this.takeLease(seen)
    if (!lease) return old
    try {
      return await this.ask(lease)
    } catch (error) {
      if (error instanceof IssuerError) return old
      throw error
    }
  }

  /** Requests a token, or waits for the process that is requesting one. */
  private async obtain(useless: Buffer | null): Promise<AccessToken> {
    let seen = useless
    const giveUpAtMs = performance.now() + this.options.config.timeoutMs + 2 * LEASE_MARGIN_MS
    for (;;) {
      const lease = await this.takeLease(seen)
      if (lease) return this.ask(lease)
      const row = await storedToken(this.options.db)
      const stored = this.read(row.encrypted)
      if (stored && this.nowMs() < stored.freshUntilMs) return this.cache(stored)
      seen = row.encrypted
      this.assertBudget(countedRequests(row, this.nowMs()), isLeased(row, this.nowMs()))
      if (performance.now() > giveUpAtMs) throw new IssuerError('unavailable', { call: 'token' })
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
      // The newest token is used even if the issuer gave out the rejected one again
      this.rejected = undefined
      this.cache(token)
      this.failures = 0
      this.lastFailure = undefined
      const text = JSON.stringify({ ...token, for: this.settings[0] })
      const encrypted = this.options.vault.encrypt('issuer-token', text, TOKEN_BINDING)
      await storeToken(this.options.db, lease, { encrypted, expiresAtMs: token.expiresAtMs })
      return token
    } catch (error) {
      if (error instanceof IssuerError) {
        this.noteFailure(error)
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

  /** Decrypts a stored token; undefined for none, other settings or another key, and for the rejected token. */
  private read(encrypted: Buffer | null): AccessToken | undefined {
    if (encrypted === null) return undefined
    try {
      const { for: settings, ...token } = JSON.parse(
        this.options.vault.decrypt('issuer-token', encrypted, TOKEN_BINDING),
      ) as AccessToken & {
        for: string
      }
      return this.settings.includes(settings) && token.text !== this.rejected ? token : undefined
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined
      throw error
    }
  }

  /** Caches a token, unless it was rejected while the search was running. */
  private cache(token: AccessToken): AccessToken {
    if (token.text !== this.rejected) this.cached = token
    return token
  }

  private noteFailure(error: IssuerError): void {
    const step = Math.min(this.failures, PAUSES_MS.length - 1)
    const ownPauseMs = error.kind === 'refused' ? REFUSED_PAUSE_MS : PAUSES_MS[step]!
    this.failures += 1
    const pauseMs = Math.max(ownPauseMs, error.retryAfterMs ?? 0)
    this.lastFailure = { error, pauseUntilSteadyMs: this.steadyMs() + pauseMs }
  }

  private assertNoPause(): void {
    const nowMs = this.steadyMs()
    if (!this.lastFailure || nowMs >= this.lastFailure.pauseUntilSteadyMs) return
    const { error, pauseUntilSteadyMs } = this.lastFailure
    throw new IssuerError(error.kind, {
      call: 'token',
      status: error.status,
      retryAfterMs: pauseUntilSteadyMs - nowMs,
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
 * Reads the answer to a token request. Wrong credentials are a 401 or 403, or an error name in the body.
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

/** Text that is valid in a header. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,8000}$/.test(value)
}

function readLifeS(json: unknown): number {
  const seconds = isObject(json) ? json.expires_in : undefined
  const isValid = typeof seconds === 'number' && seconds >= 1
  return isValid ? Math.floor(Math.min(seconds, LONGEST_LIFE_S)) : DEFAULT_LIFE_S
}

/** Identifies the settings of a token request: after a change of settings, a stored token must not be sent to another host. */
function settingsFingerprints({ config, credentials, vault }: AccessTokensOptions): readonly string[] {
  const { url, tokenUrl, audience } = config
  const { clientId, clientSecret } = credentials
  const settings = JSON.stringify([url, tokenUrl, audience, clientId, clientSecret])
  const prints = [
    vault.fingerprint('issuer-token', settings),
    ...vault.otherFingerprints('issuer-token', settings),
  ]
  return prints.map((print) => print.toString('hex'))
}

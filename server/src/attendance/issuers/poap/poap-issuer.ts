import type { Clock } from '../../../clock.ts'
import type { IssuerConfig } from '../../../config/config.ts'
import type { Db } from '../../../db/engine.ts'
import { ask, type OutboundAnswer, OutboundError, type OutboundRequest } from '../../../outbound.ts'
import type { Vault } from '../../secrets/vault.ts'
import {
  type CodeAtIssuer,
  type Issuer,
  IssuerError,
  type IssuerEvent,
  type ListedCode,
  type MintAnswer,
  type Sender,
} from '../issuer.ts'
import { type AccessToken, AccessTokens, type IssuerCredentials } from './access-token.ts'
import {
  readClaimAnswer,
  readCodeList,
  readEventAnswer,
  readMintAnswer,
  readVerdict,
} from './issuer-answers.ts'
import { type CallClass, Pacer, TooManyWaitingError } from './pacer.ts'
import { meaningOf } from './refusal-meanings.ts'
import { OneByOne, UnknownEvents } from './unknown-events.ts'

export interface PoapIssuerOptions {
  /** API key, client id and client secret must be set. */
  readonly config: IssuerConfig
  readonly db: Db
  readonly vault: Vault
  readonly clock: Clock
  /** Called after every request, for metrics; the facts hold no secret. */
  readonly onCall?: (request: IssuerRequestFacts) => void
}

export interface IssuerRequestFacts {
  /** A method of {@link Issuer}, or `token`. */
  readonly call: string
  /** The status of the answer, or why there was none: `timeout`, `unreachable`, `too_large`, `redirect`. */
  readonly result: string
  /** From sending to the last byte of the answer, without the wait in the queue. */
  readonly tookMs: number
}

const KIB = 1024
/** An event is a few kilobytes. */
const MAX_BYTES = 256 * KIB
/** 50,000 codes are about two megabytes. */
const MAX_LIST_BYTES = 16 * KIB * KIB
/** The list of codes may take so many times the usual timeout. */
const LIST_TIME_FACTOR = 6

interface Limits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Which calls go first, for the calls that the organiser's code has been judged for, and for those of claims. */
const CLASS_OF_CALL = {
  findEvent: 'organiser',
  listCodes: 'organiser',
  readCode: 'claim',
  mint: 'claim',
} as const

interface CallOptions {
  readonly limits?: Limits
  /** See {@link Issuer.mint}. */
  readonly beforeSend?: () => Promise<void>
}

/**
 * The POAP service: JSON over HTTPS, an API key with every call, a bearer token with the calls about codes. The rate of
 * calls and the time and size of answers are limited. Errors contain no text of the issuer and no secret.
 *
 * @example
 * const issuer = new PoapIssuer({ config, db, vault, clock })
 * await issuer.isEditCode(90001, '012345') // true
 */
export class PoapIssuer implements Issuer {
  private readonly config: IssuerConfig
  private readonly credentials: IssuerCredentials
  private readonly onCall: PoapIssuerOptions['onCall']
  /** Shared with what says how long players wait. */
  readonly pacer: Pacer
  private readonly unknownEvents = new UnknownEvents()
  private readonly strangers = new OneByOne()
  private readonly tokens: AccessTokens

  /** @throws when key or credentials are missing */
  constructor({ config, db, vault, clock, onCall }: PoapIssuerOptions) {
    this.config = config
    this.credentials = credentialsOf(config)
    this.onCall = onCall
    this.pacer = new Pacer(config)
    this.tokens = new AccessTokens({
      config,
      credentials: this.credentials,
      db,
      vault,
      clock,
      // Without rate limit and API key: the token host is another service, and gets at most four requests an hour
      send: (request) => this.send('token', config.tokenUrl, request, this.limits()),
    })
  }

  async findEvent(eventId: number): Promise<IssuerEvent | undefined> {
    const request = { method: 'GET', path: `/events/id/${pathPart(eventId)}` } as const
    return readEventAnswer(await this.call(callOf('findEvent'), request), eventId)
  }

  isEditCode(eventId: number, editCode: string, by: Sender, from?: string): Promise<boolean> {
    const judge = () => this.judge(eventId, editCode, { name: 'isEditCode', callClass: by, from })
    // One after the other, so that guesses at the same time for an invented event cost one call too
    return by === 'unproven' ? this.strangers.run(eventId, judge) : judge()
  }

  async listCodes(eventId: number, editCode: string): Promise<readonly ListedCode[]> {
    const path = `/event/${pathPart(eventId)}/qr-codes`
    const limits = { timeoutMs: LIST_TIME_FACTOR * this.config.timeoutMs, maxBytes: MAX_LIST_BYTES }
    const request = { method: 'POST', path, json: { secret_code: editCode } } as const
    return readCodeList(await this.protectedCall(callOf('listCodes'), request, { limits }))
  }

  async readCode(code: string): Promise<CodeAtIssuer | undefined> {
    const request = { method: 'GET', path: `/actions/claim-qr?qr_hash=${pathPart(code)}` } as const
    return readClaimAnswer(await this.protectedCall(callOf('readCode'), request), code)
  }

  async mint(
    wanted: { code: string; address: string; secret: string },
    beforeSend: () => Promise<void>,
  ): Promise<MintAnswer> {
    const json = {
      address: wanted.address,
      qr_hash: wanted.code,
      // The newest answers of readCode have no secret: then none is sent
      ...(wanted.secret === '' ? {} : { secret: wanted.secret }),
      sendEmail: false,
    }
    const request = { method: 'POST', path: '/actions/claim-qr', json } as const
    return readMintAnswer(await this.protectedCall(callOf('mint'), request, { beforeSend }), wanted)
  }

  private async judge(eventId: number, editCode: string, call: PacedCall): Promise<boolean> {
    // A pass or a proof of work pays for a call: the issuer may know the event by now
    if (call.callClass === 'unproven' && this.unknownEvents.has(eventId)) {
      await this.unknownEvents.waitAsIfJudged(this.waitMsOf(call))
      return false
    }
    const json = { event_id: eventId, secret_code: editCode }
    const startedMs = performance.now()
    const answer = await this.protectedCall(call, { method: 'POST', path: '/event/validate', json })
    const isRight = readVerdict(answer)
    if (isRight) this.unknownEvents.forget(eventId)
    else this.unknownEvents.noteWrong(eventId, isNoEvent(answer), performance.now() - startedMs)
    return isRight
  }

  /** Calls with a token; calls again with a new token when the first is not accepted. */
  private async protectedCall(
    call: PacedCall,
    request: OutboundRequest,
    options: CallOptions = {},
  ): Promise<OutboundAnswer> {
    const token = await this.tokens.get()
    const answer = await this.call(call, withToken(request, token), options)
    if (!isTokenRefused(answer)) return answer
    // An unauthorised call did nothing, so even a mint may be repeated
    const renewed = await this.tokens.renew(token)
    if (!renewed) return answer
    const second = await this.call(call, withToken(request, renewed), options)
    if (isTokenRefused(second)) this.tokens.renewalDidNotHelp()
    return second
  }

  private async call(
    call: PacedCall,
    request: OutboundRequest,
    { limits = this.limits(), beforeSend }: CallOptions = {},
  ): Promise<OutboundAnswer> {
    await this.waitForPacer(call)
    await beforeSend?.()
    const headers = { ...request.headers, 'x-api-key': this.credentials.apiKey }
    try {
      const answer = await this.send(call.name, this.config.url, { ...request, headers }, limits)
      if (isTooFast(answer)) this.pacer.slowDown(answer.retryAfterMs)
      return answer
    } catch (error) {
      if (error instanceof OutboundError) throw new IssuerError('unavailable', { call: call.name })
      throw error
    }
  }

  private async waitForPacer(call: PacedCall): Promise<void> {
    try {
      const wait = this.pacer.take(call.callClass, call.from)
      if (wait) await wait
    } catch (error) {
      throw asBusy(error, call)
    }
  }

  /** How long a call would wait for its turn. @throws {IssuerError} `busy`, where the call would be refused */
  private waitMsOf(call: PacedCall): number {
    try {
      return this.pacer.waitMs(call.callClass, call.from)
    } catch (error) {
      throw asBusy(error, call)
    }
  }

  private async send(
    call: string,
    baseUrl: string,
    request: OutboundRequest,
    limits: Limits,
  ): Promise<OutboundAnswer> {
    const startedMs = performance.now()
    const report = (result: string) => this.onCall?.({ call, result, tookMs: performance.now() - startedMs })
    try {
      const answer = await ask({ baseUrl, ...limits }, request)
      report(String(answer.status))
      return answer
    } catch (error) {
      if (error instanceof OutboundError) report(error.failure)
      throw error
    }
  }

  private limits(): Limits {
    return { timeoutMs: this.config.timeoutMs, maxBytes: MAX_BYTES }
  }
}

interface PacedCall {
  /** A method of {@link Issuer}. */
  readonly name: string
  readonly callClass: CallClass
  /** The network address of the sender. */
  readonly from?: string | undefined
}

function callOf(name: keyof typeof CLASS_OF_CALL): PacedCall {
  return { name, callClass: CLASS_OF_CALL[name] }
}

function asBusy(error: unknown, { name, callClass }: PacedCall): unknown {
  if (!(error instanceof TooManyWaitingError)) return error
  const isQueueFull = (callClass === 'unproven' || callClass === 'paid') && !error.isPause
  return new IssuerError('busy', { call: name, retryAfterMs: error.retryAfterMs, isQueueFull })
}

/** Whether the issuer says that there is no such event. A 404 alone does not: it may be about the edit code. */
function isNoEvent({ json }: OutboundAnswer): boolean {
  return meaningOf(json) === 'no_event'
}

function credentialsOf({ apiKey, clientId, clientSecret }: IssuerConfig): IssuerCredentials {
  if (apiKey === undefined || clientId === undefined || clientSecret === undefined)
    throw new Error('the issuer needs an API key, a client id and a client secret')
  return { apiKey, clientId, clientSecret }
}

function withToken(request: OutboundRequest, token: AccessToken): OutboundRequest {
  return { ...request, headers: { authorization: `Bearer ${token.text}` } }
}

/** A 401, unless its text is about something else than the token. */
function isTokenRefused({ status, json }: OutboundAnswer): boolean {
  return status === 401 && (meaningOf(json) ?? 'bad_credentials') === 'bad_credentials'
}

function isTooFast({ status, json }: OutboundAnswer): boolean {
  return status === 429 || (status >= 400 && meaningOf(json) === 'too_much')
}

function pathPart(part: string | number): string {
  return encodeURIComponent(String(part))
}

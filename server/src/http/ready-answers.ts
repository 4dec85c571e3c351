import type { IncomingMessage, ServerResponse } from 'node:http'
import { BoundedCache } from '../bounded-cache.ts'
import {
  type Answer,
  type AnswerOfAddress,
  cachedForm,
  encodingFor,
  type Format,
  StreamedBody,
  unchangedHeaders,
  wholeHeaders,
} from './answer.ts'
import type { ContentEncoding } from './content-encoding.ts'
import { READY_ANSWER_UNITS, SMALL_ANSWER_UNITS } from './cost-account.ts'
import { balanceHeaders, type CostBucket, type CostBudget } from './cost-budget.ts'
import { ANSWER_HEADER_LIST, type HeaderList } from './cross-origin.ts'
import { type AnswerNow, type HeldAnswer, HeldAnswers } from './held-answers.ts'
import { countHosts } from './host-header.ts'
import { groupOf, type Metrics } from './metrics.ts'
import { requestId } from './request-id.ts'
import { confirmedTag } from './validators.ts'
import { endWith, isAtOnce, sentBytes, type WholeBody, wholeBody } from './whole-body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined where every request passes the framework. */
    readonly readyAnswers: ReadyAnswers | undefined
  }
}

/** An answer with status 200 whose headers and body are in memory. */
export interface ReadyAnswer {
  /** The group of the route that made the answer, as metrics name it. */
  readonly group: string
  /** All headers but those of every answer. */
  readonly head: HeaderList
  readonly body: Buffer
}

/**
 * Makes a ready answer.
 *
 * @param headers all that the route sets, except `content-length`
 */
export function readyAnswer({
  group,
  headers,
  body,
}: {
  readonly group: string
  readonly headers: HeaderList
  readonly body: Buffer
}): ReadyAnswer {
  return { group, head: [...headers, 'content-length', String(body.length)], body }
}

interface Charges {
  readonly budget: CostBudget
  readonly clientOf: (request: IncomingMessage) => string
}

/** Finds the ready answer for an address exactly as it was requested, with its query. */
export type FindReady = (url: string) => ReadyAnswer | undefined

/** An address that was answered, exactly as it was requested. */
export class KnownAddress {
  /** The group of its route, as metrics name it. */
  readonly group: string
  readonly answer: AnswerOfAddress
  /** Memory that `answer` holds, beyond a few numbers and short texts. */
  readonly heldBytes: number
  /** The body that was sent whole last: its tag, and what all bodies with this tag have alike. */
  whole: (Pick<WholeBody, 'bytes' | 'units'> & { readonly tag: string; readonly format: Format }) | undefined
  /** Whether the body was read from the database. */
  isAwaited = false
  /** Whether the body was streamed, and compressed forms of it are cached for all clients. */
  isShared = false

  constructor(group: string, answer: AnswerOfAddress, heldBytes: number) {
    this.group = group
    this.answer = answer
    this.heldBytes = heldBytes
  }

  rememberWhole({ freshness: { tag }, format }: Answer, { bytes, units }: WholeBody): void {
    this.whole = { tag, format, bytes, units }
    this.isShared = false
  }
}

/** An address that a request of the framework names, with its answer; it is held from the second request on. */
export interface Remembered extends AnswerNow {
  readonly known: KnownAddress
}

/** An answer that is charged and can be sent; without a body: the client's copy is current. */
interface MadeAnswer {
  readonly status: 200 | 304
  readonly head: HeaderList
  readonly body: WholeBody | undefined
}

/** How a client gets the body of an answer. */
interface Form {
  readonly encoding: ContentEncoding | undefined
  readonly units: number
  readonly body: WholeBody | undefined
}

/** What is needed of a request of the framework. */
interface RoutedRequest {
  readonly raw: Pick<IncomingMessage, 'url'>
  readonly routeOptions: Parameters<typeof groupOf>[0]
}

/** Some five thousand addresses. */
const ADDRESSES_BYTES = 4 * 1024 * 1024
/** Longer addresses are rarely requested twice: those with hundreds of selected parcels, for example. */
const MAX_ADDRESS_LENGTH = 512
/** Memory of what a route has read from most addresses, besides parts of the address. */
const KNOWN_ADDRESS_BYTES = 256

/**
 * Sends answers without the framework, whose routing and hooks take a fifth of the CPU time of a small answer. It sends what a
 * route has made ready ({@link FindReady}), and answers addresses again that were answered before and whose answers depend on
 * nothing else ({@link AnswerOfAddress}). All other requests are passed to the framework: those that are not a plain GET or
 * HEAD, those whose body is streamed and not cached, those whose body is not held and has to be compressed or read from the
 * database, and those that are refused. Clients see no difference, except that what is made ready has no `RateLimit-…` headers:
 * these would cost a twentieth of it.
 *
 * The server of `createServer` calls {@link sendIfReady} for every request, before the framework.
 */
export class ReadyAnswers {
  private readonly metrics: Metrics
  private readonly addresses = new BoundedCache<KnownAddress>(ADDRESSES_BYTES)
  private find: FindReady = () => undefined
  private charges: Charges | undefined
  private held: HeldAnswers | undefined
  private isClosed = false

  constructor(metrics: Metrics) {
    this.metrics = metrics
  }

  /** Sets the function that finds ready answers. */
  findWith(find: FindReady): void {
    this.find = find
  }

  /** Charges answers to the budget of their client; the requests of one that has used it up are passed to the framework. */
  chargeTo(budget: CostBudget, clientOf: (request: IncomingMessage) => string): void {
    this.charges = { budget, clientOf }
  }

  /** From now on the framework gets every request: while it closes, it answers that itself. */
  close(): void {
    this.isClosed = true
  }

  /** From now on answers are held that are made of the moment that a function gives: see {@link HeldAnswers}. */
  holdDuring(moment: () => object): HeldAnswers {
    this.held = new HeldAnswers(moment)
    return this.held
  }

  /**
   * Answers later requests for the address of a request, with the function that was given first. From the second request on, the
   * answer is held.
   *
   * @param heldBytes memory that the function holds, beyond a few numbers and short texts
   */
  remember({ raw, routeOptions }: RoutedRequest, makeAnswer: AnswerOfAddress, heldBytes: number): Remembered {
    const { url = '' } = raw
    const earlier = this.addresses.get(url)
    if (earlier) return { known: earlier, ...this.answerOf(url, earlier) }
    const known = new KnownAddress(groupOf(routeOptions), makeAnswer, heldBytes)
    const answer = makeAnswer()
    if (url.length <= MAX_ADDRESS_LENGTH)
      this.addresses.set(url, known, KNOWN_ADDRESS_BYTES + url.length + heldBytes)
    return { known, answer, held: undefined }
  }

  /** Sends the answer if that needs no framework. @returns false if the framework has to answer */
  sendIfReady(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.isClosed || !isPlainRead(request)) return false
    const { url = '' } = request
    const known = this.addresses.get(url)
    if (known) return this.sendKnown(request, response, known)
    const ready = isConditional(request) ? undefined : this.find(url)
    if (!ready || !this.charge(this.bucketOf(request), READY_ANSWER_UNITS)) return false
    this.begin(request, response, ready, { status: 200, head: ready.head })
    response.end(ready.body) // Node.js sends no body to HEAD
    return true
  }

  private sendKnown(request: IncomingMessage, response: ServerResponse, known: KnownAddress): boolean {
    const startedMs = performance.now()
    const made = this.make(request, known)
    if (!made) return false
    this.begin(request, response, { group: known.group, startedMs }, made)
    endWith(response, made.body)
    return true
  }

  private answerOf(url: string, { answer: make, heldBytes }: KnownAddress): AnswerNow {
    return this.held?.of(url, make, heldBytes) ?? { answer: make(), held: undefined }
  }

  /** @returns undefined where the framework has to answer; also where making the answer fails now, which the framework reports */
  private make(request: IncomingMessage, known: KnownAddress): MadeAnswer | undefined {
    if (!known.whole && !known.isShared && !isConditional(request)) return undefined
    const bucket = this.bucketOf(request)
    if (bucket?.has(READY_ANSWER_UNITS) === false) return undefined
    try {
      const { answer, held } = this.answerOf(request.url ?? '', known)
      const copy = confirmedTag(request, answer.freshness)
      if (copy !== undefined) {
        const balance = this.charge(bucket, SMALL_ANSWER_UNITS)
        return (
          balance && { status: 304, head: [...unchangedHeaders(answer, copy), ...balance], body: undefined }
        )
      }
      const form = formFor(request, known, answer, held)
      const balance = form && this.charge(bucket, Math.max(answer.cost ?? SMALL_ANSWER_UNITS, form.units))
      const body = balance && (form.body ?? madeNow(answer, held))
      if (!body) return undefined
      return { status: 200, head: [...wholeHeaders(answer, body.bytes, form.encoding), ...balance], body }
    } catch {
      return undefined
    }
  }

  private bucketOf(request: IncomingMessage): CostBucket | undefined {
    const { charges } = this
    return charges?.budget.isLimited ? charges.budget.bucketOf(charges.clientOf(request)) : undefined
  }

  /** @returns headers that say what is left of the budget; undefined if it is used up: the framework refuses the request */
  private charge(bucket: CostBucket | undefined, units: number): HeaderList | undefined {
    const balance = bucket?.take(units)
    if (balance?.isTaken === false) return undefined
    if (!this.charges) return []
    const { budget } = this.charges
    budget.charged += units
    return balance ? balanceHeaders(budget.perMinute, balance) : []
  }

  private begin(
    request: IncomingMessage,
    response: ServerResponse,
    { group, startedMs = performance.now() }: { readonly group: string; readonly startedMs?: number },
    { status, head }: Pick<MadeAnswer, 'status' | 'head'>,
  ): void {
    response.on('finish', () => {
      const tookMs = performance.now() - startedMs
      this.metrics.countAnswer({ group, status, tookMs, socket: request.socket })
    })
    response.writeHead(status, ['x-request-id', requestId(request), ...ANSWER_HEADER_LIST, ...head])
  }
}

/** @returns undefined where the framework has to answer; `body` is left out where it is made when the client is charged */
function formFor(
  request: IncomingMessage,
  { whole, isShared, isAwaited }: KnownAddress,
  answer: Answer,
  held: HeldAnswer | undefined,
): Form | undefined {
  if (isShared) {
    const streamed = answer.body()
    const cached = streamed instanceof StreamedBody ? cachedForm(request, answer, streamed) : undefined
    if (!cached) return undefined
    const body = sentBytes(cached.bytes)
    return { encoding: cached.encoding, units: body.units, body }
  }
  if (whole?.tag !== answer.freshness.tag) return undefined
  const encoding = encodingFor(request, whole.format, whole.bytes)
  const body = encoding ? held?.compressed(encoding) : held?.whole
  if (!body && (encoding || isAwaited)) return undefined
  return { encoding, units: whole.units, body }
}

function madeNow(answer: Answer, held: HeldAnswer | undefined): WholeBody | undefined {
  const given = answer.body()
  if (!isAtOnce(given)) return undefined
  const made = wholeBody(given, answer.format)
  return held?.holdWhole(made) ?? made
}

function isPlainRead(request: IncomingMessage): boolean {
  const { method, headers } = request
  return (
    (method === 'GET' || method === 'HEAD') && headers['if-match'] === undefined && countHosts(request) === 1
  )
}

function isConditional({ headers }: IncomingMessage): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
}

import { SECOND_MS } from '../../clock.ts'
import { asObject } from '../../json-object.ts'
import { askAddress, type OutboundAnswer, OutboundError } from '../../outbound.ts'
import { repeatAfterFailures } from '../../retries.ts'
import type { CallCounters } from './call-counters.ts'
import { WrongAnswerError } from './hex-values.ts'
import type { NodeAddress } from './node-address.ts'
import { NodeError, type NodeFailure } from './node-error.ts'
import { NodeHealth } from './node-health.ts'
import { RateLimiter } from './rate-limiter.ts'
import { type NodeReply, type Refusal, readRefusal, readRefusalOf } from './refusals.ts'
import type { Timing } from './timing.ts'

export interface JsonRpcOptions {
  readonly address: NodeAddress
  /** For a whole answer; waiting for the rate limit is not part of it. */
  readonly timeoutMs: number
  /** The longest body of any answer. */
  readonly maxBytes: number
  /** Requests at the same time. */
  readonly maxInFlight: number
  readonly counters: CallCounters
  readonly timing: Timing
  /** From 0 up to 1, for the jitter of pauses. */
  readonly random: () => number
  /** Ends all calls and pauses; they throw its reason. */
  readonly signal?: AbortSignal | undefined
  /** Whether no other node can be asked now: then a call waits for a pause that this one asks for. */
  readonly isAlone?: () => boolean
}

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  /** Parses the answer; `JSON.parse` where it is left out. */
  readonly parse?: (body: Buffer) => unknown
  /** The longest body of the answer; {@link SMALL_BYTES} where it is left out. A longer one is a wrong answer. */
  readonly maxBytes?: number
  /** Whether less may be asked for where the answer is too large: then that is no wrong answer. */
  readonly isDivisible?: boolean
}

/** The longest answer with one header, number or text: a header names some thousand transactions at most. */
const SMALL_BYTES = 1_048_576
/** The longest answer to a batch, which is parsed at once. Where it would be larger, smaller batches are sent. */
const BATCH_BYTES = 16 * SMALL_BYTES

type AnswerForm = Pick<Call, 'parse' | 'maxBytes' | 'isDivisible'>

/** How a call of a batch ended. */
export type Outcome = { readonly result: unknown } | { readonly error: NodeError }

interface Reply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
  /** The text of a refusal without `error`. */
  readonly message?: unknown
}

/** Logs are mostly zeros and repeated hashes: compressed, they are about a tenth. */
const ACCEPT_GZIP = { 'accept-encoding': 'gzip' }
const INVALID_PARAMS = -32_602
/** How often a call is sent that the node refuses for the moment. */
const MAX_TRIES = 4
/** The longest pause before the second try; each further one is twice as long. */
const FIRST_REPEAT_MS = 400
/** A call waits for a pause of its node up to this; nodes with longer pauses are not asked. */
export const MAX_WAIT_MS = 10 * SECOND_MS

/** JSON-RPC over HTTP with one node: envelopes, ids, refusals, rate limit, health and counters. Results are not checked here. */
export class JsonRpc {
  readonly address: NodeAddress
  readonly limiter: RateLimiter
  readonly health: NodeHealth
  private readonly options: JsonRpcOptions
  private lastId = 0

  constructor(options: JsonRpcOptions) {
    this.options = options
    this.address = options.address
    this.limiter = new RateLimiter(options)
    this.health = new NodeHealth(options.timing)
  }

  /**
   * The result of one call. Sent again where the node refuses it for the moment: after a status of 500 or more, and after
   * the pause of a rate limit where no other node can be asked.
   *
   * @param read checks the result and gives it its form; a {@link WrongAnswerError} from it counts as a wrong answer
   * @throws {NodeError} when there is no usable answer
   */
  call<T>(call: Call, read: (result: unknown) => T | Promise<T>): Promise<T> {
    return this.repeated(() => this.callOnce(call, read))
  }

  private async callOnce<T>(call: Call, read: (result: unknown) => T | Promise<T>): Promise<T> {
    const { method, params } = call
    return this.limiter.run(async () => {
      const startedMs = this.options.timing.nowMs()
      try {
        const id = this.nextId()
        const answer = await this.post({ jsonrpc: '2.0', id, method, params }, call)
        const reply = this.onlyReply(method, answer, id)
        const value = await read(
          this.resultOf(method, answer, reply, (refusal) => readRefusalOf(method, refusal)),
        )
        this.noteAnswer(startedMs, method, 1)
        return value
      } catch (error) {
        throw this.countFailure(error, method, 1)
      }
    })
  }

  /**
   * Calls of one method in one request, which is sent again like a {@link call}.
   *
   * @returns what each call ended in, in the order of `calls`
   * @throws {NodeError} when the batch as a whole has no usable answer, for example because the node refuses batches
   */
  batch(method: string, paramsOfEach: readonly (readonly unknown[])[]): Promise<readonly Outcome[]> {
    return this.repeated(() => this.batchOnce(method, paramsOfEach))
  }

  private async batchOnce(
    method: string,
    paramsOfEach: readonly (readonly unknown[])[],
  ): Promise<readonly Outcome[]> {
    const count = paramsOfEach.length
    return this.limiter.run(async () => {
      const startedMs = this.options.timing.nowMs()
      try {
        const calls = paramsOfEach.map((params) => ({ jsonrpc: '2.0', id: this.nextId(), method, params }))
        const answer = await this.post(calls, {
          maxBytes: Math.min(count * SMALL_BYTES, BATCH_BYTES),
          isDivisible: true,
        })
        if (!Array.isArray(answer.json)) {
          // A refusal of the batch as a whole, or of the request
          this.resultOf(method, answer, readReply(answer.json))
          throw new WrongAnswerError('a batch was answered by a single result')
        }
        const replies = repliesById(answer.json)
        const outcomes = calls.map(({ id }) => this.outcomeOf(method, answer, replies.get(id)))
        this.noteOutcomes(startedMs, method, outcomes)
        return outcomes
      } catch (error) {
        throw this.countFailure(error, method, count)
      }
    })
  }

  private repeated<T>(send: () => Promise<T>): Promise<T> {
    const { timing, signal } = this.options
    return repeatAfterFailures(send, {
      pauseAfter: (error, tries) => {
        const pauseMs = this.repeatAfterMs(error, tries)
        if (pauseMs === undefined) this.noteHealth(error)
        return pauseMs
      },
      pause: (ms) => timing.pause(ms, signal),
    })
  }

  /** Undefined where the call is not sent again. The limiter waits for the pause of a rate limit. */
  private repeatAfterMs(error: unknown, tries: number): number | undefined {
    if (!(error instanceof NodeError) || tries >= MAX_TRIES) return undefined
    if (error.kind === 'rate_limit')
      return this.options.isAlone?.() && this.limiter.pauseMs <= MAX_WAIT_MS ? 0 : undefined
    const isMomentary = error instanceof RefusedError && error.kind === 'refused' && error.status >= 500
    if (!isMomentary) return undefined
    return FIRST_REPEAT_MS * 2 ** (tries - 1) * (0.5 + this.options.random() / 2)
  }

  /** The error for an answer whose form is right but whose contents are not; the node is avoided for a while. */
  wrongAnswer(method: string, reason: string): NodeError {
    const error = this.countFailure(new WrongAnswerError(reason), method, 1) as NodeError
    this.noteHealth(error)
    return error
  }

  private nextId(): number {
    this.lastId += 1
    return this.lastId
  }

  /** Sends a request; once more if the connection breaks: nodes close idle ones just when they are used again. */
  private async post(json: unknown, form: AnswerForm): Promise<OutboundAnswer> {
    try {
      return await this.postOnce(json, form)
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      if (error.failure === 'unreachable') return this.postOnce(json, form)
      if (error.failure !== 'too_large' || form.isDivisible) throw error
      throw new WrongAnswerError('the answer is larger than such an answer can be')
    }
  }

  private async postOnce(
    json: unknown,
    { parse, maxBytes = SMALL_BYTES }: AnswerForm,
  ): Promise<OutboundAnswer> {
    const { timeoutMs, signal, timing } = this.options
    const limits = {
      ...{ timeoutMs, signal, startTimer: timing.startTimer },
      maxBytes: Math.min(maxBytes, this.options.maxBytes),
    }
    return askAddress(this.address.url, limits, {
      method: 'POST',
      json,
      headers: ACCEPT_GZIP,
      ...(parse && { parse }),
    })
  }

  private onlyReply(method: string, answer: OutboundAnswer, id: number): Reply | undefined {
    const reply = readReply(answer.json)
    // Errors may come without an id, for example where the node did not read the request
    if (reply && !isRefusal(reply) && Number(reply.id) !== id) {
      throw new WrongAnswerError(`the answer to ${method} has another id`)
    }
    return reply
  }

  /** @throws {NodeError} for a refusal */
  private resultOf(
    method: string,
    answer: OutboundAnswer,
    reply: Reply | undefined,
    meaningOf: (refusal: NodeReply) => Refusal = readRefusal,
  ): unknown {
    if (isRefusal(reply) || answer.status >= 400)
      throw this.refusalOf(method, answer, reply?.error ?? reply, meaningOf)
    if (!reply || reply.result === undefined) throw new WrongAnswerError('there is neither result nor error')
    return reply.result
  }

  private refusalOf(
    method: string,
    { status, retryAfterMs }: OutboundAnswer,
    error: unknown,
    meaningOf: (refusal: NodeReply) => Refusal,
  ): NodeError {
    const { code, message, data } = readErrorObject(error)
    const failure = meaningOf({ status, code, message, data, retryAfterMs })
    const words = [message, typeof data === 'string' ? data : '', status === 200 ? '' : `HTTP ${status}`]
    const text = words.filter((each) => each !== '').join('; ')
    return new RefusedError(this.address, { method, failure, words: text, code, status })
  }

  private outcomeOf(method: string, answer: OutboundAnswer, reply: Reply | undefined): Outcome {
    try {
      return { result: this.resultOf(method, answer, reply) }
    } catch (error) {
      return { error: this.asNodeError(error, method) }
    }
  }

  private noteOutcomes(startedMs: number, method: string, outcomes: readonly Outcome[]): void {
    const good = outcomes.filter((outcome) => 'result' in outcome).length
    for (const outcome of outcomes) {
      if ('error' in outcome) this.noteHealth(this.countFailure(outcome.error, method, 1))
    }
    if (good > 0) this.noteAnswer(startedMs, method, good)
  }

  private noteAnswer(startedMs: number, method: string, calls: number): void {
    this.limiter.noteAnswer(startedMs)
    this.health.noteAnswer()
    this.options.counters.add(this.address.name, method, 'ok', calls)
  }

  /** Counts a failure, and returns what is to be thrown for it. */
  private countFailure(thrown: unknown, method: string, calls: number): unknown {
    if (this.options.signal?.aborted) return thrown
    const error = this.asNodeError(thrown, method)
    const { failure } = error
    this.options.counters.add(error.node, method, failure.kind, calls)
    if (failure.kind === 'rate_limit')
      this.limiter.noteRefusal('retryAfterMs' in failure ? failure.retryAfterMs : undefined)
    return error
  }

  private noteHealth(error: unknown): void {
    // A parameter that the node does not know, such as a tag, says nothing about its health
    const isUnknownParameter = error instanceof RefusedError && error.code === INVALID_PARAMS
    if (error instanceof NodeError && !isUnknownParameter) this.health.noteFailure(error.kind)
  }

  /** @throws what is no failure of a node, but of this program */
  private asNodeError(thrown: unknown, method: string): NodeError {
    if (thrown instanceof NodeError) return thrown
    const failure = failureOf(thrown)
    if (!failure) throw thrown
    return new NodeError(
      this.address,
      method,
      failure,
      thrown instanceof WrongAnswerError ? thrown.message : '',
    )
  }
}

/** A refusal with its code and status, which decide whether the node is avoided, and asked again. */
export class RefusedError extends NodeError {
  readonly code: number | undefined
  readonly status: number

  constructor(
    address: NodeAddress,
    refused: {
      readonly method: string
      readonly failure: NodeFailure
      readonly words: string
      readonly code: number | undefined
      readonly status: number
    },
  ) {
    super(address, refused.method, refused.failure, refused.words)
    this.code = refused.code
    this.status = refused.status
  }
}

function failureOf(thrown: unknown): NodeFailure | undefined {
  if (thrown instanceof OutboundError) return { kind: thrown.failure, problem: thrown.problem }
  return thrown instanceof WrongAnswerError ? { kind: 'wrong_answer' } : undefined
}

/** Gateways answer some refusals without the envelope: `{"status":429,"message":"Too Many Requests"}`. */
function isRefusal(reply: Reply | undefined): boolean {
  if (!reply) return false
  const { error, result, message } = reply
  return (error !== undefined && error !== null) || (result === undefined && typeof message === 'string')
}

function readReply(json: unknown): Reply | undefined {
  return asObject(json) as Reply | undefined
}

/** Some nodes answer ids as texts. */
function repliesById(json: readonly unknown[]): ReadonlyMap<number, Reply> {
  const replies = new Map<number, Reply>()
  for (const item of json) {
    const reply = readReply(item)
    if (!reply) throw new WrongAnswerError('an answer of a batch is not an object')
    const id = Number(reply.id)
    if (replies.has(id)) throw new WrongAnswerError('two answers of a batch have one id')
    replies.set(id, reply)
  }
  return replies
}

function readErrorObject(error: unknown): { code: number | undefined; message: string; data: unknown } {
  if (typeof error === 'string') return { code: undefined, message: error, data: undefined }
  const { code, status, message, data } = (readReply(error) ?? {}) as Record<string, unknown>
  return {
    code: [code, status].find((each) => typeof each === 'number'),
    message: typeof message === 'string' ? message : '',
    data,
  }
}

import { piecesOf, readBytes, readText } from './body.ts'
import type { Call } from './call.ts'
import { LandpassError, offlineError, refusalOf } from './errors.ts'
import type { EtagStore } from './etags.ts'
import { type Exact, parseExactJson } from './exact-json.ts'
import type { Transport, TransportBody, TransportRequest, TransportResponse } from './transport.ts'
import { fetchTransport } from './transports/fetch.ts'
import { type Wait, waitFor } from './wait.ts'

const DEFAULT_RETRIES = 2
const DEFAULT_MAX_WAIT_MS = 30_000
/** The wait if the server does not say how long; doubled with each retry. */
const FIRST_WAIT_MS = 1_000

/** An address, or of pages of the server itself a path or nothing. */
const BASE_URL = /^(?:https?:\/\/|\/|$)/i

export interface ClientOptions {
  /** Address of the server: `https://land.example.org`. Pages of the server itself may pass a path, or nothing. */
  readonly baseUrl: string
  /** {@link fetchTransport} if left out. */
  readonly transport?: Transport
  /** Caches answers to GET requests, which are then revalidated with the server. No cache if left out. */
  readonly etags?: EtagStore
  /** Retries of a GET request that was answered with 429 or 503: two if left out. */
  readonly retries?: number
  /** The longest wait before a retry, in milliseconds: 30 s if left out. The call fails if a longer one is needed. */
  readonly maxWaitMs?: number
  /** Waits between retries; tests pass their own function. */
  readonly wait?: Wait
}

export interface SendOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Replaces the client's `retries`. */
  readonly retries?: number
}

/** The data of an answer, and its ETag. */
export interface Answer<Data> {
  readonly data: Data
  /** Changes whenever the data change; undefined if the server sends none. */
  readonly etag: string | undefined
}

/** Sends calls to one server. Its only state is the cache of answers. */
export interface Client {
  /**
   * Sends a call and returns the data of its answer.
   *
   * A stream (a call whose `form` is `stream`) keeps its connection until it is read to its end, left with `break`, or
   * aborted through `signal`. A stream that is never read must be aborted.
   *
   * @throws {LandpassError} for a refusal, or if no readable answer arrived; the signal's reason if it is aborted
   * @example
   * const { owner } = await client.send(land.parcel({ x: 10, y: 20 }))
   */
  send<Data>(call: Call<Data>, options?: SendOptions): Promise<Data>
  /** Like {@link send}, with the answer's ETag. */
  answer<Data>(call: Call<Data>, options?: SendOptions): Promise<Answer<Data>>
  /** Like {@link answer}, with every digit of each number: see {@link Exact}. */
  exactAnswer<Data>(call: Call<Data>, options?: SendOptions): Promise<Answer<Exact<Data>>>
  /**
   * The whole address of a read: for images, links and downloads.
   *
   * @example
   * client.url(land.parcelImage({ x: 10, y: 20 }, { width: 320 })) // 'http://localhost:3000/v1/parcels/10/20/map.png?width=320'
   */
  url(call: Call<unknown>): string
  /** The `wait` of the options, or the default, for waits between calls. */
  readonly wait: Wait
}

/**
 * A client of one server.
 *
 * @throws {RangeError} for a `baseUrl` without `http://` or `https://`
 * @example
 * const client = createClient({ baseUrl: 'http://localhost:3000' })
 * const parcel = await client.send(land.parcel({ x: 10, y: 20 }))
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, transport = fetchTransport(), etags, wait = waitFor } = options
  const { retries = DEFAULT_RETRIES, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
  if (!BASE_URL.test(baseUrl)) throw new RangeError('baseUrl must begin with http:// or https://.')
  const base = baseUrl.replace(/\/$/, '')

  async function answerWith<Data>(
    call: Call<unknown>,
    parse: (json: string) => unknown,
    { signal, retries: callRetries = retries }: SendOptions = {},
  ): Promise<Answer<Data>> {
    const send = () => sendOnce({ call, url: base + call.path, transport, etags, signal })
    const { body, etag, response } = await withRetries(send, {
      isAllowed: call.method === 'GET',
      retries: callRetries,
      maxWaitMs,
      wait,
      signal,
    })
    return { data: dataOf(call, body, parse, response) as Data, etag }
  }

  const answer = <Data>(call: Call<Data>, sendOptions?: SendOptions) =>
    answerWith<Data>(call, JSON.parse, sendOptions)
  return {
    answer,
    exactAnswer: <Data>(call: Call<Data>, sendOptions?: SendOptions) =>
      answerWith<Exact<Data>>(call, parseExactJson, sendOptions),
    send: async (call, sendOptions) => (await answer(call, sendOptions)).data,
    url: ({ path }) => base + path,
    wait,
  }
}

interface Sending {
  readonly call: Call<unknown>
  readonly url: string
  readonly transport: Transport
  readonly etags: EtagStore | undefined
  readonly signal: AbortSignal | undefined
}

/** A successful answer with its whole body, or a stream. */
interface SuccessfulAnswer {
  readonly response: TransportResponse
  readonly etag: string | undefined
  readonly body: TransportBody
}

async function sendOnce({ call, url, transport, etags, signal }: Sending): Promise<SuccessfulAnswer> {
  signal?.throwIfAborted()
  const store = call.method === 'GET' && call.form !== 'stream' ? etags : undefined
  const held = await store?.get(url)
  const request: TransportRequest = {
    method: call.method,
    url,
    headers: {
      ...call.headers,
      ...(held && { 'if-none-match': held.etag }),
      ...(call.body && { 'content-type': 'application/json' }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    signal,
  }
  const response = await orOfflineError(() => transport(request), signal)
  if (response.status === 304 && held) return { response, etag: held.etag, body: copyOf(held.body) }
  if (response.status !== 200)
    throw refusalOf(response, await orOfflineError(() => readText(response.body), signal))

  const { etag } = response.headers
  if (call.form === 'stream') return { response, etag, body: streamedPieces(response.body, signal) }
  const readWhole = call.form === 'bytes' ? readBytes : readText
  const body = await orOfflineError<string | Uint8Array>(() => readWhole(response.body), signal)
  if (etag !== undefined) await store?.set(url, { etag, body: copyOf(body) })
  return { response, etag, body }
}

function dataOf(
  { form }: Call<unknown>,
  body: TransportBody,
  parse: (json: string) => unknown,
  response: TransportResponse,
): unknown {
  if (form !== 'envelope' && form !== 'json') return body
  const text = body as string // both forms were read as text
  let json: unknown
  try {
    json = parse(text)
  } catch {
    throw refusalOf(response, '')
  }
  if (form === 'json') return json
  const envelope = json as { readonly ok?: unknown; readonly data?: unknown } | null
  if (envelope?.ok !== true) throw refusalOf(response, text)
  return envelope.data
}

interface RetryLimits {
  readonly isAllowed: boolean
  readonly retries: number
  readonly maxWaitMs: number
  readonly wait: Wait
  readonly signal: AbortSignal | undefined
}

/** Retries a request that the server was too busy for, after the wait that it asks for. */
async function withRetries<Result>(send: () => Promise<Result>, limits: RetryLimits): Promise<Result> {
  for (let tried = 0; ; tried++) {
    try {
      return await send()
    } catch (error) {
      const waitMs = waitBefore(error, tried)
      if (!limits.isAllowed || tried >= limits.retries || waitMs === undefined || waitMs > limits.maxWaitMs)
        throw error
      await limits.wait(waitMs, limits.signal)
    }
  }
}

/** Milliseconds before a retry; undefined if a retry does not help. */
function waitBefore(error: unknown, tried: number): number | undefined {
  if (!(error instanceof LandpassError) || (error.status !== 429 && error.status !== 503)) return undefined
  return error.retryAfterS === undefined ? FIRST_WAIT_MS * 2 ** tried : error.retryAfterS * 1000
}

/** Runs `act`. @throws the signal's reason if it is aborted, otherwise {@link LandpassError} `offline` for any error */
async function orOfflineError<Result>(
  act: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    signal?.throwIfAborted()
    throw offlineError(error)
  }
}

async function* streamedPieces(
  body: TransportBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const pieces = piecesOf(body)
  try {
    for (;;) {
      const { done, value } = await orOfflineError(() => pieces.next(), signal)
      if (done) return
      yield value
    }
  } finally {
    await pieces.return(undefined)
  }
}

/** A copy of bytes, so that a caller that changes its answer does not change the cached one. */
function copyOf(body: string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' ? body : body.slice()
}

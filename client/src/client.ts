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
/** Where the server does not say how long; doubled with every try. */
const FIRST_WAIT_MS = 1_000

export interface ClientOptions {
  /** Where the server is, without a slash at the end: `https://land.example.org`. Empty for a page of the server itself. */
  readonly baseUrl: string
  /** {@link fetchTransport} if left out. */
  readonly transport?: Transport
  /** Reads that were answered before are confirmed by the server instead of sent again. Nothing is kept if left out. */
  readonly etags?: EtagStore
  /** How often a read is repeated that was answered with 429 or 503: twice if left out. */
  readonly retries?: number
  /** The longest wait before a repetition, in milliseconds: 30 s if left out. Before a longer one the call fails at once. */
  readonly maxWaitMs?: number
  /** Waits between tries; tests bring their own. */
  readonly wait?: Wait
}

export interface SendOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** In place of the client's own. */
  readonly retries?: number
}

/** An answer and what stood beside it. */
export interface Answer<Data> {
  readonly data: Data
  /** Changes whenever the data do; undefined where the server sends none. */
  readonly etag: string | undefined
}

/** Sends calls to one server. It holds no state but its store of answers. */
export interface Client {
  /**
   * Sends a call and answers its data.
   *
   * A stream (a call whose `form` is `stream`) keeps its connection until it is read to its end, left with `break`, or
   * aborted through `signal`. A stream that the caller does not want any more before reading it must be aborted.
   *
   * @throws {LandpassError} for a refusal, and when no readable answer came; the signal's reason when the caller ends it
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
  /** As it was given, or the default: for callers that wait between calls of their own. */
  readonly wait: Wait
}

/**
 * A client of one server.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://localhost:3000' })
 * const parcel = await client.send(land.parcel({ x: 10, y: 20 }))
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, transport = fetchTransport(), etags, wait = waitFor } = options
  const { retries = DEFAULT_RETRIES, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
  const base = baseUrl.replace(/\/$/, '')

  async function answerWith<Data>(
    call: Call<unknown>,
    parse: (json: string) => unknown,
    { signal, retries: callRetries = retries }: SendOptions = {},
  ): Promise<Answer<Data>> {
    const send = () => sendOnce({ call, url: base + call.path, transport, etags, signal })
    const { body, etag, response } = await repeated(send, {
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

/** A good answer with its whole body, or with one that is still coming. */
interface GoodAnswer {
  readonly response: TransportResponse
  readonly etag: string | undefined
  readonly body: TransportBody
}

async function sendOnce({ call, url, transport, etags, signal }: Sending): Promise<GoodAnswer> {
  signal?.throwIfAborted()
  const store = call.method === 'GET' && call.form !== 'stream' ? etags : undefined
  const held = await store?.get(url)
  const request: TransportRequest = {
    method: call.method,
    url,
    headers: {
      ...(held && { 'if-none-match': held.etag }),
      ...(call.body && { 'content-type': 'application/json' }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    signal,
  }
  const response = await reached(() => transport(request), signal)
  if (response.status === 304 && held) return { response, etag: held.etag, body: copyOf(held.body) }
  if (response.status !== 200) throw refusalOf(response, await reached(() => readText(response.body), signal))

  const { etag } = response.headers
  if (call.form === 'stream') return { response, etag, body: guarded(response.body, signal) }
  const readWhole = call.form === 'bytes' ? readBytes : readText
  const body = await reached<string | Uint8Array>(() => readWhole(response.body), signal)
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

interface Repetition {
  readonly isAllowed: boolean
  readonly retries: number
  readonly maxWaitMs: number
  readonly wait: Wait
  readonly signal: AbortSignal | undefined
}

/** Tries again what the server was too busy for, after as long as it asks for. */
async function repeated<Result>(send: () => Promise<Result>, limits: Repetition): Promise<Result> {
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

/** Milliseconds until a call may go through; undefined where waiting does not help. */
function waitBefore(error: unknown, tried: number): number | undefined {
  if (!(error instanceof LandpassError) || (error.status !== 429 && error.status !== 503)) return undefined
  return error.retryAfterS === undefined ? FIRST_WAIT_MS * 2 ** tried : error.retryAfterS * 1000
}

/** Tells apart: the caller ended it, or nothing came through. */
async function reached<Result>(act: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    signal?.throwIfAborted()
    throw offlineError(error)
  }
}

async function* guarded(body: TransportBody, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const pieces = piecesOf(body)
  try {
    for (;;) {
      const { done, value } = await reached(() => pieces.next(), signal)
      if (done) return
      yield value
    }
  } finally {
    await pieces.return(undefined)
  }
}

/** A caller may change the bytes of its answer; those in the store stay as they are. */
function copyOf(body: string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' ? body : body.slice()
}

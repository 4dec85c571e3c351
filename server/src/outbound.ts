import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SECOND_MS } from './clock.ts'
import { parseOrUndefined } from './json-object.ts'

export type StartTimer = (ms: number, callback: () => void) => () => void

const startRealTimer: StartTimer = (ms, callback) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** Limits of a call to a configured service. */
export interface OutboundLimits {
  /** For the whole answer, body included. */
  readonly timeoutMs: number
  /** The longest body. */
  readonly maxBytes: number
  /** Starts the timer of the time limit, and returns how to stop it; tests replace it. */
  readonly startTimer?: StartTimer | undefined
  /** Ends the call early: it then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** Requests go to paths below `baseUrl` only. */
export interface OutboundOptions extends OutboundLimits {
  /** Origin with an optional path, without a slash at its end. Comes from settings, never from a client. */
  readonly baseUrl: string
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST'
  /** Appended to `baseUrl`: begins with `/` or `?`, or is empty. Values from clients in it are percent-encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Parses the body of the answer; `JSON.parse` where it is left out. Undefined where the body is not JSON. */
  readonly parse?: (body: Buffer) => unknown
}

export interface OutboundAnswer {
  readonly status: number
  /** Undefined where the body is not JSON, for example an error page. */
  readonly json: unknown
  /** From `Retry-After`: how long to wait before the next request. */
  readonly retryAfterMs: number | undefined
}

export type OutboundFailure = 'timeout' | 'unreachable' | 'too_large' | 'redirect'

/**
 * Why a service is not reached, where that is known: nothing listens at the port; the host name does not resolve; its
 * certificate is not accepted; only one side speaks TLS; it speaks HTTP/2 only; or it is no web server.
 */
export type ConnectionProblem =
  | 'nothing_listens'
  | 'unknown_host'
  | 'certificate'
  | 'speaks_no_tls'
  | 'speaks_tls'
  | 'http2_only'
  | 'no_http'

/** There is no usable answer: the service may have done what was asked, or not. Carries no address, header or body. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure
  /** Only for `unreachable`. */
  readonly problem: ConnectionProblem | undefined
  constructor(failure: OutboundFailure, problem?: ConnectionProblem) {
    super(`the service gave no usable answer: ${failure}`)
    this.name = 'OutboundError'
    this.failure = failure
    this.problem = problem
  }
}

/** Connections are kept alive: opening one for each claim would take longer than the rest of the claim. */
const AGENTS = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 128 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 128 }),
}

/**
 * Sends a request to a configured service. Follows no redirect; limits the time and the size of the whole answer. Uses
 * node:http because fetch takes three times its CPU time, and each claim sends two requests.
 *
 * @throws {OutboundError} when there is no whole answer
 */
export async function ask(options: OutboundOptions, request: OutboundRequest): Promise<OutboundAnswer> {
  return askAddress(addressBelow(options.baseUrl, request.path), options, request)
}

/**
 * Like {@link ask}, for a service of one address, which may have a query, and a user and password: they are sent as
 * basic authorisation. The address comes from settings, never from a client.
 *
 * @throws {OutboundError} when there is no whole answer; the reason of the signal when that has ended the call
 */
export async function askAddress(
  url: URL,
  { timeoutMs, maxBytes, startTimer = startRealTimer, signal }: OutboundLimits,
  request: Omit<OutboundRequest, 'path'>,
): Promise<OutboundAnswer> {
  signal?.throwIfAborted()
  const body = request.json === undefined ? undefined : JSON.stringify(request.json)
  const sent = send(url, { ...request, body })
  let isLate = false
  const stopTimer = startTimer(timeoutMs, () => {
    isLate = true
    sent.destroy(new OutboundError('timeout'))
  })
  const stop = () => sent.destroy(new OutboundError('unreachable'))
  signal?.addEventListener('abort', stop)
  try {
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    const status = response.statusCode ?? 0
    if (status >= 300 && status < 400) throw new OutboundError('redirect')
    const answer = await readBody(response, maxBytes)
    return {
      status,
      json: request.parse ? request.parse(answer) : parseJsonAnswer(answer.toString('utf8')),
      retryAfterMs: parseRetryAfter(response.headers['retry-after']),
    }
  } catch (error) {
    sent.destroy()
    signal?.throwIfAborted()
    if (error instanceof OutboundError) throw error
    throw isLate ? new OutboundError('timeout') : new OutboundError('unreachable', problemOf(error))
  } finally {
    stopTimer()
    signal?.removeEventListener('abort', stop)
  }
}

/** Codes of Node.js and of OpenSSL. */
function problemOf(error: unknown): ConnectionProblem | undefined {
  const { code = '', message, rawPacket } = error as NodeJS.ErrnoException & { readonly rawPacket?: Buffer }
  if (code === 'ECONNREFUSED') return 'nothing_listens'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknown_host'
  if (/CERT|UNABLE_TO_VERIFY|SELF_SIGNED|ERR_TLS/.test(code)) return 'certificate'
  if (/wrong.version.number|packet.length.too.long|http.request/i.test(`${code} ${message}`))
    return 'speaks_no_tls'
  if (code.startsWith('HPE_') && rawPacket) return protocolOf(rawPacket)
  return undefined
}

/** What speaks in place of HTTP/1.1, by the first bytes of a plain connection. */
function protocolOf(bytes: Buffer): ConnectionProblem | undefined {
  if (bytes[0] === TLS_ALERT && bytes[1] === TLS_MAJOR) return 'speaks_tls'
  const isSettings =
    bytes.length >= HTTP2_FRAME_BYTES && bytes[3] === HTTP2_SETTINGS && bytes.readUInt32BE(5) === 0
  if (isSettings) return 'http2_only'
  return bytes.toString('latin1', 0, 5) === 'HTTP/' ? undefined : 'no_http'
}

const TLS_ALERT = 0x15
const TLS_MAJOR = 3
const HTTP2_FRAME_BYTES = 9
const HTTP2_SETTINGS = 4

function send(
  url: URL,
  { method, headers, body }: Omit<OutboundRequest, 'path'> & { body: string | undefined },
) {
  const { request } = url.protocol === 'https:' ? https : http
  const sent = request(url, {
    method,
    agent: AGENTS[url.protocol as keyof typeof AGENTS],
    headers: {
      accept: 'application/json',
      'user-agent': 'landpass',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  })
  // `ask` sees errors through the events that it awaits; an error after that is ignored
  sent.on('error', () => undefined)
  sent.end(body)
  return sent
}

/** @throws when the path would leave the base address: a fault of this server, not of the service */
function addressBelow(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl + path)
  const base = new URL(baseUrl)
  const isBelow = url.origin === base.origin && url.pathname.startsWith(base.pathname.replace(/\/$/, ''))
  if (!isBelow || url.username !== '' || url.password !== '')
    throw new Error('an outbound path leaves its base address')
  return url
}

/** An answer is compressed only where the request's `accept-encoding` allows it. The limit of bytes counts decompressed ones. */
function decompressed(response: http.IncomingMessage): Readable {
  if (!/^\s*(?:x-)?gzip\s*$/i.test(response.headers['content-encoding'] ?? '')) return response
  // The reader of the last stream sees the errors of both
  return pipeline(response, createGunzip(), () => undefined)
}

async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of decompressed(response) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new OutboundError('too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Undefined for what is not JSON. A byte order mark may come before it. */
export function parseJsonAnswer(text: string): unknown {
  return parseOrUndefined(text.startsWith('\ufeff') ? text.slice(1) : text)
}

const MAX_RETRY_AFTER_S = 3600

/** Seconds, or a date; an hour at most. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / SECOND_MS
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S) * SECOND_MS : undefined
}

import http, { type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { rawClientAddress, trustIn } from './client-address.ts'
import { ConnectionLimiter, type ConnectionLimits } from './connection-limits.ts'
import { ANSWER_HEADERS } from './cross-origin.ts'
import { errorJson, retryAfterS } from './error-handler.ts'
import type { Metrics } from './metrics.ts'
import type { ReadyAnswers } from './ready-answers.ts'
import { requestId } from './request-id.ts'
import { type AnswerRequest, RequestScheduler } from './request-scheduler.ts'
import { type SlowReaderLimits, SlowReaders } from './slow-readers.ts'
import type { Stopping } from './stopping.ts'

export interface HttpServerOptions {
  readonly requestTimeoutMs: number
  readonly metrics: Metrics
  /** Addresses or ranges of proxies, which the limit of connections of one address does not apply to. */
  readonly trustedProxies: readonly string[]
  /** Answers that are sent before the framework gets the request; undefined: none. */
  readonly readyAnswers?: ReadyAnswers | undefined
  /** Left out: no limit. */
  readonly connections?: ConnectionLimits
  /** Left out: clients may take their answers as slowly as they like. */
  readonly slowReaders?: SlowReaderLimits
  /** Left out: connections stay open until the server is closed. */
  readonly stopping?: Stopping
}

/** Connections without any traffic for this time are closed. */
const IDLE_TIMEOUT_MS = 120 * SECOND_MS
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND_MS
/** How often request timeouts are checked. By default Node.js checks every 30 s, which would end requests too late. */
const TIMEOUT_CHECK_EVERY_MS = SECOND_MS / 2
/** A refused client has this long to read the refusal; then its connection is cut. */
const REFUSAL_READ_WITHIN_MS = 5 * SECOND_MS

/**
 * Creates the HTTP server below the framework, which sends ready answers itself. Its limits are set here, because the
 * framework sets none on a server that it did not create.
 */
export function createHttpServer(framework: RequestListener, options: HttpServerOptions): http.Server {
  const { readyAnswers, requestTimeoutMs, stopping, trustedProxies } = options
  const isTrusted = trustIn(trustedProxies)
  const scheduler = new RequestScheduler({
    clientOf: rawClientAddress(trustedProxies),
    isProxy: ({ remoteAddress = '' }) => isTrusted(remoteAddress),
    refuse: sendRefusal,
    ...(options.connections && { onCut: (socket) => limiter?.readSlowly(socket) }),
  })
  const limiter =
    options.connections &&
    new ConnectionLimiter(options.connections, isTrusted, (socket, error) =>
      scheduler.refuseConnection(socket, error),
    )
  const answer: AnswerRequest = (request, response) => {
    if (!readyAnswers?.sendIfReady(request, response)) framework(request, response)
  }
  // Node.js would refuse a missing Host and an unknown Expect without a body: refuseUnmetConditions does it instead.
  const settings = { connectionsCheckingInterval: TIMEOUT_CHECK_EVERY_MS, requireHostHeader: false }
  const server = http.createServer(settings, (request, response) =>
    scheduler.serve(request, response, answer),
  )
  server.on('checkExpectation', (request, response) => scheduler.serve(request, response, framework))
  server.on('connection', () => scheduler.connectionArrived())
  server.on('clientError', (error: BrokenRequest, socket: Socket) =>
    scheduler.refuseAfterAnswers(socket, () => refuseBrokenRequest(error, socket)),
  )
  stopping?.onBegin(() => scheduler.closeConnections())
  server.requestTimeout = requestTimeoutMs
  server.headersTimeout = requestTimeoutMs
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  server.setTimeout(IDLE_TIMEOUT_MS)
  limiter?.watch(server)
  measure(scheduler, limiter, options)
  limitReading(server, options)
  return server
}

function measure(
  scheduler: RequestScheduler,
  limiter: ConnectionLimiter | undefined,
  { metrics }: HttpServerOptions,
): void {
  metrics.addGauges([
    {
      name: 'landpass_requests_waiting',
      help: 'Requests that have not been started, and connections that an overloaded server reads in turn.',
      read: () => scheduler.counts.queued + scheduler.counts.behind + scheduler.counts.unread,
    },
  ])
  metrics.addCounters([
    {
      name: 'landpass_requests_shed_total',
      help: 'Requests that were refused because they waited too long, or their connection was beyond the limit.',
      read: () => scheduler.counts.refused,
    },
    {
      name: 'landpass_connections_cut_total',
      help: 'Connections that were cut because too many requests were sent before their answers.',
      read: () => scheduler.counts.cut,
    },
  ])
  if (!limiter) return
  metrics.addGauges([
    {
      name: 'landpass_connections_open',
      help: 'Open connections of clients.',
      read: () => limiter.counts.open,
    },
  ])
  metrics.addCounters([
    {
      name: 'landpass_connections_refused_total',
      help: 'Connections that were refused because a limit was reached.',
      read: () => limiter.counts.refused,
    },
  ])
}

function limitReading(server: http.Server, { slowReaders, metrics }: HttpServerOptions): void {
  if (!slowReaders) return
  const readers = new SlowReaders(slowReaders)
  readers.watch(server)
  metrics.addCounters([
    {
      name: 'landpass_slow_readers_total',
      help: 'Clients that were disconnected because they did not take their answer.',
      read: () => readers.count,
    },
  ])
}

type BrokenRequest = Error & { readonly code?: string }

/** Answers bytes that are not valid HTTP, which never reach a route, in the form of all failures. */
function refuseBrokenRequest({ code }: BrokenRequest, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return
  const refusal = brokenRequestRefusal(code)
  const body = errorJson(refusal)
  const headers = Object.entries({
    ...refusalHeaders(refusal, body, requestId({ headers: {} })),
    connection: 'close',
  })
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  )
  setTimeout(() => socket.destroy(), REFUSAL_READ_WITHIN_MS).unref()
}

/** Answers a request that does not reach the framework, in the form of all failures. */
function sendRefusal(response: ServerResponse, refusal: AppError): void {
  const body = errorJson(refusal)
  response
    .writeHead(refusal.status, {
      ...refusalHeaders(refusal, body, requestId(response.req)),
      'retry-after': String(retryAfterS(refusal)),
    })
    .end(body)
}

function refusalHeaders(refusal: AppError, body: string, id: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': id,
    'x-error-code': refusal.code,
    ...ANSWER_HEADERS,
    'content-length': String(Buffer.byteLength(body)),
  }
}

function brokenRequestRefusal(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AppError('header_too_large', 'The address and headers of a request may have at most 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_timeout', 'The request did not arrive in time.')
  }
  return new AppError('bad_request', 'The request is not well-formed HTTP.')
}

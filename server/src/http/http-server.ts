import http, { type RequestListener, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { COMMON_HEADERS } from './common-headers.ts'
import { ConnectionLimiter, type ConnectionLimits } from './connection-limits.ts'
import { errorJson } from './error-handler.ts'
import type { Metrics } from './metrics.ts'
import { type AnswerRequest, Pipelining } from './pipelining.ts'
import type { ReadyAnswers } from './ready-answers.ts'
import { requestId } from './request-id.ts'
import { type SlowReaderLimits, SlowReaders } from './slow-readers.ts'
import type { Stopping } from './stopping.ts'

export interface HttpServerOptions {
  readonly requestTimeoutMs: number
  readonly metrics: Metrics
  /** Addresses or ranges of proxies, which the limit of connections of one address does not apply to. */
  readonly trustedProxies: readonly string[]
  /** Answers that are sent before the framework gets the request; left out: none. */
  readonly readyAnswers?: ReadyAnswers
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
  const { readyAnswers, requestTimeoutMs, stopping } = options
  const pipelining = new Pipelining()
  const answer: AnswerRequest = (request, response) => {
    if (!readyAnswers?.sendIfReady(request, response)) framework(request, response)
  }
  // Node.js would refuse a missing Host and an unknown Expect without a body: refuseUnmetConditions does it instead.
  const settings = { connectionsCheckingInterval: TIMEOUT_CHECK_EVERY_MS, requireHostHeader: false }
  const server = http.createServer(settings, (request, response) =>
    pipelining.serve(request, response, answer),
  )
  server.on('checkExpectation', (request, response) => pipelining.serve(request, response, framework))
  server.on('clientError', (error: BrokenRequest, socket: Socket) =>
    pipelining.refuseAfterAnswers(socket, () => refuseBrokenRequest(error, socket)),
  )
  stopping?.onBegin(() => pipelining.closeConnections())
  server.requestTimeout = requestTimeoutMs
  server.headersTimeout = requestTimeoutMs
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  server.setTimeout(IDLE_TIMEOUT_MS)
  limitConnections(server, options)
  return server
}

function limitConnections(
  server: http.Server,
  { connections, slowReaders, trustedProxies, metrics }: HttpServerOptions,
): void {
  if (connections) {
    const limiter = new ConnectionLimiter(connections, trustedProxies)
    limiter.watch(server)
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
        help: 'Connections that were closed at once because a limit was reached.',
        read: () => limiter.counts.refused,
      },
    ])
  }
  if (slowReaders) {
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
}

type BrokenRequest = Error & { readonly code?: string }

/** Answers bytes that are not valid HTTP, which never reach a route, in the form of all failures. */
function refuseBrokenRequest({ code }: BrokenRequest, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return
  const refusal = brokenRequestRefusal(code)
  const body = errorJson(refusal)
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `X-Request-Id: ${requestId({ headers: {} })}`,
      `X-Error-Code: ${refusal.code}`,
      ...Object.entries(COMMON_HEADERS).map(([name, value]) => `${name}: ${value}`),
      'Access-Control-Allow-Origin: *',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  setTimeout(() => socket.destroy(), REFUSAL_READ_WITHIN_MS).unref()
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

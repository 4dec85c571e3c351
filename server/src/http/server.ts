import http, { type RequestListener, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import type { LogLevel } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { CODINGS } from './codings.ts'
import { COMMON_HEADERS } from './common-headers.ts'
import { EXPOSED_HEADERS } from './cross-origin.ts'
import { COMPRESS_FROM_BYTES, ENCODERS } from './encoders.ts'
import { errorJson, handleError, handleNotFound } from './error-handler.ts'
import { BODY_LIMIT_BYTES, readBodiesAsJson } from './json-body.ts'
import { loggedRequest } from './logged-request.ts'
import { answerUnknownOptions } from './methods.ts'
import type { Metrics } from './metrics.ts'
import type { ReadyAnswers } from './ready-answers.ts'
import { requestId } from './request-id.ts'
import { parameterReader } from './validation.ts'
import { tagUnderCoding } from './validators.ts'

export interface ServerOptions {
  readonly logLevel: LogLevel
  readonly requestTimeoutMs: number
  readonly metrics: Metrics
  /** Addresses or ranges whose `X-Forwarded-For` is believed; everybody else's is ignored. */
  readonly trustedProxies: readonly string[]
  /** Answers that are sent before the framework sees the request; left out: none. */
  readonly readyAnswers?: ReadyAnswers
}

/** Connections that say nothing for so long are closed; a slow reader of a large answer is not silent. */
const IDLE_TIMEOUT_MS = 120 * SECOND_MS
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND_MS
/** How often slow requests are looked for. Node looks every 30 s: so much later they would be cut off. */
const LOOK_FOR_SLOW_MS = SECOND_MS / 2
/** From here on compression happens off the main thread; below it costs less than handing the text over. */
const COMPRESS_APART_FROM_BYTES = 32 * 1024
/** Text; pictures are compressed by nature, and what is coded already comes with its coding. */
const COMPRESSED_TYPES = /^text\/(?!event-stream)|[+/](?:json|x-ndjson|text|xml)(?:;|$)/
/** Longer than any parameter we know: what is too long is refused by its reader, with a sentence, not by the router. */
const MAX_PARAMETER_LENGTH = 1000

/** The server without routes: ids, limits, CORS, compression, parameters, failures, measurements. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { level: options.logLevel, serializers: { req: loggedRequest } },
    logController: new LogController({ disableRequestLogging: !logsRequests(options.logLevel) }),
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (usualWay) => createHttpServer(usualWay, options),
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, ignoreTrailingSlash: true },
    clientErrorHandler: refuseBrokenRequest,
    // No hook runs for an address that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...COMMON_HEADERS, 'x-request-id': request.id, 'access-control-allow-origin': '*' })
      handleError(error, request, reply)
    },
  })
  app.setValidatorCompiler(parameterReader)
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...COMMON_HEADERS, 'x-request-id': request.id })
    done()
  })
  app.addHook('preClose', (done) => {
    options.readyAnswers?.close()
    done()
  })
  options.metrics.watch(app)
  readBodiesAsJson(app)
  app.addHook('onRoute', (route) => {
    if (route.url === '*') route.onRequest = answerUnknownOptions
  })
  // No allowedHeaders: the headers that a browser asks for are allowed, x-identity-auth-chain-0 and the others by name
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 86_400,
    strictPreflight: false,
    preflightContinue: true, // to methods.ts, which knows the methods of each address
  })
  app.addHook('onRequest', refuseUnmetConditions)
  await compressAnswers(app)
  return app
}

/**
 * The server below the framework, which sends ready answers itself. The framework leaves the limits of a server that
 * it did not make to who made it.
 */
function createHttpServer(usualWay: RequestListener, options: ServerOptions): http.Server {
  const { readyAnswers, requestTimeoutMs } = options
  // Node refuses a missing Host and an unknown Expect itself, without a body: here refuseUnmetConditions does.
  const settings = { connectionsCheckingInterval: LOOK_FOR_SLOW_MS, requireHostHeader: false }
  const server = http.createServer(settings, (request, response) => {
    if (!readyAnswers?.answers(request, response)) usualWay(request, response)
  })
  server.on('checkExpectation', usualWay)
  server.requestTimeout = requestTimeoutMs
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  server.setTimeout(IDLE_TIMEOUT_MS)
  return server
}

/** Whether every request gets a line in the log. */
export function logsRequests(level: LogLevel): boolean {
  return level === 'debug' || level === 'trace'
}

async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    threshold: COMPRESS_FROM_BYTES,
    syncThreshold: COMPRESS_APART_FROM_BYTES,
    encodings: [...CODINGS],
    customTypes: COMPRESSED_TYPES,
    globalDecompression: false,
    brotliOptions: ENCODERS.small.br,
    zlibOptions: ENCODERS.small.gzip,
  })
  // Added to each route rather than to the server: such hooks run last, when the coding is known.
  app.addHook('onRoute', (route) => {
    route.onSend = [...[route.onSend ?? []].flat(), markCodedTag]
  })
}

const markCodedTag: Extract<
  NonNullable<import('fastify').RouteOptions['onSend']>,
  (...args: never) => void
> = (_request, reply, payload, done) => {
  const coding = reply.getHeader('content-encoding')
  const tag = reply.getHeader('etag')
  if (typeof coding === 'string' && typeof tag === 'string') reply.header('etag', tagUnderCoding(tag, coding))
  done(null, payload)
}

/** What HTTP asks of every request and of every server. The sender may still be waiting, so the connection ends. */
async function refuseUnmetConditions({ headers, raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    reply.header('connection', 'close')
    throw new AppError('bad_request', 'The request has no Host header, which HTTP/1.1 asks for.')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    reply.header('connection', 'close')
    throw new AppError('expectation_failed', 'The only Expect header that is understood is "100-continue".')
  }
}

/** What is not even HTTP never reaches a route; it gets the same form of answer all the same. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const refusal = brokenRequestRefusal(error.code)
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
}

function brokenRequestRefusal(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AppError('header_too_large', 'The address and headers of a request may have 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_timeout', 'The request did not arrive in time.')
  }
  return new AppError('bad_request', 'The request is not well-formed HTTP.')
}

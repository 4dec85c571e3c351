import http, { type RequestListener, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import type { LogLevel } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { COMMON_HEADERS } from './common-headers.ts'
import { CONTENT_ENCODINGS } from './content-encoding.ts'
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
import { encodedTag } from './validators.ts'

export interface ServerOptions {
  readonly logLevel: LogLevel
  readonly requestTimeoutMs: number
  readonly metrics: Metrics
  /** Addresses or ranges of proxies whose `X-Forwarded-For` is used; that of other senders is ignored. */
  readonly trustedProxies: readonly string[]
  /** Answers that are sent before the framework gets the request; left out: none. */
  readonly readyAnswers?: ReadyAnswers
}

/** Connections without any traffic for this time are closed. A client that reads a large answer slowly is not idle. */
const IDLE_TIMEOUT_MS = 120 * SECOND_MS
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND_MS
/** How often request timeouts are checked. By default Node.js checks every 30 s, which would end requests too late. */
const TIMEOUT_CHECK_EVERY_MS = SECOND_MS / 2
/** Larger bodies are compressed off the main thread. For smaller ones, the transfer to a thread would cost more. */
const COMPRESS_OFF_MAIN_THREAD_FROM_BYTES = 32 * 1024
/** Types of text. Images are compressed already. */
const COMPRESSED_TYPES = /^text\/(?!event-stream)|[+/](?:json|x-ndjson|text|xml)(?:;|$)/
/** Longer than every valid parameter, so that its schema refuses a parameter that is too long, not the router. */
const MAX_PARAMETER_LENGTH = 1000

/** Creates the server without routes: request ids, limits, CORS, compression, parameters, failures, metrics. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { level: options.logLevel, serializers: { req: loggedRequest } },
    logController: new LogController({ disableRequestLogging: !logsRequests(options.logLevel) }),
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (framework) => createHttpServer(framework, options),
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
  // Without allowedHeaders, all headers that a preflight names are allowed, x-identity-auth-chain-0 for example.
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 86_400,
    strictPreflight: false,
    preflightContinue: true, // methods.ts answers: it knows the methods of each address
  })
  app.addHook('onRequest', refuseUnmetConditions)
  await compressAnswers(app)
  return app
}

/**
 * Creates the HTTP server below the framework, which sends ready answers itself. Its limits are set here, because the
 * framework sets none on a server that it did not create.
 */
function createHttpServer(framework: RequestListener, options: ServerOptions): http.Server {
  const { readyAnswers, requestTimeoutMs } = options
  // Node.js would refuse a missing Host and an unknown Expect without a body: refuseUnmetConditions does it instead.
  const settings = { connectionsCheckingInterval: TIMEOUT_CHECK_EVERY_MS, requireHostHeader: false }
  const server = http.createServer(settings, (request, response) => {
    if (!readyAnswers?.sendIfReady(request, response)) framework(request, response)
  })
  server.on('checkExpectation', framework)
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
    syncThreshold: COMPRESS_OFF_MAIN_THREAD_FROM_BYTES,
    encodings: [...CONTENT_ENCODINGS],
    customTypes: COMPRESSED_TYPES,
    globalDecompression: false,
    brotliOptions: ENCODERS.small.br,
    zlibOptions: ENCODERS.small.gzip,
  })
  // Added to each route, not to the server: hooks of routes run last, when the content encoding is known.
  app.addHook('onRoute', (route) => {
    route.onSend = [...[route.onSend ?? []].flat(), addEncodingToTag]
  })
}

const addEncodingToTag: Extract<
  NonNullable<import('fastify').RouteOptions['onSend']>,
  (...args: never) => void
> = (_request, reply, payload, done) => {
  const encoding = reply.getHeader('content-encoding')
  const tag = reply.getHeader('etag')
  if (typeof encoding === 'string' && typeof tag === 'string') reply.header('etag', encodedTag(tag, encoding))
  done(null, payload)
}

/** Refuses requests without `Host` or with an unknown `Expect`, and closes the connection: a body may still follow. */
async function refuseUnmetConditions({ headers, raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    reply.header('connection', 'close')
    throw new AppError('bad_request', 'The request has no Host header, which HTTP/1.1 requires.')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    reply.header('connection', 'close')
    throw new AppError('expectation_failed', 'The only Expect header that is understood is "100-continue".')
  }
}

/** Answers bytes that are not valid HTTP, which never reach a route, in the form of all failures. */
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
    return new AppError('header_too_large', 'The address and headers of a request may have at most 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_timeout', 'The request did not arrive in time.')
  }
  return new AppError('bad_request', 'The request is not well-formed HTTP.')
}

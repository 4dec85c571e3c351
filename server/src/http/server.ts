import compress from '@fastify/compress'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  LogController,
  type onRequestHookHandler,
} from 'fastify'
import type { LogLevel } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { trustIn, watchForwarded } from './client-address.ts'
import { CONTENT_ENCODINGS } from './content-encoding.ts'
import { ANSWER_HEADERS } from './cross-origin.ts'
import {
  COMPRESS_FROM_BYTES,
  COMPRESS_OFF_MAIN_THREAD_FROM_BYTES,
  COMPRESSED_TYPES,
  ENCODERS,
} from './encoders.ts'
import { handleError, handleNotFound } from './error-handler.ts'
import { countHosts } from './host-header.ts'
import { createHttpServer, type HttpServerOptions } from './http-server.ts'
import { BODY_LIMIT_BYTES, readBodiesAsJson } from './json-body.ts'
import { loggedRequest } from './logged-request.ts'
import { answerOtherMethods } from './methods.ts'
import { requestId } from './request-id.ts'
import { parameterReader } from './validation.ts'
import { encodedTag } from './validators.ts'

export interface ServerOptions extends HttpServerOptions {
  readonly logLevel: LogLevel
  /** Addresses or ranges of proxies whose `X-Forwarded-For` is used; that of other senders is ignored. */
  readonly trustedProxies: readonly string[]
}

const ROUTER_OPTIONS = {
  /** Longer than every valid parameter, so that its schema refuses a parameter that is too long, not the router. */
  maxParamLength: 1000,
  ignoreTrailingSlash: true,
}

/** Creates the server without routes: request ids, limits, CORS, compression, parameters, failures, metrics. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const isTrusted = trustIn(options.trustedProxies)
  const app = Fastify({
    logger: { level: options.logLevel, serializers: { req: loggedRequest } },
    logController: new LogController({ disableRequestLogging: !logsRequests(options.logLevel) }),
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 && isTrusted,
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (framework) => createHttpServer(framework, options),
    forceCloseConnections: 'idle',
    routerOptions: ROUTER_OPTIONS,
    clientErrorHandler: () => {}, // createHttpServer answers bytes that are no request
    return503OnClosing: false, // a server that stops still answers what reaches it
    // No hook runs for an address that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...ANSWER_HEADERS, 'x-request-id': request.id })
      handleError(error, request, reply)
    },
  })
  app.decorate('readyAnswers', options.readyAnswers)
  app.setValidatorCompiler(parameterReader)
  app.setErrorHandler<FastifyError | AppError>((error, request, reply) => {
    if (error instanceof AppError) options.metrics.countRefusal(error)
    handleError(error, request, reply)
  })
  app.setNotFoundHandler(handleNotFound)
  // For answers through the framework: http/send.ts sends most of the others, with the same headers
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.headers({ ...ANSWER_HEADERS, 'x-request-id': request.id })
    done(null, payload)
  })
  watchForwarded(app, isTrusted)
  app.addHook('preClose', (done) => {
    options.stopping?.begin()
    options.readyAnswers?.close()
    done()
  })
  options.metrics.watch(app)
  readBodiesAsJson(app)
  app.addHook('onRequest', refuseUnmetConditions)
  app.addHook('onRequest', refuseEmptyParts)
  await compressAnswers(app)
  answerOtherMethods(app, ROUTER_OPTIONS)
  return app
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

/** Two slashes in a row in the path. Those of an origin before the path, which HTTP/1.1 allows, do not count. */
const EMPTY_PART = /^(?:https?:\/\/[^/?#]*)?\/(?:[^?#]*\/)?\//i

/** An address with an empty part is none: its route would read the part as an empty id. Routes of folders know their files. */
const refuseEmptyParts: onRequestHookHandler = (request, reply, done) => {
  const { url, is404, routeOptions } = request
  const isRefused = url.includes('//') && EMPTY_PART.test(url) && !is404 && !routeOptions.url?.endsWith('*')
  if (isRefused) reply.callNotFound()
  else done()
}

/** Refuses requests without `Host`, with several, or with an unknown `Expect`, and closes the connection: a body may still follow. */
const refuseUnmetConditions: onRequestHookHandler = ({ headers, raw }, reply, done) => {
  const hosts = countHosts(raw)
  if (hosts === 0 && raw.httpVersion === '1.1') {
    reply.header('connection', 'close')
    throw new AppError('bad_request', 'The request has no Host header, which HTTP/1.1 requires.')
  }
  if (hosts > 1) {
    reply.header('connection', 'close')
    throw new AppError('bad_request', 'The request has several Host headers. Send one.')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    reply.header('connection', 'close')
    throw new AppError('expectation_failed', 'The only Expect header that is understood is "100-continue".')
  }
  done()
}

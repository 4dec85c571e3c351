import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, internalError } from '../errors.ts'

const RETRY_AFTER_S = 5

/** Turns every failure into an answer. Errors that are no {@link AppError} go to the log, and the client gets a 500. */
export function handleError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = withDataOf(request, error instanceof AppError ? error : asAppError(error, request))
  logFailure(known, error, request)
  if (known.status === 429 || known.status === 503) reply.header('retry-after', String(retryAfterS(known)))
  sendError(reply, known)
}

/** A route may name data that all its failures carry, because an older client reads it without a look at `ok`. */
declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the limit of the body is for, where that is not plain: it follows in the refusal of a larger one. */
    readonly bodyLimitMeans?: string
    readonly failureData?: Readonly<Record<string, unknown>>
  }
}

function withDataOf({ routeOptions }: FastifyRequest, error: AppError): AppError {
  const { failureData } = routeOptions.config
  if (!failureData) return error
  return new AppError(error.code, error.message, { ...failureData, ...error.data })
}

/** Whole seconds, at least one: `retry_after_s` of the failure, or a default. */
export function retryAfterS({ data }: AppError): number {
  const seconds = data.retry_after_s
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return RETRY_AFTER_S
  return Math.max(Math.ceil(seconds), 1)
}

/**
 * Logs a 500 with its stack, and a database that does not do its work as one line, with the reason that no client sees;
 * other failures are not logged. The logger of a request adds the request id.
 */
function logFailure(known: AppError, thrown: Error, request: FastifyRequest): void {
  if (isChosen(thrown)) return
  const { url } = request.routeOptions
  if (known.status === 500) request.log.error({ url, err: thrown }, known.message)
  else if (known.code.startsWith('database_')) request.log.warn({ url, reason: known.cause }, known.message)
}

/** Whether a rehearsal asked for this answer. A database that really fails in a rehearsal has a cause. */
function isChosen(error: Error): boolean {
  return error instanceof AppError && error.data.rehearsal === true && error.cause === undefined
}

function sendError(reply: FastifyReply, error: AppError): void {
  // These headers were set for the answer that failed.
  for (const name of ['etag', 'last-modified', 'content-encoding', 'content-disposition'])
    reply.removeHeader(name)
  reply
    .code(error.status)
    .header('cache-control', 'no-store')
    // The world's desktop client gives a scene only the sentence and the headers of a failure, not its body.
    .header('x-error-code', error.code)
    .header('content-type', 'application/json; charset=utf-8')
    .send(errorJson(error))
}

export function errorJson({ message, code, data }: AppError): string {
  return JSON.stringify({ ok: false, error: message, code, data })
}

/** Translates errors of the framework: those caused by the request become errors of the client, all others 500. */
function asAppError(error: FastifyError, { routeOptions }: FastifyRequest): AppError {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(
        'body_too_large',
        bodyTooLarge(routeOptions.bodyLimit, routeOptions.config.bodyLimitMeans),
      )
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('invalid_body', 'The body must be one JSON object.')
    default:
      // For example a broken escape in the address (400), or a part of it that is too long (414).
      if (isClientError(error.statusCode))
        return new AppError('bad_request', 'The request is not well-formed.')
      return internalError()
  }
}

/** @param means what the limit is for the sender, of endpoints that take more than fields */
function bodyTooLarge(limitBytes: number, means: string | undefined): string {
  const sentence = `The body is larger than ${Math.floor(limitBytes / 1024)} KiB.`
  return means === undefined ? sentence : `${sentence} ${means}.`
}

function isClientError(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500
}

/** The answer does not repeat the address, which may contain a secret by mistake. */
export function handleNotFound(): never {
  throw new AppError('not_found', 'There is no endpoint at this address; /docs/interface lists all of them.')
}

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

const RETRY_AFTER_S = 5

/** The one place where a failure becomes an answer. What we did not throw on purpose is told to the log alone. */
export function handleError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = error instanceof AppError ? error : asAppError(error)
  logFailure(known, error, request)
  if (known.status === 429 || known.status === 503) reply.header('retry-after', String(retryAfterS(known)))
  sendError(reply, known)
}

/** Whole seconds, at least one: what the failure says of itself in `retry_after_s`, or a usual time. */
function retryAfterS({ data }: AppError): number {
  const seconds = data.retry_after_s
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return RETRY_AFTER_S
  return Math.max(Math.ceil(seconds), 1)
}

/** Our own faults with their stack; a database that is away as a line; a world that is not there yet is no news. */
function logFailure(known: AppError, thrown: Error, request: FastifyRequest): void {
  const facts = { reqId: request.id, url: request.routeOptions.url }
  if (known.status === 500) request.log.error({ ...facts, err: thrown }, known.message)
  else if (known.code === 'database_unavailable') request.log.warn(facts, known.message)
}

export function sendError(reply: FastifyReply, error: AppError): void {
  // An error is nobody's fresh copy, and is not compressed as the answer would have been.
  for (const name of ['etag', 'last-modified', 'content-encoding', 'content-disposition'])
    reply.removeHeader(name)
  reply
    .code(error.status)
    .header('cache-control', 'no-store')
    // The world's desktop client hands a scene the sentence of a failure and its headers, and nothing else of it.
    .header('x-error-code', error.code)
    .header('content-type', 'application/json; charset=utf-8')
    .send(errorJson(error))
}

export function errorJson({ message, code, data }: AppError): string {
  return JSON.stringify({ ok: false, error: message, code, data })
}

/** Errors of the framework that are the caller's doing, by their code; all others are ours. */
function asAppError(error: FastifyError): AppError {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('body_too_large', 'The body is larger than 64 KiB.')
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('invalid_body', 'The body must be one JSON object.')
    default:
      // A broken escape in the address (400), a part of it longer than any parameter (414), and what may come yet.
      if (isCallersFault(error.statusCode))
        return new AppError('bad_request', 'The request is not well-formed.')
      return new AppError('internal_error', 'Something went wrong on our side.')
  }
}

function isCallersFault(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500
}

/** Does not repeat the address: what somebody put into a wrong place of it may be a secret. */
export function handleNotFound(): never {
  throw new AppError('not_found', 'There is no endpoint at this address; /docs lists all of them.')
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../json-depth.ts'
import { isObject, type JsonObject, parseOrUndefined } from '../json-object.ts'

/** The largest body of a request. */
export const BODY_LIMIT_BYTES = 64 * 1024

const bodyBytes = new WeakMap<FastifyRequest, Buffer>()
const NO_BYTES = Buffer.alloc(0)

/** The bytes of a request's body, which a signature covers. */
export function bytesOfBody(request: FastifyRequest): Buffer {
  return bodyBytes.get(request) ?? NO_BYTES
}

/** Reads every body as one JSON object and ignores its content type: `curl -d` sends that of a form. */
export function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // The framework would refuse a malformed content type before it calls a parser.
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-type'] !== undefined) headers['content-type'] = 'application/json'
    done()
  })
  // A route that reads a body gets an empty object for none, so that its error names the missing field.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.method !== 'GET' && request.routeOptions.schema?.body !== undefined) request.body ??= {}
    done()
  })
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    (request, bytes, done) => {
      try {
        bodyBytes.set(request, bytes as Buffer)
        done(null, parseJsonObject(bytes.toString()))
      } catch (error) {
        done(error as Error)
      }
    },
  )
}

/**
 * Reads one JSON object; empty text counts as `{}`.
 *
 * @throws {AppError} `invalid_body` for anything else, and for objects nested deeper than {@link MAX_JSON_DEPTH}.
 * @example
 * parseJsonObject('{"editCode":"123456"}') // { editCode: '123456' }
 */
export function parseJsonObject(text: string): JsonObject {
  if (text.trim() === '') return {}
  if (isNestedDeeperThan(text, MAX_JSON_DEPTH)) {
    throw new AppError('invalid_body', `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  }
  const value = parseOrUndefined(text)
  if (!isObject(value)) throw new AppError('invalid_body', 'The body must be one JSON object.')
  return value
}

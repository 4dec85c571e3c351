import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

/** How large a request's body may be. */
export const BODY_LIMIT_BYTES = 64 * 1024
/** How deep a body's JSON may be nested: the embedded engine hangs on thousands of levels. */
export const BODY_DEPTH_LIMIT = 32

const bodyBytes = new WeakMap<FastifyRequest, Buffer>()
const NO_BYTES = Buffer.alloc(0)

/** The body as it was sent: a signature covers its bytes, not their meaning. */
export function bytesOfBody(request: FastifyRequest): Buffer {
  return bodyBytes.get(request) ?? NO_BYTES
}

/** Reads every body as one JSON object, whatever its content type says: `curl -d` says it is a form. */
export function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // The framework refuses a type that is not even well-formed before it asks any parser.
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-type'] !== undefined) headers['content-type'] = 'application/json'
    done()
  })
  // No body at all is an empty object to a route that reads one: it says what is missing in it.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.schema?.body !== undefined) request.body ??= {}
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
 * Reads one JSON object; nothing at all counts as `{}`.
 *
 * @throws {AppError} `invalid_body` for anything else, and for objects nested deeper than {@link BODY_DEPTH_LIMIT}.
 * @example
 * parseJsonObject('{"editCode":"123456"}') // { editCode: '123456' }
 */
export function parseJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  if (isNestedDeeperThan(text, BODY_DEPTH_LIMIT)) {
    throw new AppError('invalid_body', `The body is nested deeper than ${BODY_DEPTH_LIMIT} levels.`)
  }
  const value = parseOrUndefined(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid_body', 'The body must be one JSON object.')
  }
  return value as Record<string, unknown>
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Counts brackets outside of strings, in one pass and before anything is built. */
export function isNestedDeeperThan(json: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (inString) {
      if (char === '\\') i += 1
      else if (char === '"') inString = false
      continue
    }
    if (char === '"') inString = true
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    if (depth > limit) return true
  }
  return false
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

/** The largest body of a request. */
export const BODY_LIMIT_BYTES = 64 * 1024
/** The deepest nesting of a body's JSON: the embedded engine hangs on thousands of levels. */
export const BODY_DEPTH_LIMIT = 32

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
 * Reads one JSON object; empty text counts as `{}`.
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

/** Counts brackets outside of strings in one pass, before the JSON is parsed. */
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

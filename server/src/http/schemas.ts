import Type, { type TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { oneOf } from '../schema-parts.ts'

/** Leaves a route out of openapi.json: aliases of a documented route, and pages for people. */
export const HIDDEN = { hide: true }

/** Errors that every endpoint can answer. */
const ANYWHERE: readonly ErrorCode[] = [
  'bad_request',
  'request_timeout',
  'expectation_failed',
  'too_many_requests',
  'server_busy',
  'header_too_large',
  'internal_error',
]

/** Makes the schemas of the answers of an endpoint, by status. */
export type Responses = () => Record<string, TSchema>

declare module 'fastify' {
  interface FastifySchema {
    /**
     * Describes the answers in openapi.json, and is called when that is made. Of the framework's own `response` it would keep the schemas
     * and a serializer for each status of each route, three megabytes that nothing uses.
     */
    readonly responses?: Responses
  }
}

/** The answers of a JSON endpoint: its data in the envelope, and its errors. */
export function okSchema(data: TSchema, errors: readonly ErrorCode[] = []): Responses {
  return () => {
    const ok = Type.Object({ ok: Type.Literal(true), data })
    return { 200: { ...ok, description: 'Done.' }, ...errorSchemas([...errors, ...ANYWHERE]) }
  }
}

/** What every land endpoint can answer besides: it needs a world. */
const ANYWHERE_OF_LAND: readonly ErrorCode[] = ['world_not_loaded']

/** Like {@link okSchema}, for land endpoints: their answers have validators. */
export function freshSchema(data: TSchema, errors: readonly ErrorCode[] = []): Responses {
  return withUnchanged(okSchema(data, [...errors, ...ANYWHERE_OF_LAND]))
}

/** The answers of a land endpoint whose body is in another format, without the envelope. */
export function formatSchema(
  contentType: string,
  { description, body = {} }: { readonly description: string; readonly body?: TSchema },
  errors: readonly ErrorCode[] = [],
): Responses {
  return withUnchanged(streamSchema(contentType, { description, body }, [...errors, ...ANYWHERE_OF_LAND]))
}

/** Like {@link formatSchema}, for an answer without validators. */
export function streamSchema(
  contentType: string,
  { description, body }: { readonly description: string; readonly body: TSchema },
  errors: readonly ErrorCode[],
): Responses {
  const ok = { description, content: { [contentType]: { schema: body } } }
  return () => ({ 200: ok, ...errorSchemas([...errors, ...ANYWHERE]) })
}

/** Like {@link freshSchema}, for answers without the envelope. Failures have it. */
export function bareSchema(data: TSchema, errors: readonly ErrorCode[] = []): Responses {
  const answer = { description: 'Done.', body: data }
  return withUnchanged(streamSchema('application/json', answer, [...errors, ...ANYWHERE_OF_LAND]))
}

/** The answers of a map image: a PNG, or an error. */
export function imageSchema(errors: readonly ErrorCode[] = []): Responses {
  const body = Type.Unsafe({ type: 'string', format: 'binary' })
  return formatSchema('image/png', { description: 'The image.', body }, errors)
}

/** Adds what only answers with an ETag have: 304 for a client whose copy is current, and 412 for another ETag than it wants. */
export function withUnchanged(responses: Responses): Responses {
  const description = 'Your copy (If-None-Match, If-Modified-Since) is current.'
  return () => ({
    ...responses(),
    304: { ...Type.Null(), description },
    ...errorSchemas(['precondition_failed']),
  })
}

/** The body of every failure, as one named schema of openapi.json. */
export const ERROR_SHAPES = {
  Error: Type.Object(
    {
      ok: Type.Literal(false),
      error: Type.String({ description: 'A sentence for a person.' }),
      code: Type.Unsafe<ErrorCode>({ $ref: 'ErrorCode#' }),
      data: Type.Object({}, { additionalProperties: true, description: 'Details for a program.' }),
    },
    { description: 'Why a request failed.' },
  ),
  ErrorCode: oneOf(Object.keys(ERRORS).sort(), { description: 'Every `code` of a failure: docs/errors.md.' }),
} as const

/** One answer for each status, with the codes that share it and their meanings. */
function errorSchemas(codes: readonly ErrorCode[]): Record<string, TSchema> {
  const schemas: Record<string, TSchema> = {}
  for (const status of new Set(codes.map((code) => ERRORS[code].status))) {
    const ofStatus = [...new Set(codes)].filter((code) => ERRORS[code].status === status)
    schemas[status] = {
      description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(' '),
      content: { 'application/json': { schema: { $ref: 'Error#' } } },
    }
  }
  return schemas
}

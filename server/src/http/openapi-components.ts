import { STATUS_CODES } from 'node:http'
import { ERRORS, type ErrorCode } from '../errors.ts'

/**
 * Gives the parts of an OpenAPI document names, so that each is written once and generators make one type of it.
 *
 * Routes write their schemas in full, because that is what the server validates with. This file works on the finished
 * document alone: validation and answers do not change by it.
 */

type Json = Readonly<Record<string, unknown>>
/** The components: schemas and parameters are named by their `title`, responses by their status. */
type Kind = 'schemas' | 'parameters' | 'responses'

interface Operation extends Json {
  readonly operationId?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Response>>
}

interface Parameter extends Json {
  readonly schema?: Json
}

interface Content extends Json {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>
}

interface Response extends Content {
  readonly description: string
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Json>>
}

/** The body of a failure. A map image can also fail with a line of text, which its route describes. */
const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
/** The codes that operations can answer: `not_found` is for addresses without an operation. */
const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== 'not_found')

const HEADERS = {
  ETag: {
    description: 'Names this state of the answer. Send it back as `If-None-Match`.',
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  ErrorCode: {
    description: 'The `code` of the body.',
    schema: { $ref: '#/components/schemas/ErrorCode' },
  },
  RateLimitLimit: {
    description: 'Allowed per minute: units of cost (land) or requests (attendance).',
    schema: { type: 'integer' },
  },
  RateLimitRemaining: { description: 'Left of it.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until all of it is left again.', schema: { type: 'integer' } },
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the answer that you have. If it is current, the answer is 304.',
  schema: { type: 'string' },
}

const NOT_MODIFIED = {
  description: 'The answer that you have is the current one. There is no body.',
  headers: { ETag: headerRef('ETag') },
}

/**
 * Moves into `components`, and refers to them where they stood:
 *
 * - schemas and parameters that have a `title`, under that name;
 * - failures, under the words of their status (`NotFound`), with the description that most operations have; under their codes
 *   (`DatabaseUnavailableOrWorldNotLoaded`), where many say the same; the others keep their own description;
 * - the headers of answers, and the answer 304.
 *
 * An operation that is also served below another version gets the version in its `operationId`: `districtsV2`.
 *
 * @param made an OpenAPI 3.1 document as @fastify/swagger makes it; it is not changed
 * @throws {Error} when two different parts have the same title
 */
export function withComponents<Made extends object>(made: Made): Made {
  // The generator types its document more loosely than what it makes
  const document = made as unknown as Document
  const { schemas, ...others } = document.components
  const namer = new Namer({ ...others, headers: HEADERS }, commonFailures(document))
  for (const [name, schema] of Object.entries(schemas ?? {})) namer.put('schemas', name, namer.schema(schema))
  const paths = mapValues(withVersionedIds(document.paths), (methods) =>
    mapValues(methods, (operation) => namer.operation(operation)),
  )
  return { ...made, paths, components: namer.components }
}

class Namer {
  readonly components: Readonly<Record<Kind, Record<string, unknown>>> & Readonly<Record<string, Json>>
  /** By status: what operations say of their failures with it, the most common first. */
  private readonly commonFailures: CommonFailures
  constructor(others: Readonly<Record<string, Json>>, commonFailures: CommonFailures) {
    this.components = { ...others, schemas: {}, parameters: {}, responses: {} }
    this.commonFailures = commonFailures
  }

  operation(operation: Operation): Operation {
    const { parameters = [], requestBody, responses } = operation
    const isFresh = '304' in responses
    const named = parameters.map((parameter) => this.parameter(parameter))
    if (isFresh) named.push(this.put('parameters', 'IfNoneMatch', IF_NONE_MATCH))
    return {
      ...operation,
      ...(named.length > 0 && { parameters: named }),
      ...(requestBody && { requestBody: this.content(requestBody) }),
      responses: mapValues(responses, (response, status) => this.response(response, status, isFresh)),
    }
  }

  private parameter(parameter: Parameter): Parameter {
    const { title, ...named } = parameter.schema ?? {}
    if (typeof title !== 'string') return parameter
    // Coordinates: the words of refusals leave out the parcels outside of the world, which are taken too.
    const { 'x-allowed': _, ...wordless } = named
    const schema = named.type === 'integer' ? wordless : named
    return this.put('parameters', title, { ...parameter, schema })
  }

  /** The headers of limits are described once, with the answer that refuses: they would be a tenth of the document. */
  private response(response: Response, status: string, isFresh: boolean): Response {
    if (status === '304') return this.put('responses', 'NotModified', NOT_MODIFIED) as Response
    if (status >= '400') return this.failure(response, status)
    const content = this.content(withoutRepetition(response))
    return isFresh ? { ...content, headers: { ETag: headerRef('ETag') } } : content
  }

  /** A shared response for the status. The operation keeps its own description if it lists other codes than many do. */
  private failure(response: Response, status: string): Response {
    if (!isSame(response.content, ERROR_CONTENT)) return this.content(response)
    const { description } = response
    const [first, ...others] = this.commonFailures.get(status) ?? []
    const common = others.includes(description) ? description : first!
    const words = (STATUS_CODES[status] ?? status).replaceAll(/\W/g, '')
    const name = common === first ? words : nameByCodes(common, words)
    const shared = {
      description: common,
      headers: failureHeaders(status),
      content: { 'application/json': { ...ERROR_CONTENT['application/json'], example: exampleOf(status) } },
    }
    const reference = this.put('responses', name, shared)
    return { ...reference, ...(description !== shared.description && { description }) } as Response
  }

  private content<Part extends Content>(part: Part): Part {
    if (!part.content) return part
    return {
      ...part,
      content: mapValues(part.content, (media) => ({ ...media, schema: this.schema(media.schema) })),
    }
  }

  /** The schema with every titled one below it, and itself if it has a title, replaced by a reference. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((inner) => this.schema(inner))
    if (typeof schema !== 'object' || schema === null) return schema
    const named = mapValues(schema as Json, (inner) => this.schema(inner))
    // The title of a schema is text; among the properties of an object, `title` is the schema of one.
    if (typeof named.title !== 'string') return named
    const { title, ...untitled } = named
    return this.put('schemas', title as string, untitled)
  }

  /** @returns the reference to the part */
  put(kind: Kind, name: string, part: unknown): Json {
    const parts = this.components[kind]
    if (name in parts && !isSame(parts[name], part))
      throw new Error(`Two different ${kind} are called ${name}.`)
    parts[name] = part
    return { $ref: `#/components/${kind}/${name}` }
  }
}

/** By status, descriptions of failures. */
type CommonFailures = ReadonlyMap<string, readonly string[]>

/** So many operations say the same of a failure that it gets a name, though others say something else more often. */
const OPERATIONS_FOR_A_NAME = 10

/**
 * Counts what operations say of their failures: by status the most common description (of two that are equally common, the
 * first one), then those of many operations.
 */
function commonFailures({ paths }: Document): CommonFailures {
  const counts = new Map<string, Map<string, number>>()
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, { description, content }] of Object.entries(responses)) {
      if (status < '400' || !isSame(content, ERROR_CONTENT)) continue
      const ofStatus = counts.get(status) ?? new Map<string, number>()
      counts.set(status, ofStatus.set(description, (ofStatus.get(description) ?? 0) + 1))
    }
  }
  return new Map(
    [...counts].map(([status, ofStatus]) => {
      const sorted = [...ofStatus].sort(([, a], [, b]) => b - a)
      const named = sorted.filter(([, count], at) => at === 0 || count >= OPERATIONS_FOR_A_NAME)
      return [status, named.map(([description]) => description)]
    }),
  )
}

/** `DatabaseUnavailableOrWorldNotLoaded` for a description of these two codes. */
function nameByCodes(description: string, words: string): string {
  const codes = [...description.matchAll(/`(\w+)`:/g)].map(([, code]) => code!)
  const pascal = (code: string) =>
    code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const name = codes.map(pascal).join('Or')
  return name === words ? `${name}Alone` : name
}

/** Removes the description of a schema that @fastify/swagger has copied to the response. */
function withoutRepetition(response: Response): Response {
  const { content = {} } = response
  const unrepeated = mapValues(content, (media) => {
    const { description, ...schema } = (media.schema ?? {}) as Json
    return description === response.description && !('title' in schema) ? { ...media, schema } : media
  })
  return { ...response, content: unrepeated }
}

function headerRef(name: keyof typeof HEADERS): Json {
  return { $ref: `#/components/headers/${name}` }
}

function exampleOf(status: string): Json {
  const code = CODES.find((code) => String(ERRORS[code].status) === status) ?? 'internal_error'
  return { ok: false, error: ERRORS[code].meaning, code, data: {} }
}

function failureHeaders(status: string): Json {
  return {
    'x-error-code': headerRef('ErrorCode'),
    ...((status === '429' || status === '503') && { 'Retry-After': headerRef('RetryAfter') }),
    ...(status === '429' && limitHeaders()),
  }
}

function limitHeaders(): Json {
  return {
    'RateLimit-Limit': headerRef('RateLimitLimit'),
    'RateLimit-Remaining': headerRef('RateLimitRemaining'),
    'RateLimit-Reset': headerRef('RateLimitReset'),
  }
}

/** A route that is also served below `/v2` makes two operations, whose ids must differ. */
function withVersionedIds(paths: Document['paths']): Document['paths'] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId }) => ({ path, operationId })),
  )
  const firstPaths = new Map(operations.toReversed().map(({ path, operationId }) => [operationId, path]))
  return mapValues(paths, (methods, path) =>
    mapValues(methods, (operation) => {
      const [, version] = /^\/v(\d+)\//.exec(path) ?? []
      const { operationId } = operation
      if (version === undefined || firstPaths.get(operationId) === path) return operation
      return { ...operation, operationId: `${operationId}V${version}` }
    }),
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}

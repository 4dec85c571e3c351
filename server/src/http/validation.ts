import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { AppError } from '../errors.ts'

/** The parts of a JSON schema by which a parameter is read and its allowed values are described. */
interface ParameterSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
  /** The schema of the entries of a list. */
  readonly items?: ParameterSchema
  /** The allowed values in words, where a pattern would not help a person. */
  readonly 'x-allowed'?: string
  /** The first value of a parameter that was sent several times counts. Else that is refused. */
  readonly 'x-repeatable'?: boolean
  /** A parameter that was sent several times is its values with commas between them. */
  readonly 'x-list'?: boolean
  /** Errors do not repeat the received value. */
  readonly 'x-withheld'?: boolean
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d{0,15})$/
const SHOWN_VALUE_LENGTH = 100

/** The types whose values are not text. */
const TYPED = new Set(['integer', 'number', 'boolean'])

const ajv = new Ajv({ useDefaults: true, coerceTypes: false, strict: false })
/** By the text of the schema: many routes, and all servers of a process, have the same parameters. */
const validators = new Map<string, ValidateFunction>()

/**
 * Turns a route's schema into a function that reads its parameters. Text is converted to the type of the schema,
 * strictly: `1e2`, `0x10`, ` 5` and `007` are no whole numbers, `1` is no boolean. Unknown parameters are ignored, unless
 * the schema has `additionalProperties: false`. A query parameter with an empty value counts as absent, and so does a field of
 * a body that is null.
 *
 * The function throws `invalid_parameter` with the parameter, the value and what is allowed.
 */
export const parameterReader: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  let validate: ValidateFunction | undefined
  const properties = Object.entries(
    (schema as { properties?: Record<string, ParameterSchema> }).properties ?? {},
  )
  const isClosed = (schema as { additionalProperties?: boolean }).additionalProperties === false
  const repeatable = properties.filter(([, schema]) => schema['x-repeatable']).map(([name]) => name)
  const lists = properties.filter(([, schema]) => schema['x-list']).map(([name]) => name)
  const typed = properties.filter(([, { type }]) => type !== undefined && TYPED.has(type))
  return (received: unknown) => {
    const given = received as Record<string, unknown>
    if (httpPart === 'querystring') {
      // An unknown parameter that is to be refused is refused with any value.
      const names = isClosed ? properties.map(([name]) => name) : Object.keys(given)
      for (const name of names) removeIfEmpty(given, name)
    }
    for (const name of repeatable) if (Array.isArray(given[name])) given[name] = given[name][0]
    for (const name of lists) if (Array.isArray(given[name])) given[name] = given[name].join(',')
    if (httpPart === 'body') removeNulls(given)
    for (const [name, { type }] of typed) given[name] = textAs(type, given[name])
    // Compiled with the first request: compiling all schemas would take a fifth of the start.
    validate ??= validatorOf(schema)
    if (validate(given)) return { value: given }
    const noun = httpPart === 'querystring' ? 'parameter' : 'field'
    throw refusal(validate.errors?.[0], Object.fromEntries(properties), given, noun)
  }
}

function validatorOf(schema: TSchema): ValidateFunction {
  const text = JSON.stringify(schema)
  const known = validators.get(text)
  if (known) return known
  const made = ajv.compile(schema)
  validators.set(text, made)
  return made
}

/** An HTML form also sends its empty fields: `?status=&limit=5` means the same as `?limit=5`. */
function removeIfEmpty(query: Record<string, unknown>, name: string): void {
  const value = query[name]
  if (Array.isArray(value)) {
    const values = value.filter((one) => one !== '')
    query[name] = values.length > 1 ? values : values[0]
  }
  if (query[name] === '' || query[name] === undefined) delete query[name]
}

/** Many languages write a field that has no value as null. */
function removeNulls(body: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(body)) if (value === null) delete body[name]
}

function textAs(type: string | undefined, text: unknown): unknown {
  if (typeof text !== 'string') return text
  if (type === 'integer') return wholeNumber(text) ?? text
  if (type === 'number') return finiteNumber(text) ?? text
  return text === 'true' ? true : text === 'false' ? false : text
}

/** A number as JSON writes it; undefined also if it is too large for JavaScript. */
function finiteNumber(text: string): number | undefined {
  const number = Number(text)
  return NUMBER.test(text) && Number.isFinite(number) ? number : undefined
}

/** Undefined also beyond 2^53, where JavaScript would round the number. */
function wholeNumber(text: string): number | undefined {
  const number = Number(text)
  return WHOLE_NUMBER.test(text) && text !== '-0' && Number.isSafeInteger(number) ? number : undefined
}

function refusal(
  error: ErrorObject | undefined,
  properties: Record<string, ParameterSchema>,
  given: Record<string, unknown>,
  noun: 'parameter' | 'field',
): AppError {
  if (error?.keyword === 'additionalProperties')
    return unknownField(String(error.params.additionalProperty), properties, noun)
  const missing = error?.keyword === 'required' ? String(error.params.missingProperty) : undefined
  const [, first = '', entry] = error?.instancePath.split('/') ?? []
  const name = missing ?? first
  const schema = properties[name] ?? {}
  const refuse = schema['x-withheld'] ? invalidSecret : invalidParameter
  const value = given[name]
  if (Array.isArray(value) && entry !== undefined)
    return refuse(`${name}[${entry}]`, value[Number(entry)], allowedText(schema.items ?? {}))
  return refuse(name, value, allowedText(schema))
}

/** Only of such letters is a name shown where the call has secrets: one may stand in the place of a name. */
const LIKE_FIELD = /^[a-z_]{1,40}$/i

/** The error for a field or a parameter that a call does not have. */
function unknownField(
  name: string,
  properties: Record<string, ParameterSchema>,
  noun: 'parameter' | 'field',
): AppError {
  const known = Object.keys(properties)
  const hasSecrets = Object.values(properties).some((schema) => schema['x-withheld'])
  const isShown = !hasSecrets || LIKE_FIELD.test(name)
  const parameter = isShown ? shortened(name) : 'not shown'
  const named = `There is no ${noun} ${isShown ? JSON.stringify(parameter) : 'of that name'}.`
  const [sentence, allowed] =
    known.length === 0
      ? [`${named} There are no ${noun}s.`, 'left out']
      : [`${named} The ${noun}s are ${known.join(', ')}.`, `one of ${known.join(', ')}`]
  return new AppError('invalid_parameter', sentence, { parameter, value: parameter, allowed })
}

/**
 * The error for a parameter whose value is a secret, or may contain one by mistake.
 *
 * @example
 * invalidSecret('editCode', 12345, 'text').message // 'editCode is "a number that is not shown", but must be text.'
 */
export function invalidSecret(name: string, value: unknown, allowed: string): AppError {
  return invalidParameter(name, withheld(value), allowed)
}

/** What an error may show of a value that may be a secret: that it is missing, null or empty, or else its type. */
function withheld(value: unknown): unknown {
  if (value === undefined || value === null) return value
  if (value === '') return 'an empty string'
  const type = Array.isArray(value) ? 'list' : typeof value
  return `${type === 'object' ? 'an' : 'a'} ${type} that is not shown`
}

/**
 * The error for one parameter. Its `data.value` is the text that was sent; JSON for a value that is no text; null for a
 * missing one.
 *
 * @param limits numbers that a client may want to show: they are in `data`, too
 * @example
 * invalidParameter('limit', 1001, 'a whole number from 0 to 1000').message
 * // 'limit is 1001, but must be a whole number from 0 to 1000.'
 * invalidParameter('limit', 1001, 'a whole number from 0 to 1000').data.value // '1001'
 */
export function invalidParameter(
  name: string,
  value: unknown,
  allowed: string,
  limits: { readonly minimum?: number; readonly maximum?: number } = {},
): AppError {
  const text = value === undefined ? null : shortened(textOf(value))
  const shown = text === null ? 'missing' : typeof value === 'string' ? JSON.stringify(text) : text
  const sentence = `${name} is ${shown}, but must be ${allowed}.`
  return new AppError('invalid_parameter', sentence, { parameter: name, value: text, allowed, ...limits })
}

/** The error for a number above a limit of this server, which is `data.maximum` too. */
export function aboveMaximum(name: string, value: number, maximum: number): AppError {
  return invalidParameter(name, value, `at most ${maximum}`, { maximum })
}

function textOf(value: unknown): string {
  // JSON has no infinite numbers, which `1e400` is read as
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** A text, cut where it is too long to read. */
function shortened(text: string): string {
  return text.length > SHOWN_VALUE_LENGTH ? `${text.slice(0, SHOWN_VALUE_LENGTH)}…` : text
}

/**
 * The error for a whole number that is too small or too large.
 *
 * @example
 * outOfRange('x', 151, { minimum: -150, maximum: 150 }).message // 'x is 151, but must be a whole number from -150 to 150.'
 */
export function outOfRange(
  name: string,
  value: number,
  range: { readonly minimum: number; readonly maximum: number },
): AppError {
  return invalidParameter(name, value, wholeNumberText(range))
}

function allowedText(schema: ParameterSchema): string {
  if (schema['x-allowed']) return schema['x-allowed']
  if (schema.enum) return schema.enum.length === 1 ? schema.enum[0]! : `one of ${schema.enum.join(', ')}`
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'number') return 'a number'
  if (schema.type === 'integer') return wholeNumberText(schema)
  const { minLength = 0, maxLength } = schema
  return maxLength === undefined ? 'text, given once' : `text of ${minLength} to ${maxLength} characters`
}

/**
 * What a whole number may be, in words.
 *
 * @example
 * wholeNumberText({ minimum: -150, maximum: 150 }) // 'a whole number from -150 to 150'
 */
export function wholeNumberText({ minimum, maximum }: Pick<ParameterSchema, 'minimum' | 'maximum'>): string {
  if (minimum !== undefined && maximum !== undefined) return `a whole number from ${minimum} to ${maximum}`
  return minimum === undefined ? 'a whole number' : `a whole number, ${minimum} or more`
}

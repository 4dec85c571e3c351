import type {} from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'

/** An OpenAPI document as far as tests look at it. */
export interface OpenApi {
  readonly security: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: object }>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, Response>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

export interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly servers?: readonly object[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly responses: Readonly<Record<string, Response | Reference>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema?: { readonly minimum?: number; readonly maximum?: number; readonly default?: unknown }
}

export interface Response {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}

interface Reference {
  readonly $ref: string
}

/** The description of a server, whose parts are named. */
export function openApiOf(server: FastifyInstance): OpenApi {
  // The generator types its document more loosely than what it makes
  return server.swagger() as unknown as OpenApi
}

/** What a reference stands for; a description beside it replaces that of the part (OpenAPI 3.1, 4.8.23). */
export function resolved<Part extends object>(document: OpenApi, part: Part | Reference): Part {
  if (!('$ref' in part)) return part
  const { $ref, ...beside } = part
  const found = $ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>(
      (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
      document,
    )
  if (found === undefined) throw new Error(`There is no ${$ref}.`)
  return { ...(found as Part), ...beside }
}

export function parametersOf(document: OpenApi, { parameters = [] }: Operation): Parameter[] {
  return parameters.map((parameter) => resolved<Parameter>(document, parameter))
}

/** The codes that an operation can answer with a status: its description names each of them. */
export function codesOf({ description }: Response): string[] {
  return [...description.matchAll(/`(\w+)`: /g)].map(([, code = '']) => code)
}

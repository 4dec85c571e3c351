import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { VERSION } from '../version.ts'
import { BARE_JSON } from './answer.ts'
import { SmallBody } from './compressed-bodies.ts'
import { withComponents } from './openapi-components.ts'
import { ERROR_SHAPES, streamSchema, withUnchanged } from './schemas.ts'
import { send } from './send.ts'
import { tagOf } from './text-tag.ts'

const DESCRIPTION = `Two interfaces. **Land data**: parcels, estates, sale offers, bids, mortgages, districts and \
contributions of a virtual world, read-only. Every address of it without a version also answers below \`/v1\`. Answers carry \
an \`ETag\`: send it back as \`If-None-Match\` and an unchanged answer costs a 304. **Attendance** (events and claims): \
organisers register an event of a token issuer, and players who stand at its place claim a token. Errors are \
\`{ ok: false, error, code, data }\`. Every answer has an \`x-request-id\`; where 429 is \
possible, also \`RateLimit-Limit\`, \`-Remaining\` and \`-Reset\`. A slash at the end of an address changes nothing. An address \
that is not listed here, or has an empty part before its end, answers 404 \`not_found\`, and another method 405 \`method_not_allowed\` with \`Allow\`.

Reading needs no credentials. Organisers send the \`editCode\` of their event in the body of their requests. Players sign their \
requests: a scene does so with \`signedFetch\`.`

const VERSIONED = /^\/v\d+\//
/** Tags of endpoints without a version: existing clients call those of attendance, operators the others. */
const UNVERSIONED_TAGS = ['events', 'claims', 'operation']

export interface DescriptionOptions {
  readonly publicUrl: string | undefined
  /** Schemas that routes refer to by name. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** Ways to authenticate a request. Routes name them in `security`; a route without needs none. */
  readonly securitySchemes: Readonly<Record<string, ApiKeyHeader>>
}

/** A header that authenticates a request, alone or together with others. */
export interface ApiKeyHeader {
  readonly type: 'apiKey'
  readonly in: 'header'
  readonly name: string
  readonly description: string
}

/** Collects the routes that are registered after it into one OpenAPI 3.1 document. */
export async function describeRoutes(
  app: FastifyInstance,
  { publicUrl, shapes, securitySchemes }: DescriptionOptions,
): Promise<void> {
  const root = { url: publicUrl ?? '/', description: 'The current version' }
  for (const [name, shape] of Object.entries({ ...ERROR_SHAPES, ...shapes }))
    app.addSchema({ ...shape, $id: name })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Landpass',
        description: DESCRIPTION,
        version: VERSION,
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        root,
        {
          url: `${publicUrl ?? ''}/v1`,
          description: 'Version 1 of the land endpoints whose path names no version',
        },
      ],
      tags: [
        { name: 'parcels', description: 'Single pieces of land, on a grid' },
        { name: 'estates', description: 'Groups of adjacent parcels' },
        { name: 'publications', description: 'Offers for sale' },
        { name: 'bids', description: 'Offers to buy' },
        { name: 'mortgages', description: 'Loans for buying a parcel' },
        { name: 'districts', description: 'Themed areas and who contributed to them' },
        { name: 'map', description: 'Parcels and estates of an area as JSON, and map images' },
        { name: 'tiles', description: 'Tile data: a few fields of each parcel, for maps' },
        { name: 'land', description: 'Parcels and estates by price, size, place, owner and text' },
        { name: 'search', description: 'Finds parcels, estates, districts and owners by text' },
        {
          name: 'metadata',
          description: 'Parcels and estates as marketplaces read them, without the envelope',
        },
        { name: 'translations', description: 'Texts for pages' },
        { name: 'events', description: 'Attendance, for organisers: events, their places and claim codes' },
        { name: 'claims', description: 'Attendance, for scenes: captchas and tokens for players' },
        { name: 'operation', description: 'For operators of the server' },
      ],
      security: [],
      components: { securitySchemes },
    },
    // Addresses are written in full: /v1/tiles is not /tiles below version 1.
    stripBasePath: false,
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transform: ({ schema, url }) => {
      // These addresses are not served below the second server, `/v1`.
      const hasOneAddress = VERSIONED.test(url) || UNVERSIONED_TAGS.includes(schema.tags?.[0] ?? '')
      const servers = hasOneAddress ? { servers: [{ url: root.url }] } : {}
      return { schema: { ...documented(schema, url), ...servers }, url }
    },
    transformObject: (made) =>
      'openapiObject' in made ? withComponents(made.openapiObject) : made.swaggerObject,
  })
}

interface Parameters {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, object>>
}

/** A route's schema for the document: one description for both versions; a parameter with a default is not required. */
function documented(schema: FastifySchema, url: string): FastifySchema {
  const query = schema.querystring as Parameters | undefined
  const hide = schema.hide ?? url.startsWith('/v1/')
  const all = { ...schema, hide, response: hide ? undefined : schema.responses?.() }
  if (query?.required === undefined) return all
  const required = query.required.filter((name) => !('default' in (query.properties?.[name] ?? {})))
  return { ...all, querystring: { ...query, required } }
}

/** `/openapi.json`. The pages below `/docs/interface` are made of the same description (`web/help`). */
export function serveDescription(app: FastifyInstance): void {
  let document: { readonly tag: string; readonly body: SmallBody } | undefined
  const schema = {
    tags: ['operation'],
    operationId: 'openApi',
    summary: 'This description',
    responses: withUnchanged(
      streamSchema('application/json', { description: 'OpenAPI 3.1.', body: Type.Object({}) }, []),
    ),
  }
  app.get('/openapi.json', { schema }, (request, reply) => {
    document ??= documentOf(app)
    const { body, tag } = document
    return send(request, reply, { freshness: { tag }, format: BARE_JSON, body: () => body })
  })
}

function documentOf(app: FastifyInstance): { readonly tag: string; readonly body: SmallBody } {
  const text = JSON.stringify(app.swagger())
  return { tag: tagOf(text), body: new SmallBody(Buffer.from(text)) }
}

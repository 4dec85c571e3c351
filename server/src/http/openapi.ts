import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { DOCUMENT, send } from './answer.ts'
import { serveDocsPage } from './docs-page.ts'
import { tagOf } from './text-tag.ts'

const DESCRIPTION = `Two interfaces. **Land data**: parcels, estates, sale offers, bids, mortgages, districts and \
contributions of a virtual world, read-only. Every address of it without a version also answers below \`/v1\`. Answers carry \
an \`ETag\`: send it back as \`If-None-Match\` and an unchanged answer costs a 304. **Attendance** (events and claims): \
organisers register an event of a token issuer, and players who stand at its place claim a token. Errors are \
\`{ ok: false, error, code, data }\`.`

const VERSIONED = /^\/v\d+\//
/** Attendance has no versions: its addresses are those that its existing clients call. */
const UNVERSIONED_TAGS = ['events', 'claims']

/** Collects the routes that are registered after it into one OpenAPI 3.1 document. */
export async function describeRoutes(
  app: FastifyInstance,
  { publicUrl, shapes }: { publicUrl: string | undefined; shapes: Readonly<Record<string, TSchema>> },
): Promise<void> {
  const root = { url: publicUrl ?? '/', description: 'The current version' }
  for (const [name, shape] of Object.entries(shapes)) app.addSchema({ ...shape, $id: name })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Landpass', description: DESCRIPTION, version: '1.0.0' },
      servers: [
        root,
        {
          url: `${publicUrl ?? ''}/v1`,
          description: 'Version 1, of the endpoints that are not for operation and name no version',
        },
      ],
      tags: [
        { name: 'parcels', description: 'Single pieces of land, on a grid' },
        { name: 'estates', description: 'Groups of adjacent parcels' },
        { name: 'publications', description: 'Offers for sale' },
        { name: 'bids', description: 'Offers to buy' },
        { name: 'mortgages', description: 'Loans for buying a parcel' },
        { name: 'districts', description: 'Themed areas and who contributed to them' },
        { name: 'map', description: 'Everything in an area, as data and as pictures' },
        { name: 'tiles', description: 'The map as data' },
        { name: 'search', description: 'Places by what people type' },
        {
          name: 'tokens',
          description: 'Parcels and estates as marketplaces read them, without the envelope',
        },
        { name: 'translations', description: 'Texts for pages' },
        { name: 'events', description: 'Attendance, for organisers: events, their places and claim codes' },
        { name: 'claims', description: 'Attendance, for scenes: captchas and tokens for players' },
        { name: 'operation', description: 'For those who run the server' },
      ],
    },
    // Addresses are written in full: /v1/tiles is not /tiles below version 1.
    stripBasePath: false,
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transform: ({ schema, url }) => {
      // An address that names its version, or has none, is not below that of the second server as well.
      const hasOneAddress = VERSIONED.test(url) || UNVERSIONED_TAGS.includes(schema.tags?.[0] ?? '')
      const servers = hasOneAddress ? { servers: [root] } : {}
      return { schema: { ...documented(schema, url), ...servers }, url }
    },
  })
}

interface Parameters {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, object>>
}

/** A route's schema as a reader needs it: one description for both versions, and what has a default is not required. */
function documented(schema: FastifySchema, url: string): FastifySchema {
  const query = schema.querystring as Parameters | undefined
  const hide = schema.hide ?? url.startsWith('/v1/')
  if (query?.required === undefined) return { ...schema, hide }
  const required = query.required.filter((name) => !('default' in (query.properties?.[name] ?? {})))
  return { ...schema, hide, querystring: { ...query, required } }
}

/** `/openapi.json`, and a page of it for people that needs nothing from elsewhere. */
export async function serveDescription(app: FastifyInstance): Promise<void> {
  let document: { text: string; tag: string } | undefined
  const schema = {
    tags: ['operation'],
    summary: 'This description',
    response: {
      200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: Type.Object({}) } } },
      304: { ...Type.Null(), description: 'Your copy is still right.' },
    },
  }
  app.get('/openapi.json', { schema }, (request, reply) => {
    document ??= documentOf(app)
    const { text, tag } = document
    return send(request, reply, { freshness: { tag }, format: DOCUMENT, body: () => text })
  })
  await serveDocsPage(app)
}

function documentOf(app: FastifyInstance): { text: string; tag: string } {
  const text = JSON.stringify(app.swagger())
  return { text, tag: tagOf(text) }
}

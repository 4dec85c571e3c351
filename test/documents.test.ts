import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attendance, land, system } from '@landpass/client'
import { MAX_SELECTED } from '@landpass/server/api/images/image-parameters'
import { TILE_FIELDS } from '@landpass/server/api/tile-data/tile-forms'
import { createApp } from '@landpass/server/app'
import { readConfig } from '@landpass/server/config/config'
import { SETTING_NAMES } from '@landpass/server/config/settings'
import type { Engine } from '@landpass/server/db/engine'
import { ERRORS, type ErrorCode } from '@landpass/server/errors'
import { BODY_LIMIT_BYTES } from '@landpass/server/http/json-body'
import { MAX_JSON_DEPTH } from '@landpass/server/json-depth'
import { MAX_PARCELS } from '@landpass/server/map/frame'
import { PALETTES } from '@landpass/server/map/palette'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import {
  type LandServer,
  REFERENCE_TIME_MS,
  startLandServer,
  testClock,
} from '@landpass/server/test/support/http/land-server'
import {
  codesOf,
  type OpenApi,
  type Operation,
  openApiOf,
  parametersOf,
  type Response,
  resolved,
} from '@landpass/server/test/support/http/openapi'
import { fullDemo } from '@landpass/server/test/support/land/demo-snapshots'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generatedDocuments } from '../tools/documents.ts'
import { drawGallery } from '../tools/draw-gallery.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SRC = join(ROOT, 'server/src')

/**
 * What people open in a browser, and the files that these pages are made of. The files of a folder are one route, which the tree prints
 * without an address.
 */
const PAGES =
  /^\/(?:\*|docs.*|embed|organise|approve|operate|pages\/.*|service-worker\.js|icon(?:-[\w-]+)?\.(?:svg|png)|favicon\.ico|(?:robots|llms)\.txt|landpass\.webmanifest)?$/
/** `x,y` in one segment of a path: another way to write what is described. */
const ALIASES = [
  '/parcels/:/bids',
  '/parcels/:/encodedId',
  '/parcels/:/map.png',
  '/parcels/:/mortgages',
  '/parcels/:/publications',
  '/v2/parcels/:',
  '/v2/parcels/:/map.png',
  '/v2/parcels/:/offers',
  '/v2/parcels/:/rental-offers',
  '/v2/parcels/:/rights',
  '/v2/parcels/:/value',
]
/** Not below /v1: they belong to the server, not to a version of the interface. */
const UNVERSIONED = [
  '/health/live',
  '/health/ready',
  '/health/ready/land',
  '/health/ready/attendance',
  '/metrics',
  '/openapi.json',
  '/operate/parts',
]
/** Nor are these: the clients of the attendance interface call them so. */
const ATTENDANCE =
  /^\/(?:(?:\.well-known|addcodes|captcha|claim|events?|grants|tokens)(?:\/|$)|addresses\/[^/]+\/tokens$)/

/** The client has functions of their own for the parcels of an area (operation `parcels`) and for claims as CSV (`listClaims`). */
const SECOND_CALLS = ['parcelsInArea', 'claimsCsv', 'landStream']

let described: FastifyInstance
let description: OpenApi
beforeAll(async () => {
  described = await startDescribedServer()
  description = openApiOf(described)
})
afterAll(() => described.close())

describe('the documents that are made from the code', () => {
  test('are committed as the code makes them: otherwise run `npm run generate`', async () => {
    for (const { path, text } of await generatedDocuments()) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text)
    }
  })

  test('name every setting and every error once', async () => {
    const settings = [...page('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
    const errors = [...page('docs/errors.md').matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code)

    expect(settings).toEqual(SETTING_NAMES)
    expect(errors).toEqual(Object.keys(ERRORS))
  })
})

describe('the description of the interface', () => {
  test('has every route, and no other', async () => {
    const routes = routesOf(described).filter((url) => !isBelowV1(url) && !PAGES.test(url))
    const inWords = Object.keys(description.paths).map((path) => path.replace(/\{\w+\}/g, ':'))

    expect([...new Set([...inWords, ...ALIASES])].sort()).toEqual(routes)
    expect(ALIASES.filter((url) => inWords.includes(url))).toEqual([])
  })

  test('holds below /v1 as well', async () => {
    const routes = routesOf(described)
    const below = routes.filter(isBelowV1).map((url) => url.slice('/v1'.length))
    const above = routes.filter((url) => !/^\/v\d\//.test(url) && !PAGES.test(url) && !ATTENDANCE.test(url))

    expect(below).toEqual(above.filter((url) => !UNVERSIONED.includes(url)))
  })

  test('says of every operation what it is for, what it takes and how it can fail', async () => {
    for (const { name, path, operation } of operations()) {
      expect(operation.summary, name).toMatch(/\S/)
      expect(operation.tags, name).toHaveLength(1)
      expect(Object.keys(operation.responses), name).toContain('200')
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      const takenFromPath = parametersOf(description, operation).filter(({ in: place }) => place === 'path')
      expect(takenFromPath.map(({ name: parameter }) => parameter).sort(), name).toEqual(inPath.sort())
      // An address that names its version would otherwise be read as one below the server of version 1 too.
      const hasOneAddress = /^\/v\d\//.test(path) || ATTENDANCE.test(path) || UNVERSIONED.includes(path)
      const servers = hasOneAddress ? [{ url: '/' }] : undefined
      expect(operation.servers, name).toEqual(servers)
    }
  })

  test('names every operation, once, as the client package calls it', () => {
    const names = operations().map(({ operation }) => operation.operationId ?? '')
    const functions = Object.keys({ ...land, ...attendance, ...system })

    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    expect([...new Set(names.map((name) => name.replace(/V\d$/, '')))].sort()).toEqual(
      functions.filter((name) => !SECOND_CALLS.includes(name)).sort(),
    )
  })

  test('says which calls are signed: all others need no header', () => {
    const signed = operations().filter(({ operation }) => operation.security !== undefined)
    const headers = Object.keys(description.components.securitySchemes)

    expect(signed.map(({ name }) => name)).toEqual([
      'post /claim/{event}',
      'post /grants/{uuid}',
      'post /captcha',
    ])
    const ofPlayers = headers.filter((name) => name !== 'grantSignature')
    expect(ofPlayers).toHaveLength(5)
    for (const { name, operation } of signed) {
      const wanted = name === 'post /grants/{uuid}' ? ['grantSignature'] : ofPlayers
      expect(Object.keys(operation.security?.[0] ?? {}), name).toEqual(wanted)
    }
    expect(description.security).toEqual([])
  })

  test('has one form of failure, and explains each code where it can be answered', () => {
    for (const { name, operation } of operations()) {
      const failures = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400)
      expect(failures.length, name).toBeGreaterThan(2)
      for (const [status, answer] of failures) {
        const response = resolved<Response>(description, answer)
        const { schema } = response.content?.['application/json'] ?? {}
        expect(schema, `${status} of ${name}`).toEqual({ $ref: '#/components/schemas/Error' })
        expect(codesOf(response), `${status} of ${name}`).not.toEqual([])
        for (const code of codesOf(response)) {
          const { status: itsStatus, meaning } = ERRORS[code as ErrorCode]
          expect(itsStatus, `${code} of ${name}`).toBe(Number(status))
          expect(response.description, `${code} of ${name}`).toContain(meaning)
        }
      }
    }
  })

  test('refers to parts that are there, and has no part that nothing refers to', () => {
    const text = JSON.stringify(description)
    const references = [...text.matchAll(/"\$ref":"(.*?)"/g)].map(([, reference]) => reference)
    const { securitySchemes, ...parts } = description.components
    const named = Object.entries(parts).flatMap(([kind, group]) =>
      Object.keys(group).map((name) => `#/components/${kind}/${name}`),
    )

    expect([...new Set(references)].sort()).toEqual(named.sort())
  })

  test('is made of schemas that can be compiled: the server compiles those of a route with its first request', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(description, 'openapi')
    const schemas = operations().flatMap(({ path, operation }) =>
      parametersOf(description, operation).map(({ name, schema }) => ({
        name: `${name} of ${path}`,
        schema,
      })),
    )

    expect(schemas.length).toBeGreaterThan(100)
    for (const { name, schema } of schemas) expect(ajv.validateSchema(schema ?? false), name).toBe(true)
    for (const { name, schema } of schemas) expect(() => ajv.compile(schema ?? false), name).not.toThrow()
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true)
      expect(ajv.getSchema(`openapi#/components/schemas/${name}`), name).toBeDefined()
    }
  })
})

/** Every operation of the description, as `get /parcels`. */
function operations() {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  )
}

test('every error code is in the table, and every code of the table is used', () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(SRC, path), 'utf8'))
  const thrown = new Set(
    sources.flatMap((text) => [...text.matchAll(/new AppError\(\s*'(\w+)'/g)].map(([, code]) => code)),
  )

  expect([...thrown].sort()).toEqual(Object.keys(ERRORS).sort())
})

describe('the page about pictures', () => {
  test('docs/map.md has the parameters of every image, with their ranges', async () => {
    const text = page('docs/map.md')
    const { paths } = description
    for (const path of [
      '/map.png',
      '/parcels/{x}/{y}/map.png',
      '/estates/{id}/map.png',
      '/tiles/{z}/{x}/{y}.png',
    ]) {
      expect(text).toContain(path.includes('tiles') ? path : path.replace(/\{(\w+)\}/g, ':$1'))
      for (const { name, in: place, schema } of parametersOf(description, paths[path]!.get!)) {
        if (place !== 'query') continue
        const row = text.split('\n').find((line) => line.startsWith('| `') && line.includes(`\`${name}\``))
        expect(row, name).toBeDefined()
        if (schema?.maximum !== undefined) expect(row).toContain(`${schema.minimum} to ${schema.maximum}`)
        if (schema?.default !== undefined) expect(row?.split('|')[3]).toContain(String(schema.default))
      }
    }
    for (const number of [MAX_PARCELS, MAX_SELECTED]) expect(text).toContain(number.toLocaleString('en'))
  })

  test('docs/map.md has the colours of the palette, one row each', () => {
    const rows = [...page('docs/map.md').matchAll(/\| `(#\w{6})` \| `(#\w{6})` \|$/gm)]
    for (const [i, theme] of (['dark', 'light'] as const).entries()) {
      const hex = Buffer.from(PALETTES[theme]).toString('hex')
      expect(rows.map((row) => row[i + 1])).toEqual(hex.match(/.{6}/g)?.map((colour) => `#${colour}`))
    }
  })
})

test('docs/tiles.md has the fields of a tile in their order, and the parameters', async () => {
  const [, fields = '', parameters = ''] = page('docs/tiles.md').split(/^## (?:Fields|Parameters)$/m)
  const named = (table: string) =>
    [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
  const { paths } = description

  expect(named(fields)).toEqual([...TILE_FIELDS])
  for (const path of ['/tiles', '/v2/tiles'])
    expect(queryOf(paths[path]!.get!)).toEqual(named(parameters.split('\n## ', 1)[0] ?? ''))
})

function queryOf(operation: Operation): string[] {
  return parametersOf(description, operation)
    .filter(({ in: place }) => place === 'query')
    .map(({ name }) => name)
}

describe('the pages about the land and about HTTP', () => {
  test('docs/land.md has the fields of every record, and no others', () => {
    for (const name of [
      'Parcel',
      'Estate',
      'Publication',
      'Bid',
      'Mortgage',
      'District',
      'Contribution',
    ] as const) {
      const [, section = ''] = page('docs/land.md').split(new RegExp(`^### ${name}$`, 'm'))
      const table = section.split('\n### ', 1)[0] ?? ''
      const named = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, field]) => field),
      )
      const { properties } = description.components.schemas[name]!

      expect(new Set(named), name).toEqual(new Set(Object.keys(properties)))
      expect(named, name).toHaveLength(Object.keys(properties).length)
    }
  })

  test('docs/land.md has every address of the older interface', () => {
    const text = page('docs/land.md')
    const addresses = Object.keys(description.paths).filter(
      (path) =>
        !/^\/v\d\/|\.(?:png|json)$|^\/(?:health|metrics|operate)/.test(path) && !ATTENDANCE.test(path),
    )

    expect(addresses.length).toBeGreaterThan(20)
    for (const path of addresses) expect(text).toContain(`\`${path.replace(/\{(\w+)\}/g, ':$1')}\``)
  })

  test('docs/http.md and the page for operators have the limits as they are', () => {
    const text = page('docs/http.md')
    const { requestTimeoutMs, slowReaders, changeStreams, chain, attendance } = readConfig({})
    const { limits, makers, maxOpenGrants, presence } = attendance
    const inWords = (number: number) => number.toLocaleString('en')

    expect(text).toContain(`${BODY_LIMIT_BYTES / 1024} KiB, JSON nested ${MAX_JSON_DEPTH} levels deep`)
    expect(text).toContain(`${requestTimeoutMs / 1000} seconds (\`REQUEST_TIMEOUT_MS\`)`)
    expect(text).toContain(`${slowReaders.timeoutMs / 1000} seconds (twice \`REQUEST_TIMEOUT_MS\`)`)
    expect(text).toContain(
      `| ${limits.clientPerMinute} a minute for a network address, ${limits.playerPerMinute} for a player |`,
    )
    expect(text).toContain(`| ${limits.organiserPerMinute} a minute for a network address |`)
    expect(text).toContain(
      `| images of captchas, and pictures of events and tokens that are not in memory | ${inWords(limits.imagePerMinute)} a minute for a network address,`,
    )
    expect(text).toContain(
      `| lists of tokens, and pictures that have to be drawn | ${limits.tokenListsPerMinute} a minute for a network address |`,
    )
    expect(text).toContain(
      `| ${inWords(limits.grantsPerMinute)} a minute for a network address; ${inWords(limits.eventGrantsPerMinute)} for an event,`,
    )
    expect(text).toContain(
      `| ${inWords(changeStreams.max)} for a server, ${changeStreams.perClient} for a network address |`,
    )
    expect(page('docs/changes.md')).toContain(`${inWords(changeStreams.max)} streams may be open`)
    expect(page('docs/chain.md')).toContain(`ranges of ${inWords(chain.maxRangeBlocks)} blocks`)
    for (const number of [MAX_PARCELS, MAX_SELECTED]) expect(text).toContain(`| ${inWords(number)} |`)
    for (const [, code = ''] of text.matchAll(/\d{3} `(\w+)`/g)) expect(Object.keys(ERRORS)).toContain(code)
    const forOperators = page('docs/attendance/operators.md')
    expect(forOperators).toContain(`events that wait in all: ${makers.maxWaiting};`)
    expect(forOperators).toContain(`${limits.sharePicturesPerMinute} new pictures of links`)
    expect(forOperators).toContain(`those of one event: ${inWords(maxOpenGrants)}`)
    expect(forOperators).toContain(`| where a player was | memory | ${presence.cacheMs / 1000} seconds |`)
  })
})

describe('a server over the demo world', () => {
  const open = freshEngine('postgres')
  let server: LandServer
  beforeAll(async () => {
    const { DATABASE_URL, DATA_DIR } = await fullDemo()
    const engine = await open({ databaseUrl: DATABASE_URL })
    server = await startLandServer(engine, testClock(REFERENCE_TIME_MS), { DATA_DIR })
  })
  afterAll(() => server.close())

  test('answers the examples in README.md and the pages about the land as they say', async () => {
    const pages = [
      'README.md',
      ...[
        'start/developers',
        'land',
        'http',
        'map',
        'tiles',
        'search',
        'offers',
        'find-land',
        'sales',
        'rights',
      ].map((name) => `docs/${name}.md`),
    ]
    const text = pages.map(page).join('')
    const examples = examplesOf(text)
    expect(examples).toHaveLength(text.match(/^\$ curl /gm)?.length ?? 0)
    expect(examples.length).toBeGreaterThan(5)
    const probe = examplesOf(PROBE)
    expect(probe).toHaveLength(2)

    for (const example of [...probe, ...examples]) {
      const answer = await fetch(server.origin + example.path, { headers: example.headers })
      expect(withoutEnd(await answer.text(), example.answer), example.path).toBe(
        withoutEllipsis(example.answer),
      )
    }
  })

  test('has every image whose address stands in README.md and docs/map.md', async () => {
    const addresses = ['README.md', 'docs/map.md'].flatMap((name) =>
      [...page(name).matchAll(/<img src="http:\/\/localhost:3000([^"]+)"/g)].map(
        ([, address = '']) => address,
      ),
    )

    expect(addresses.length).toBeGreaterThan(3)
    for (const address of addresses) {
      const answer = await fetch(server.origin + address)
      expect([answer.status, answer.headers.get('content-type')], address).toEqual([200, 'image/png'])
    }
  })

  test('draws the gallery as it is: otherwise run `npm run gallery`', async () => {
    const files = await drawGallery(server.app.server)
    for (const { path, bytes } of files)
      expect(readFileSync(join(ROOT, path)).equals(bytes), `${path} is another one`).toBe(true)
    const drawn = files.map(({ path }) => path).filter((path) => path.endsWith('.png'))
    const kept = readdirSync(join(ROOT, 'docs/gallery')).map((name) => `docs/gallery/${name}`)
    expect(kept.sort()).toEqual(drawn.sort())
    expect(drawn.length).toBeGreaterThan(20)
    expect(files.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(400_000)
  })
})

/** Holds the reader of examples to its word, whatever README.md has. */
const PROBE = `
\`\`\`console
$ curl -s 'http://localhost:3000/v1/parcels/10/20/encodedId'
{"ok":true,"data":{"encoded_id":"0x0000000000000000000000000000000a00000000000000000000000000000014"}}
\`\`\`

\`\`\`console
$ npm start
$ curl -s http://localhost:3000/v1/map?nw=-1,1&se=1,-1
{"ok":true,"data":{"assets":{"parcels":[{"id":"-1,1",…
\`\`\`
`

interface Example {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly answer: string
}

/** Each `$ curl` of a block ```` ```console ````, with the lines below it. */
function examplesOf(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  return blocks
    .flatMap((block) => block.split(/^\$ /m))
    .flatMap((text) => {
      const [command = '', ...answer] = text.trimEnd().split('\n')
      const [, address] = /http:\/\/localhost:3000([^'"\s]*)/.exec(command) ?? []
      if (!command.startsWith('curl ') || address === undefined || answer.length === 0) return []
      const headers = [...command.matchAll(/-H ['"]([\w-]+): ([^'"]*)['"]/g)].map(([, name, value]) => [
        name,
        value,
      ])
      return [{ path: address, headers: Object.fromEntries(headers), answer: answer.join('\n') }]
    })
}

function withoutEllipsis(answer: string): string {
  return answer.replace(/…$/, '')
}

/** An answer that ends in `…` is the beginning of the real one. */
function withoutEnd(real: string, answer: string): string {
  return answer.endsWith('…') ? real.slice(0, withoutEllipsis(answer).length) : real
}

function page(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** A server that is only described: no route is called. */
async function startDescribedServer(): Promise<FastifyInstance> {
  const config = readConfig({ LOG_LEVEL: 'silent' })
  const { server } = await createApp({ config, engine: {} as Engine, clock: testClock() })
  await server.ready()
  return server
}

/** The same endpoint as the one without `/v1`. */
function isBelowV1(url: string): boolean {
  return url.startsWith('/v1/')
}

/**
 * Every address, sorted, its parameters as `:`. The router can only draw them, as a tree in which
 * parameters at one place stand together: `/:x|:place|:tokenId`.
 */
function routesOf(server: FastifyInstance): string[] {
  const urls = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method) =>
    urlsIn(server.printRoutes({ commonPrefix: false, method })),
  )
  return [...new Set(urls)].sort()
}

function urlsIn(tree: string): string[] {
  const urls: string[] = []
  const parents: string[] = []
  for (const line of tree.split('\n')) {
    const [, indent = '', segment, methods] = /^([│ ]*)[├└]── (\S*) ?(?:\(([^)]*)\))?/.exec(line) ?? []
    if (segment === undefined) continue
    const depth = indent.length / 4
    parents.length = depth
    parents[depth] = segment
    if (methods) urls.push(parents.join('').replace(/:[\w|:]+/g, ':'))
  }
  return urls
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { readConfig, SETTINGS } from '../src/config.ts'
import type { Engine } from '../src/db/engine.ts'
import { ERRORS } from '../src/errors.ts'
import { generatedDocuments } from '../src/site/documents.ts'
import { fullDemoDataDir } from './support/demo-snapshots.ts'
import { freshEngine } from './support/engines.ts'
import { REFERENCE_TIME_MS, startLandServer, testClock } from './support/land-server.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SRC = join(ROOT, 'server/src')
/** Whoever comes first imports the whole demo world: see fullDemoDataDir. */
const IMPORT_LIMIT_MS = 180_000

/** Pages for people, and `x,y` in one segment of a path: other ways to write what is described. */
const PAGES = /^\/(?:docs.*)?$/
const ALIASES = ['/parcels/:/bids', '/parcels/:/encodedId', '/parcels/:/mortgages', '/parcels/:/publications']
/** Not below /v1: they belong to the server, not to a version of the interface. */
const UNVERSIONED = ['/health/live', '/health/ready', '/metrics', '/openapi.json']

describe('the documents that are made from the code', () => {
  test('are committed as the code makes them: otherwise run `npm run generate`', async () => {
    for (const { path, text } of await generatedDocuments()) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text)
    }
  })

  test('name every setting and every error once', async () => {
    const settings = [...page('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
    const errors = [...page('docs/errors.md').matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code)

    expect(settings).toEqual(SETTINGS.map(({ name }) => name))
    expect(errors).toEqual(Object.keys(ERRORS))
  })
})

describe('the description of the interface', () => {
  test('has every route, and no other', async () => {
    const server = await describedServer()
    const routes = routesOf(server).filter((url) => !url.startsWith('/v1/') && !PAGES.test(url))
    const described = Object.keys(descriptionOf(server).paths).map((path) => path.replace(/\{\w+\}/g, ':'))

    expect([...new Set([...described, ...ALIASES])].sort()).toEqual(routes)
    expect(ALIASES.filter((url) => described.includes(url))).toEqual([])
    await server.close()
  })

  test('holds below /v1 as well', async () => {
    const server = await describedServer()
    const routes = routesOf(server)
    const below = routes.filter((url) => url.startsWith('/v1/')).map((url) => url.slice('/v1'.length))
    const above = routes.filter((url) => !url.startsWith('/v1/') && !PAGES.test(url))

    expect(below).toEqual(above.filter((url) => !UNVERSIONED.includes(url)))
    await server.close()
  })

  test('says of every operation what it is for, what it takes and how it can fail', async () => {
    const server = await describedServer()
    const operations = Object.entries(descriptionOf(server).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
    )

    for (const { name, path, operation } of operations) {
      expect(operation.summary, name).toMatch(/\S/)
      expect(operation.tags, name).toHaveLength(1)
      expect(Object.keys(operation.responses), name).toContain('200')
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      const described = operation.parameters?.filter(({ in: place }) => place === 'path') ?? []
      expect(described.map(({ name: parameter }) => parameter).sort(), name).toEqual(inPath.sort())
    }
    await server.close()
  })
})

test('every error code is in the table, and every code of the table is used', () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== 'errors.ts')
    .map((path) => readFileSync(join(SRC, path), 'utf8'))
  const thrown = new Set(
    sources.flatMap((text) => [...text.matchAll(/new AppError\(\s*'(\w+)'/g)].map(([, code]) => code)),
  )

  expect([...thrown].sort()).toEqual(Object.keys(ERRORS).sort())
})

describe('the examples in README.md', () => {
  const open = freshEngine('embedded')

  test(
    'are answered as they say',
    async () => {
      const readme = page('README.md')
      const examples = examplesOf(readme)
      expect(examples).toHaveLength(readme.match(/^\$ curl /gm)?.length ?? 0)
      expect(examples.length).toBeGreaterThan(5)
      const engine = await open({ dataDir: await fullDemoDataDir() })
      const server = await startLandServer(engine, testClock(REFERENCE_TIME_MS))
      const probe = examplesOf(PROBE)
      expect(probe).toHaveLength(2)

      for (const example of [...probe, ...examples]) {
        const answer = await fetch(server.origin + example.path, { headers: example.headers })
        expect(withoutEnd(await answer.text(), example.answer), example.path).toBe(
          withoutEllipsis(example.answer),
        )
      }
      await server.close()
    },
    IMPORT_LIMIT_MS,
  )
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
async function describedServer(): Promise<FastifyInstance> {
  const config = readConfig({ LOG_LEVEL: 'silent' })
  const { server } = await createApp({ config, engine: {} as Engine, clock: testClock() })
  await server.ready()
  return server
}

interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, unknown>>
}

function descriptionOf(server: FastifyInstance) {
  return server.swagger() as unknown as { paths: Record<string, Record<string, Operation>> }
}

/**
 * Every address that GET reaches, sorted, its parameters as `:`. The router can only draw them, as a tree in which
 * parameters at one place stand together: `/:x|:place|:tokenId`.
 */
function routesOf(server: FastifyInstance): string[] {
  const tree = server.printRoutes({ commonPrefix: false, method: 'GET' })
  const urls: string[] = []
  const parents: string[] = []
  for (const line of tree.split('\n')) {
    const [, indent = '', segment, methods] = /^([│ ]*)[├└]── (\S*) ?(?:\(([^)]*)\))?/.exec(line) ?? []
    if (segment === undefined) continue
    const depth = indent.length / 4
    parents.length = depth
    parents[depth] = segment
    if (methods?.includes('GET')) urls.push(parents.join('').replace(/:[\w|:]+/g, ':'))
  }
  return [...new Set(urls)].sort()
}

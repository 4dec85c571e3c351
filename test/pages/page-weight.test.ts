import { gunzipSync } from 'node:zlib'
import { createApp, type Interface } from '@landpass/server/app'
import { readConfig } from '@landpass/server/config/config'
import type { Engine } from '@landpass/server/db/engine'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { OFFERS_POAP, startTinyLand } from '@landpass/server/test/support/land/tiny-land'
import { testBrowser } from '@landpass/server/test/support/pages/browser'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const KILOBYTE = 1000
const PAGES = [
  { path: '/', maxScriptBytes: 75 * KILOBYTE },
  { path: '/organise', maxScriptBytes: 60 * KILOBYTE },
] as const

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
const clock = testClock()
let engine: Engine
let server: LandServer

beforeAll(async () => {
  engine = await openEngine()
  ;({ server } = await startTinyLand(engine, clock, { env: OFFERS_POAP }))
})
afterAll(() => server.close())

describe.each(PAGES)('the page $path', ({ path, maxScriptBytes }) => {
  test('is small, and sends requests to its own server only', async () => {
    const { page, asked } = await openPage(server.origin + path, { size: 'desktop' })
    await page.locator('main').waitFor()
    // The worker stores them for offline use, in the background.
    const scripts = asked.filter((address) => address.endsWith('.js') && !address.includes('service-worker'))

    const sizes = await Promise.all(scripts.map(gzippedBytes))

    expect(scripts.length).toBeGreaterThan(0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxScriptBytes)
    expect(new Set(asked.map((address) => new URL(address).origin))).toEqual(new Set([server.origin]))
  })
})

test.each([...PAGES.map(({ path }) => path), '/docs/', '/docs/interface/land'])(
  'the page %s allows nothing inline, nothing foreign, no frames and no forms that the browser sends',
  async (path) => {
    const { headers } = await server.ask('GET', path)
    const policy = String(headers['content-security-policy'])

    expect(policy).not.toContain('unsafe-')
    expect(policy).not.toMatch(/https?:|\*/)
    for (const rule of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(rule)
    }
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-cache',
    })
  },
)

test('only the map for other websites can be framed, and it allows nothing else', async () => {
  const [page, embed] = await Promise.all(['/', '/embed'].map((path) => server.ask('GET', path)))

  expect(embed?.headers['content-security-policy']).toBe(
    String(page?.headers['content-security-policy']).replace("frame-ancestors 'none'", 'frame-ancestors *'),
  )
  expect(embed?.headers['x-frame-options']).toBeUndefined()
})

test('files whose names change with their content are cached for ever, others are validated', async () => {
  const files = await filesOf('/')
  expect(files.length).toBeGreaterThanOrEqual(3)
  for (const file of files) {
    const { status, headers } = await server.ask('GET', file)

    expect(status, file).toBe(200)
    expect(headers['cache-control'], file).toBe(
      /-[\w-]{8}\.(js|css)$/.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
    )
  }
  expect((await server.ask('GET', '/service-worker.js')).headers['cache-control']).toBe('no-cache')
})

test('a cached copy that is still right is answered without a body, and so is HEAD', async () => {
  for (const address of ['/', '/organise', ...(await filesOf('/'))]) {
    const { headers, bytes } = await server.ask('GET', address)
    const known = await server.ask('GET', address, { headers: { 'if-none-match': headers.etag! } })
    const head = await server.ask('HEAD', address)

    expect([known.status, known.bytes.length], address).toEqual([304, 0])
    expect([head.status, head.bytes.length], address).toEqual([200, 0])
    expect(head.headers.etag).toBe(headers.etag)
    expect(head.headers['content-length']).toBe(String(bytes.length))
  }
})

test('a compressed page has the same content', async () => {
  const plain = await server.ask('GET', '/')
  const gzipped = await server.ask('GET', '/', { headers: { 'accept-encoding': 'gzip' } })

  expect(gzipped.headers['content-encoding']).toBe('gzip')
  expect(gzipped.headers.vary).toMatch(/accept-encoding/i)
  expect(gunzipSync(gzipped.bytes)).toEqual(plain.bytes)
  const known = { 'accept-encoding': 'gzip', 'if-none-match': gzipped.headers.etag! }
  const confirmed = await server.ask('GET', '/', { headers: known })
  expect([confirmed.status, confirmed.headers.etag]).toEqual([304, gzipped.headers.etag])
})

describe('an address that does not exist', () => {
  const inBrowser = {
    accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    'accept-language': 'fr-FR,fr;q=0.9',
  }

  test('is a page for a browser, in its language, with links to the other pages', async () => {
    const { status, headers, bytes } = await server.ask('GET', '/nothing/here', { headers: inBrowser })
    const page = bytes.toString()

    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-error-code': 'not_found' })
    expect(headers.vary).toBe('accept, accept-language')
    expect(String(headers['content-security-policy'])).toContain("default-src 'none'")
    expect(page).toContain('<html lang="fr"')
    expect(page).toContain('Il n’y a pas de page à cette adresse')
    expect(page).not.toMatch(/\{[a-z_.]+\}/)
    for (const path of ['/', '/organise', '/docs/']) expect(page).toContain(`href="${path}"`)
    for (const [, style = ''] of page.matchAll(/href="([^"]+\.css)"/g))
      expect((await server.ask('GET', style)).status, style).toBe(200)
  })

  test.each([
    { who: 'a program', method: 'GET', path: '/nothing/here', headers: {}, vary: 'accept, accept-language' },
    { who: 'a browser that asks for data', method: 'GET', path: '/v2/nothing', headers: inBrowser },
    { who: 'a form', method: 'POST', path: '/nothing/here', headers: inBrowser },
  ] as const)('is the envelope for $who', async ({ method, path, headers, ...expected }) => {
    const answer = await server.ask(method, path, { headers })

    expect(answer.status).toBe(404)
    expect(answer.headers.vary).toBe('vary' in expected ? expected.vary : undefined)
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ ok: false, code: 'not_found' })
  })
})

test('favicon, icons of the manifest, robots.txt and llms.txt are served', async () => {
  const favicon = await server.ask('GET', '/favicon.ico')
  const manifest = JSON.parse((await server.ask('GET', '/landpass.webmanifest')).bytes.toString())
  const robots = await server.ask('GET', '/robots.txt')

  expect([favicon.status, favicon.headers['content-type']]).toEqual([200, 'image/x-icon'])
  expect(manifest.icons.map(({ sizes }: { sizes: string }) => sizes)).toEqual(
    expect.arrayContaining(['192x192', '512x512']),
  )
  for (const { src, type, sizes } of manifest.icons) {
    const icon = await server.ask('GET', src)
    expect([icon.status, icon.headers['content-type']], src).toEqual([200, type])
    if (type !== 'image/png') continue
    const { width, height } = PNG.sync.read(icon.bytes)
    expect(`${width}x${height}`, src).toBe(sizes)
  }
  expect([robots.status, robots.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(robots.bytes.toString()).toMatch(
    /^User-agent: \*$[\s\S]*^Allow: \/\$$[\s\S]*^Allow: \/\?$[\s\S]*^Disallow: \/$/m,
  )
})

test('every page leads programs to the description of the interface, and to a text that only names what there is', async () => {
  const { paths, unknown } = await pathsInDescription(server.origin)

  expect(paths.length).toBeGreaterThan(10)
  expect(unknown).toEqual([])
  for (const [page, accept] of [
    ['/'],
    ['/organise'],
    ['/approve'],
    ['/operate'],
    ['/docs/'],
    ['/docs/interface'],
    ['/nothing', 'text/html'],
  ]) {
    const html = (await server.ask('GET', page!, { headers: { accept: accept ?? '*/*' } })).bytes.toString()
    expect(html, page).toMatch(/<link rel="service-desc" [^>]*href="\/openapi\.json"/)
    expect(html, page).toMatch(/<link rel="alternate" [^>]*href="\/llms\.txt"/)
  }
})

describe('one interface alone', () => {
  test('land: a map, no form, and no link to one', async () => {
    const alone = await serveAlone('land')
    const { page } = await openPage(alone.origin, { size: 'desktop' })
    await page.getByRole('link', { name: 'Map' }).waitFor()

    expect(await page.getByRole('link', { name: 'Organise' }).count()).toBe(0)
    expect((await fetch(`${alone.origin}/organise`)).status).toBe(404)
    expect(await pathsInDescription(alone.origin)).toMatchObject({ unknown: [], pages: ['/'] })
    await page.close()
    await alone.close()
  })

  test('attendance: the form is the front page, and there is no map', async () => {
    const alone = await serveAlone('attendance')
    const front = await fetch(`${alone.origin}/?lang=fr`, { redirect: 'manual' })
    const { page } = await openPage(alone.origin, { size: 'desktop' })
    await page.getByRole('link', { name: 'Organise' }).waitFor()

    expect([front.status, front.headers.get('location')]).toEqual([302, '/organise?lang=fr'])
    expect(new URL(page.url()).pathname).toBe('/organise')
    expect(await page.getByRole('link', { name: 'Map' }).count()).toBe(0)
    expect(await pathsInDescription(alone.origin)).toMatchObject({ unknown: [], pages: ['/organise'] })
    await page.close()
    await alone.close()
  })
})

/** What llms.txt names: endpoints, those of them that openapi.json does not have, and pages outside of the documents. */
async function pathsInDescription(origin: string) {
  const described = JSON.parse(await (await fetch(`${origin}/openapi.json`)).text())
  const text = await (await fetch(`${origin}/llms.txt`)).text()
  expect(text).not.toContain('<!--')
  const paths = [...text.matchAll(/`(?:GET|POST) (\/[^`?]*)/g)].map(([, path = '']) =>
    path.replace(/^\/v1(?=\/)/, ''),
  )
  const links = [...text.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path = '']) => path)
  return {
    paths,
    unknown: paths.filter((path) => !Object.hasOwn(described.paths, path)),
    pages: links.filter((path) => !/^\/(?:docs|openapi)/.test(path)),
  }
}

/** What a page's HTML names, of this server. */
async function filesOf(path: string): Promise<string[]> {
  const html = (await server.ask('GET', path)).bytes.toString()
  const named = [...html.matchAll(/(?:src|href)="(\/[\w./-]+\.\w+)"/g)].map(([, file]) => file!)
  return named.filter((file) => file !== '/openapi.json') // an answer of the interface
}

async function gzippedBytes(address: string): Promise<number> {
  const { pathname } = new URL(address)
  const { status, headers, bytes } = await server.ask('GET', pathname, {
    headers: { 'accept-encoding': 'gzip' },
  })
  expect([status, headers['content-encoding']]).toEqual([200, 'gzip'])
  return bytes.length
}

/** A server over the same world with one of the interfaces. */
async function serveAlone(name: Interface) {
  const config = readConfig({ LOG_LEVEL: 'silent', PORT: '0', DATA_DIR: emptyDir(), WORLD: '-2,-2,2,2' })
  const app = await createApp({ config, engine, clock, interfaces: [name] })
  const origin = await app.server.listen({ host: '127.0.0.1', port: 0 })
  await app.start()
  return { origin, close: () => app.close() }
}

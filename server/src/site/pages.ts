import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { type Answer, send } from '../http/answer.ts'
import type { Coding } from '../http/codings.ts'
import type { SharedBody } from '../http/compressed-bodies.ts'
import { ENCODERS } from '../http/encoders.ts'
import { HIDDEN } from '../http/schemas.ts'
import { tagOf } from '../http/text-tag.ts'
import { answerUnknownAddresses } from './not-found-page.ts'

/** Which pages and names of interfaces a server shows: those that it serves. */
export interface PageOptions {
  readonly interfaces: readonly string[]
}

/** A file of web/dist, in every coding that `web/build.mjs` made of it. */
interface PageFile {
  readonly type: string
  readonly tag: string
  readonly body: SharedBody | Buffer
}

const DIST = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}
/** In the pages as they are made; each server says there what it serves. */
const INTERFACES_MARK = 'data-interfaces="land attendance"'

/**
 * Everything from here, nothing inline, no frames, no forms that a browser would send by itself: an edit code that is
 * typed into a page can only go where our own script sends it.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * `/`, `/organise`, and the files that they are made of; a page for browsers that ask for an unknown address. A server
 * without land has the form as its front page.
 */
export function servePages(app: FastifyInstance, { interfaces }: PageOptions): void {
  if (!existsSync(DIST))
    throw new Error(`The pages are not made yet: run "npm run build" (${DIST} is missing).`)
  const serves = (name: string) => interfaces.includes(name)
  if (serves('land')) servePage(app, '/', readPage('index.html', interfaces))
  else app.get('/', { schema: HIDDEN }, ({ url }, reply) => reply.redirect(`/organise${queryOf(url)}`, 302))
  if (serves('attendance')) servePage(app, '/organise', readPage('organise.html', interfaces))
  for (const path of filesBelow(DIST)) serveFile(app, path)
  answerUnknownAddresses(app, { page: readHtml('not-found.html', interfaces), headers: PAGE_HEADERS })
}

/** With its question mark; empty where there is none. */
function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}

const FILE_HEADERS = { 'x-content-type-options': 'nosniff' }
const PAGE_HEADERS = {
  ...FILE_HEADERS,
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

function servePage(app: FastifyInstance, address: string, file: PageFile): void {
  const answer = answerOf(file, 'no-cache')
  app.get(address, { schema: HIDDEN }, (request, reply) => send(request, reply.headers(PAGE_HEADERS), answer))
}

function serveFile(app: FastifyInstance, path: string): void {
  if (path.endsWith('.html')) return
  const file = readFile(path)
  // These names change with the content.
  const cacheControl = path.startsWith('pages/') ? 'public, max-age=31536000, immutable' : 'no-cache'
  const answer = answerOf(file, cacheControl)
  app.get(`/${path}`, { schema: HIDDEN }, (request, reply) =>
    send(request, reply.headers(FILE_HEADERS), answer),
  )
}

function answerOf({ type, tag, body }: PageFile, cacheControl: string): Answer {
  return { freshness: { tag, cacheControl }, format: { contentType: type }, body: () => body }
}

function readFile(path: string): PageFile {
  const identity = readFileSync(DIST + path)
  const body = existsSync(`${DIST}${path}.br`)
    ? bodyIn({ identity, br: readFileSync(`${DIST}${path}.br`), gzip: readFileSync(`${DIST}${path}.gz`) })
    : identity // a picture: compressed by its own format
  return { type: typeOf(path), tag: tagOf(identity.toString('latin1')), body }
}

/** A page, which says what this server serves. */
function readPage(name: string, interfaces: readonly string[]): PageFile {
  const text = readHtml(name, interfaces)
  const identity = Buffer.from(text)
  const { br, gzip } = ENCODERS.page
  const body = bodyIn({ identity, br: brotliCompressSync(identity, br), gzip: gzipSync(identity, gzip) })
  return { type: typeOf(name), tag: tagOf(text), body }
}

function readHtml(name: string, interfaces: readonly string[]): string {
  const made = readFileSync(DIST + name, 'utf8')
  if (!made.includes(INTERFACES_MARK)) throw new Error(`${name} has no place for the interfaces`)
  return made.replace(INTERFACES_MARK, `data-interfaces="${interfaces.join(' ')}"`)
}

function bodyIn(bodies: Readonly<Record<Coding | 'identity', Buffer>>): SharedBody {
  return { codingFor: (accepted) => accepted, in: (coding) => bodies[coding ?? 'identity'] }
}

function typeOf(path: string): string {
  const type = TYPES[extname(path)]
  if (!type) throw new Error(`${path} has no known content type`)
  return type
}

/** Paths of the files that are sent, without those that hold the same compressed. */
function filesBelow(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name
    if (entry.isDirectory()) return filesBelow(`${folder}${entry.name}/`, `${path}/`)
    return extname(path) in TYPES ? [path] : []
  })
}

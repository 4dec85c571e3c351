import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../http/answer.ts'
import type { SharedBody } from '../http/compressed-bodies.ts'
import type { ContentEncoding } from '../http/content-encoding.ts'
import { ENCODERS } from '../http/encoders.ts'
import { HIDDEN } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { tagOf } from '../http/text-tag.ts'
import { type MapPageOptions, serveMapPage } from './map-page.ts'
import { notFoundPage } from './not-found-page.ts'

/** What the server serves. It decides which pages it has, and what they offer. */
export interface PageOptions {
  readonly interfaces: readonly string[]
  readonly publicUrl: string | undefined
  /** Where the map page links to for an asset, with names in braces. */
  readonly links: PageLinks
  /** Whether the land is that of the demo, so that the map page says that it is made up. */
  readonly isDemo: boolean
  /** Undefined where the land is not served. */
  readonly summaryOf: MapPageOptions['summaryOf'] | undefined
  /** How organisers get events now; undefined where attendance is not served. */
  readonly offers: () => Offers | undefined
}

interface PageLinks {
  /** With `{x}` and `{y}`. */
  readonly visit: string | undefined
  /** With `{contract}` and `{token_id}`. */
  readonly market: string | undefined
}

interface Offers {
  /** Who makes events on this server. */
  readonly makers: 'anyone' | 'approved' | 'operator' | 'nobody'
  /** Whether events that were made here can be changed. */
  readonly hasOwn: boolean
  /** Whether events of the other issuer can be registered and changed. */
  readonly hasPoap: boolean
}

/** A file of web/dist, uncompressed and in each compression that `web/build.mjs` made. */
interface PageFile {
  readonly type: string
  readonly tag: string
  readonly body: SharedBody | Buffer
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => ReturnType<typeof send> | FastifyReply

const DIST = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
const FOREVER = 'public, max-age=31536000, immutable'
const HTML_TYPE = 'text/html; charset=utf-8'
const TYPES: Readonly<Record<string, string>> = {
  '.html': HTML_TYPE,
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}
/** Pictures that their own format compresses: `web/build.mjs` makes no compressed copies of them. */
const COMPRESSED_FORMATS: readonly string[] = ['.png', '.ico']
/** Documents, which as they were built are those of a server with both interfaces. */
const DOCUMENTS = 'docs/'
/** Its address is that of the folder. */
const FIRST_DOCUMENT = 'docs/index.html'
/** Scripts, styles and pictures of the pages. Their names contain a hash of the content, so the content of a name never changes. */
const PAGE_FILES = 'pages/'
/** Says to language models what the server serves. */
const DESCRIPTION = 'llms.txt'
/** A part of it that is for servers with an interface. */
const PART = /<!-- (\w+) -->\n([\s\S]*?)<!-- end -->\n/g
/** An attribute in the built pages. The server replaces it by the interfaces that it serves. */
const INTERFACES_MARK = 'data-interfaces="land attendance"'
/** Attributes in the built map page, which the server replaces by its links, and whether its land is made up. */
const LINKS_MARK = 'data-visit-url="" data-market-url="" data-is-demo="false"'
/** Attributes in the organisers' page. The server replaces them by who makes events, and which issuers can be used. */
const OFFERS_MARK = 'data-event-makers="nobody" data-has-own="false" data-has-poap="false"'

/**
 * Content security policy: everything from this server, no inline scripts, no frames, no form submission. So only our
 * own script can send an edit code that an organiser types into a page.
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
 * Serves `/`, `/embed`, `/organise`, `/approve`, `/operate`, their files, the documents below `/docs/`, and a page for browsers that ask
 * for an unknown address. Without the land interface, `/` redirects to `/organise`.
 */
export function servePages(app: FastifyInstance, options: PageOptions): void {
  const { interfaces, offers, publicUrl, summaryOf } = options
  if (!existsSync(DIST)) throw new Error(`The pages are not built: ${DIST} is missing. Run "npm run build".`)
  const serves = (name: string) => interfaces.includes(name)
  if (summaryOf) {
    const html = withLinks(readHtml('index.html', interfaces), options)
    serveMapPage(app, { html, headers: PAGE_HEADERS, embedHeaders: EMBED_HEADERS, publicUrl, summaryOf })
  } else app.get('/', { schema: HIDDEN }, ({ url }, reply) => reply.redirect(`/organise${queryOf(url)}`, 302))
  if (serves('attendance')) {
    serveOrganisePage(app, organisePages(interfaces), offers)
    servePage(app, '/approve', pageFile(readHtml('approve.html', interfaces)))
  }
  servePage(app, '/operate', pageFile(readHtml('operate.html', interfaces)))
  const files = filesBelow(DIST)
  for (const path of files) {
    if (path.startsWith(DOCUMENTS) || path.startsWith(PAGE_FILES) || path.endsWith('.html')) continue
    const file = path === DESCRIPTION ? descriptionOf(interfaces) : readFile(path)
    app.get(`/${path}`, { schema: HIDDEN }, fileHandler(file, 'no-cache'))
  }
  const answerWithPage = notFoundPage({ page: readHtml('not-found.html', interfaces), headers: PAGE_HEADERS })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !answerWithPage(request, reply)) done()
  })
  const answerUnknown: Handler = (request, reply) => {
    if (!answerWithPage(request, reply)) reply.callNotFound()
    return reply
  }
  app.get(`/${DOCUMENTS}`, { schema: HIDDEN }, documentHandler(FIRST_DOCUMENT, interfaces))
  serveFolder(DOCUMENTS, (path) => documentHandler(path, interfaces))
  serveFolder(PAGE_FILES, (path) => fileHandler(readFile(path), FOREVER))

  /** One route for all files of a folder: each route makes the start of a server longer. */
  function serveFolder(folder: string, handlerOf: (path: string) => Handler): void {
    const paths = files.filter((path) => path.startsWith(folder) && path !== FIRST_DOCUMENT)
    // The address of a page has no ending
    const handlers = new Map(paths.map((path) => [path.replace(/\.html$/, ''), handlerOf(path)]))
    app.get<{ Params: { '*': string } }>(`/${folder}*`, { schema: HIDDEN }, (request, reply) => {
      const handler = handlers.get(folder + request.params['*']) ?? answerUnknown
      return handler(request, reply)
    })
  }
}

/** The query of an address, with its question mark; empty where there is none. */
function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}

/** Headers of all pages. */
export const PAGE_HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

/** Headers of the map page in a frame of another website: it shows land, and changes nothing. */
const EMBED_HEADERS = {
  'content-security-policy': PAGE_POLICY.replace("frame-ancestors 'none'", 'frame-ancestors *'),
  'referrer-policy': 'no-referrer',
}

function servePage(app: FastifyInstance, address: string, file: PageFile): void {
  const answer = answerOf(file, 'no-cache')
  app.get(address, { schema: HIDDEN }, (request, reply) => send(request, reply.headers(PAGE_HEADERS), answer))
}

function serveOrganisePage(
  app: FastifyInstance,
  pageWith: (offers: Offers | undefined) => Answer,
  offers: PageOptions['offers'],
): void {
  app.get('/organise', { schema: HIDDEN }, (request, reply) =>
    send(request, reply.headers(PAGE_HEADERS), pageWith(offers())),
  )
}

function fileHandler(file: PageFile, cacheControl: string): Handler {
  const answer = answerOf(file, cacheControl)
  return (request, reply) => send(request, reply, answer)
}

/** A page or a file of the documents, which is read when it is first requested: most are not. */
function documentHandler(path: string, interfaces: PageOptions['interfaces']): Handler {
  let answer: Answer | undefined
  const isPage = path.endsWith('.html')
  return (request, reply) => {
    const isAsBuilt = !isPage || interfacesMark(interfaces) === INTERFACES_MARK
    answer ??= answerOf(isAsBuilt ? readFile(path) : pageFile(readHtml(path, interfaces)), 'no-cache')
    return send(request, isPage ? reply.headers(PAGE_HEADERS) : reply, answer)
  }
}

function answerOf(file: PageFile, cacheControl: string): Answer {
  return {
    freshness: { tag: file.tag, cacheControl },
    format: { contentType: file.type },
    body: () => file.body,
  }
}

/** @throws {Error} where a compressed copy is missing, so that a server with an incomplete build does not start */
function readFile(path: string): PageFile {
  const identity = readFileSync(DIST + path)
  const body = COMPRESSED_FORMATS.includes(extname(path))
    ? identity
    : bodyIn({ identity, br: readFileSync(`${DIST}${path}.br`), gzip: readFileSync(`${DIST}${path}.gz`) })
  return { type: typeOf(path), tag: tagOf(identity.toString('latin1')), body }
}

/** The organisers' page with what it offers. Each of the few forms of it is compressed once. */
function organisePages(interfaces: PageOptions['interfaces']): (offers: Offers | undefined) => Answer {
  const html = readHtml('organise.html', interfaces)
  if (!html.includes(OFFERS_MARK)) throw new Error('organise.html has no place for the ways to an event')
  const made = new Map<string, Answer>()
  return ({ makers, hasOwn, hasPoap } = { makers: 'nobody', hasOwn: false, hasPoap: false }) => {
    const offered = `data-event-makers="${makers}" data-has-own="${hasOwn}" data-has-poap="${hasPoap}"`
    const answer = made.get(offered) ?? answerOf(pageFile(html.replace(OFFERS_MARK, offered)), 'no-cache')
    made.set(offered, answer)
    return answer
  }
}

/** Writes the links into the map page, whose kinds of settings allow no quotes and angle brackets, and whether it shows the demo. */
function withLinks(html: string, { links: { visit = '', market = '' }, isDemo }: PageOptions): string {
  if (!html.includes(LINKS_MARK)) throw new Error('index.html has no place for links')
  const [visitUrl, marketUrl] = [visit, market].map((address) => address.replaceAll('&', '&amp;'))
  return html.replace(
    LINKS_MARK,
    () => `data-visit-url="${visitUrl}" data-market-url="${marketUrl}" data-is-demo="${isDemo}"`,
  )
}

function descriptionOf(interfaces: PageOptions['interfaces']): PageFile {
  const text = readFileSync(DIST + DESCRIPTION, 'utf8')
  const served = text.replace(PART, (_, name: string, part: string) =>
    interfaces.includes(name) ? part : '',
  )
  return textFile(served, typeOf(DESCRIPTION))
}

const pageFile = (html: string) => textFile(html, HTML_TYPE)

/** A file that this server writes; compressed when it is first requested. */
function textFile(text: string, type: string): PageFile {
  const identity = Buffer.from(text)
  const { br, gzip } = ENCODERS.page
  let body: SharedBody | undefined
  return {
    type,
    tag: tagOf(text),
    get body() {
      body ??= bodyIn({ identity, br: brotliCompressSync(identity, br), gzip: gzipSync(identity, gzip) })
      return body
    },
  }
}

/** Reads a page and writes into it which interfaces this server serves. */
export function readHtml(name: string, interfaces: readonly string[]): string {
  const made = readFileSync(DIST + name, 'utf8')
  if (!made.includes(INTERFACES_MARK)) throw new Error(`${name} has no place for the interfaces`)
  return made.replace(INTERFACES_MARK, interfacesMark(interfaces))
}

function interfacesMark(interfaces: readonly string[]): string {
  return `data-interfaces="${interfaces.join(' ')}"`
}

function bodyIn(bodies: Readonly<Record<ContentEncoding | 'identity', Buffer>>): SharedBody {
  return { encodingFor: (accepted) => accepted, bytesIn: (encoding) => bodies[encoding ?? 'identity'] }
}

function typeOf(path: string): string {
  const type = TYPES[extname(path)]
  if (!type) throw new Error(`${path} has no known content type`)
  return type
}

/** Paths of the files below a folder, without their compressed copies and the record of the build. */
function filesBelow(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name
    if (entry.isDirectory()) return filesBelow(`${folder}${entry.name}/`, `${path}/`)
    return extname(path) in TYPES && !entry.name.startsWith('.') ? [path] : []
  })
}

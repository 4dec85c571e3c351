import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { send } from './answer.ts'
import { SmallBody } from './compressed-bodies.ts'
import { HIDDEN } from './schemas.ts'
import { tagOf } from './text-tag.ts'

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** Files of the library, whose scripts make the page. */
const OF_LIBRARY: Readonly<Record<string, string>> = {
  'swagger-ui.css': STYLE,
  'index.css': STYLE,
  'swagger-ui-bundle.js': SCRIPT,
  'swagger-ui-standalone-preset.js': SCRIPT,
}

/**
 * `/docs`: the OpenAPI description as a page for people. It loads nothing from other servers. Its files are read when they are
 * first requested, and compressed once.
 */
export function serveDocsPage(app: FastifyInstance): void {
  const answering = (contentType: string, read: () => string): RouteHandlerMethod => {
    let file: { readonly tag: string; readonly body: SmallBody } | undefined
    return (request, reply) => {
      file ??= fileOf(read())
      const { tag, body } = file
      const answer = {
        freshness: { tag, cacheControl: 'no-cache' },
        format: { contentType },
        body: () => body,
      }
      return send(request, reply.header('content-security-policy', PAGE_POLICY), answer)
    }
  }
  const serve = (path: string, handler: RouteHandlerMethod) => app.get(path, { schema: HIDDEN }, handler)
  const page = answering(HTML, () => PAGE_TEXT)
  // Relative addresses in the page begin at its own, which ends with a slash and has no query
  serve(PAGE, function (request, reply) {
    if (request.url === PAGE) return page.call(this, request, reply)
    return reply.redirect(request.url.startsWith(PAGE) ? './' : 'docs/')
  })
  serve(`${PAGE}static/index.html`, (_request, reply) => reply.redirect('../'))
  for (const [name, type] of Object.entries(OF_LIBRARY))
    serve(
      `${PAGE}static/${name}`,
      answering(type, () => readOfLibrary(name)),
    )
  for (const [name, type, text] of OWN_FILES)
    serve(
      `${PAGE}static/${name}`,
      answering(type, () => text),
    )
}

function fileOf(text: string): { readonly tag: string; readonly body: SmallBody } {
  return { tag: tagOf(text), body: new SmallBody(Buffer.from(text)) }
}

function readOfLibrary(name: string): string {
  return readFileSync(fileURLToPath(import.meta.resolve(`@fastify/swagger-ui/static/${name}`)), 'utf8')
}

const PAGE = '/docs/'
/** `/` is the map, or on a server without land the form for organisers. */
const PAGE_TEXT = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Landpass: the interface</title>
    <link rel="stylesheet" href="static/swagger-ui.css">
    <link rel="stylesheet" href="static/index.css">
    <link rel="stylesheet" href="static/landpass.css">
    <link rel="icon" type="image/svg+xml" sizes="any" href="static/icon.svg">
    <link rel="service-desc" type="application/json" href="/openapi.json">
    <link rel="alternate" type="text/plain" href="/llms.txt" title="What this server is, for language models">
  </head>
  <body>
    <nav class="way-back"><a href="/">Back to Landpass</a></nav>
    <div id="swagger-ui"></div>
    <script src="static/swagger-ui-bundle.js"></script>
    <script src="static/swagger-ui-standalone-preset.js"></script>
    <script src="static/start.js"></script>
  </body>
</html>
`
const START = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  tryItOutEnabled: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl],
  layout: 'StandaloneLayout',
})
`

/** Everything comes from this server. Inline styles are allowed because the page sets styles on its elements. */
const PAGE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'self'",
].join('; ')

/** The library's own colours have a contrast of 2.2 to 3.8; these have at least 4.5, as WCAG AA requires. */
const PAGE_STYLE = `
body { font-family: system-ui, sans-serif }
.way-back { max-width: 1460px; margin: 0 auto; padding: 8px 20px }
.way-back a { display: inline-block; padding: 10px 0; color: #0b5a87 }
.swagger-ui .topbar { display: none }
.swagger-ui .info { margin: 24px 0 8px }
.swagger-ui .scheme-container { display: none }
.swagger-ui .info .title small { background: #4a5464 }
.swagger-ui .info .title small.version-stamp { background: #3f6212 }
.swagger-ui a, .swagger-ui .info .url, .swagger-ui .info .base-url { color: #0b5a87 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0b5a87 }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #166534 }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #115e59 }
.swagger-ui .btn.execute { background: #0b5a87; border-color: #0b5a87 }
.swagger-ui .btn.cancel, .swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span { color: #a61b1b; border-color: #a61b1b }
.swagger-ui .parameter__in, .swagger-ui .parameter__deprecated, .swagger-ui .prop-format, .swagger-ui .response-control-media-type__accept-message { color: #4a5464 }
.swagger-ui .response-control-media-type__accept-message { color: #166534 }
.swagger-ui :focus-visible { outline: 3px solid #0b5a87; outline-offset: 2px }
.swagger-ui .responses-table td { overflow-wrap: anywhere }
@media (max-width: 600px) { .swagger-ui .opblock .opblock-summary-description { font-size: 12px } }
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#23395b" d="M0 0h16v16H0z"/>\
<path fill="#7fb685" d="M1 1h6v6H1zM9 9h6v6H9z"/><path fill="#f2b134" d="M9 1h6v6H9z"/><path fill="#8da9c4" d="M1 9h6v6H1z"/></svg>`

const OWN_FILES = [
  ['start.js', SCRIPT, START],
  ['landpass.css', STYLE, PAGE_STYLE],
  ['icon.svg', 'image/svg+xml', ICON],
] as const

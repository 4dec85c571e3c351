import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, onRequestHookHandler, onSendHookHandler } from 'fastify'

/** `/docs`: the OpenAPI description as a page for people. It loads nothing from other servers. */
export async function serveDocsPage(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRequest', dropQuery)
    scope.addHook('onSend', completePage)
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: PAGE_POLICY,
      uiConfig: { docExpansion: 'list', deepLinking: true, tryItOutEnabled: true, validatorUrl: null },
      theme: {
        title: 'Landpass: the interface',
        css: [{ filename: 'landpass.css', content: PAGE_STYLE }],
        favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }],
      },
    })
  })
}

/** The addresses of the page, and the way from each to the one that all lead to. */
const PAGE_ADDRESSES: Readonly<Record<string, string>> = {
  '/docs': 'docs/',
  '/docs/': './',
  '/docs/static/index.html': '../',
}

/** The scripts of the library take the address of the page, with its query, for a folder: they would find nothing there. */
const dropQuery: onRequestHookHandler = ({ url }, reply, done) => {
  const start = url.indexOf('?')
  const page = start < 0 ? undefined : PAGE_ADDRESSES[url.slice(0, start)]
  if (page === undefined) done()
  else reply.redirect(page)
}

/** The library's page has no viewport, so phones would show it as wide as a desktop, and no link to other pages. */
const completePage: onSendHookHandler = (_request, reply, payload, done) => {
  const isPage =
    typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
  done(null, isPage ? withViewportAndLink(payload) : payload)
}

const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
/** `/` is the map, or on a server without land the form for organisers. */
const WAY_BACK = '<nav class="way-back"><a href="/">Back to Landpass</a></nav>'

function withViewportAndLink(page: string): string {
  return page.replace('<head>', `<head>\n      ${VIEWPORT}`).replace('<body>', `<body>\n      ${WAY_BACK}`)
}

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

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../errors.ts'
import { publicBase } from '../http/public-base.ts'
import { withoutTurns } from '../text-direction.ts'
import { asMarkup, opensPage, preferredLocale } from './not-found-page.ts'
import { PAGE_HEADERS, readHtml } from './pages.ts'
import { type Catalogue, LOCALES, type Locale, localeFor, readCatalogue } from './translations.ts'

/** What the HTML of a token's page says about it, for programs that show a link with a title and a picture. */
export interface TokenSummary {
  readonly id: string
  readonly eventName: string
  /** `x,y` */
  readonly place: string
  /** Which of the tokens of its event. */
  readonly number: number
  /** When it was claimed or given, in seconds since 1970. */
  readonly timeS: number
  /** Whether the organiser gave it to its holder. */
  readonly isGiven: boolean
  readonly isRevoked: boolean
}

export interface TokenPageOptions {
  readonly interfaces: readonly string[]
  readonly publicUrl: string | undefined
  /** Of `/tokens/:id/share.png`. */
  readonly shareSize: { readonly widthPx: number; readonly heightPx: number }
  /** @throws {AppError} `token_not_found`, `database_unavailable` */
  readonly describeToken: (id: string) => Promise<TokenSummary>
}

interface Description {
  readonly title: string
  readonly text: string
  readonly image?: LinkPicture
}

interface LinkPicture {
  /** The whole address. */
  readonly address: string
  readonly widthPx: number
  readonly heightPx: number
}

const TOKEN_ROUTE = '/tokens/:id'
/** In place of an id: the page that checks a token which the reader brings. */
const CHECK_PAGE = 'check'
const COLLECTION_ROUTE = '/addresses/:address/tokens'
/** The built page, up to the end of the title that is replaced. */
const TITLE_MARK = '<title>Landpass</title>'
const ADDRESS = /^0x[0-9a-f]{40}$/i
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Answers browsers that open the address of a token, or of the tokens of an address, with a page. All other clients get
 * the JSON of the same address. Call it before these routes are registered.
 */
export function serveTokenPages(app: FastifyInstance, options: TokenPageOptions): void {
  const html = readHtml('tokens.html', options.interfaces)
  if (!html.includes(TITLE_MARK)) throw new Error('tokens.html has no place for a title')
  const texts = new Map(LOCALES.map((locale) => [locale, readCatalogue(locale)]))
  const answerPage: onRequestAsyncHookHandler = async (request, reply) => {
    const { url } = request.routeOptions
    reply.header('vary', 'accept, accept-language') // on the JSON too, or a cache would answer browsers with it
    if (!opensPage(request)) return
    const locale = localeOf(request)
    const describing = url === TOKEN_ROUTE ? describeTokenPage : describeCollection
    const described = await describing(request, reply, texts.get(locale) ?? {}, locale, options)
    const address = publicBase(request, options.publicUrl) + request.url.split('?', 1)[0]
    return reply
      .headers(PAGE_HEADERS)
      .header('cache-control', 'no-cache')
      .header('content-language', locale)
      .type('text/html; charset=utf-8')
      .send(withDescription(html, described, address, locale))
  }
  app.addHook('onRoute', (route) => {
    if (route.url !== TOKEN_ROUTE && route.url !== COLLECTION_ROUTE) return
    route.onRequest = [answerPage, ...[route.onRequest ?? []].flat()]
  })
}

async function describeTokenPage(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: Catalogue,
  locale: Locale,
  { describeToken, publicUrl, shareSize }: TokenPageOptions,
): Promise<Description> {
  const { id } = request.params as { id: string }
  if (id === CHECK_PAGE) return { title: texts['check.title'] ?? '', text: texts['check.hint'] ?? '' }
  try {
    if (!UUID.test(id)) throw new AppError('token_not_found', 'There is no token with this id.')
    const token = await describeToken(id)
    const name = withoutTurns(token.eventName)
    return {
      title: `${name} #${token.number}`,
      text: fill(texts[sharedText(token)], {
        name,
        place: token.place,
        date: dayText(token.timeS, locale),
      }),
      image: { address: `${publicBase(request, publicUrl)}/tokens/${token.id}/share.png`, ...shareSize },
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The page itself says what is wrong, and asks again
    reply.code(error.code === 'token_not_found' ? 404 : 503)
    return { title: texts['token.title'] ?? '', text: texts[`error.${error.code}`] ?? '' }
  }
}

function sharedText({ isRevoked, isGiven }: TokenSummary): string {
  if (isRevoked) return 'token.share_revoked'
  return isGiven ? 'token.share_given' : 'token.share'
}

async function describeCollection(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: Catalogue,
): Promise<Description> {
  const { address } = request.params as { address: string }
  if (!ADDRESS.test(address)) reply.code(400) // as the JSON of this address; the page says what is wrong
  const title = fill(texts['collection.title'], { address: shortAddress(address) })
  return { title, text: texts['collection.explained'] ?? '' }
}

/** The language that a link names, else that of the browser. */
function localeOf(request: FastifyRequest): Locale {
  const { lang } = request.query as { lang?: unknown }
  const named = typeof lang === 'string' ? localeFor(lang) : undefined
  return named ?? preferredLocale(request.headers['accept-language'] ?? '')
}

function withDescription(
  html: string,
  { title, text, image }: Description,
  address: string,
  locale: Locale,
): string {
  const tags = [
    `<title>${asMarkup(title)} · Landpass</title>`,
    `<meta name="description" content="${asMarkup(text)}" />`,
    `<meta property="og:type" content="website" />`,
    `<meta property="og:site_name" content="Landpass" />`,
    `<meta property="og:title" content="${asMarkup(title)}" />`,
    `<meta property="og:description" content="${asMarkup(text)}" />`,
    `<meta property="og:url" content="${asMarkup(address)}" />`,
    // A wide picture across the preview, or text alone
    `<meta name="twitter:card" content="${image === undefined ? 'summary' : 'summary_large_image'}" />`,
    ...(image === undefined ? [] : imageTags(image, asMarkup(title))),
  ]
  return html
    .replace('<html lang="en"', `<html lang="${locale}"`)
    .replace(TITLE_MARK, () => tags.join('\n    '))
}

function imageTags({ address, widthPx, heightPx }: LinkPicture, title: string): readonly string[] {
  return [
    `<meta property="og:image" content="${asMarkup(address)}" />`,
    `<meta property="og:image:type" content="image/png" />`,
    `<meta property="og:image:width" content="${widthPx}" />`,
    `<meta property="og:image:height" content="${heightPx}" />`,
    `<meta property="og:image:alt" content="${title}" />`,
  ]
}

function fill(template = '', values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

function dayText(timeS: number, locale: Locale): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(timeS * 1000)
}

function shortAddress(address: string): string {
  return address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address
}

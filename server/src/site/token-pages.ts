import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../errors.ts'
import { publicBase } from '../http/public-base.ts'
import { withoutTurns } from '../text-direction.ts'
import { type Description, fill, localeOf, shortAddress, withDescription } from './link-description.ts'
import { opensPage } from './not-found-page.ts'
import { PAGE_HEADERS, readHtml } from './pages.ts'
import { type Catalogue, LOCALES, type Locale, readCatalogue } from './translations.ts'

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
  /** The size of `/tokens/:id/share.png`. */
  readonly shareSize: { readonly widthPx: number; readonly heightPx: number }
  /** @throws {AppError} `token_not_found`, `database_unavailable` */
  readonly describeToken: (id: string) => Promise<TokenSummary>
}

const TOKEN_ROUTE = '/tokens/:id'
/** In place of an id: the page that checks a token which the reader brings. */
const CHECK_PAGE = 'check'
const COLLECTION_ROUTE = '/addresses/:address/tokens'
const ADDRESS = /^0x[0-9a-f]{40}$/i
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Answers browsers that open the address of a token, or of the tokens of an address, with a page. All other clients get
 * the JSON of the same address. Call it before these routes are registered.
 */
export function serveTokenPages(app: FastifyInstance, options: TokenPageOptions): void {
  const html = readHtml('tokens.html', options.interfaces)
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

function dayText(timeS: number, locale: Locale): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(timeS * 1000)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { LOCALES, type Locale, localeFor, readCatalogue } from './translations.ts'

export interface NotFoundPage {
  /** HTML of web/not-found.html, with keys of the catalogues in braces: `{nav.map}`. */
  readonly page: string
  readonly headers: Readonly<Record<string, string>>
}

/** Addresses of the interface below its versions: they answer JSON in a browser too. */
const VERSIONED = /^\/v\d+(?:\/|$)/

/**
 * Answers browsers that open an unknown address with a page in their language. Other clients get the JSON envelope of
 * `not_found`.
 *
 * @returns a function that answers a request with the page, or returns false where its client wants none
 */
export function notFoundPage({
  page,
  headers,
}: NotFoundPage): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const pages = new Map(LOCALES.map((locale) => [locale, translated(page, locale)]))
  return (request, reply) => {
    if (!hasPage(request)) return false
    reply.header('vary', 'accept, accept-language') // on the JSON too, or a cache would answer browsers with it
    if (!opensPage(request)) return false
    const locale = preferredLocale(request.headers['accept-language'] ?? '')
    reply
      .code(404)
      .headers(headers)
      .header('cache-control', 'no-store')
      .header('x-error-code', 'not_found')
      .header('content-language', locale)
      .type('text/html; charset=utf-8')
      .send(pages.get(locale))
    return true
  }
}

/** Whether the page is one of the answers to this request: other headers can select it. */
function hasPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !VERSIONED.test(url)
}

/** Browsers name `text/html` when they open an address; scripts and programs mostly take anything. */
export function opensPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return String(headers.accept ?? '').includes('text/html')
}

const ENTRY = /^\s*([\w-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/

/**
 * The language of ours that `Accept-Language` prefers (RFC 9110, 12.5.4); English where it names none of them.
 *
 * @example
 * preferredLocale('pt-BR, fr;q=0.5, ko-KR;q=0.8') // 'ko'
 */
export function preferredLocale(acceptLanguage: string): Locale {
  let best: Locale = 'en'
  let most = 0
  for (const entry of acceptLanguage.split(',')) {
    const [, name = '', weight = '1'] = ENTRY.exec(entry) ?? []
    const locale = localeFor(name)
    if (locale === undefined || Number(weight) <= most) continue
    best = locale
    most = Number(weight)
  }
  return best
}

function translated(page: string, locale: Locale): string {
  const texts = readCatalogue(locale)
  return page
    .replace('<html lang="en"', `<html lang="${locale}"`)
    .replace(/\{([a-z_.]+)\}/g, (whole, key: string) => asMarkup(texts[key] ?? whole))
}

/** A text for HTML, or for an attribute in double quotes. */
export function asMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

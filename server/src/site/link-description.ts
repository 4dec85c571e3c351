import type { FastifyRequest } from 'fastify'
import { asMarkup, preferredLocale } from './not-found-page.ts'
import { type Locale, localeFor } from './translations.ts'

/** What the HTML of a page says about its address, for programs that show a link with a title and a picture. */
export interface Description {
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

/** What is replaced in a built page. */
const TITLE_MARK = '<title>Landpass</title>'
const DESCRIPTION_TAG = /\s*<meta name="description" [^>]*>/

/**
 * Writes a description into a built page. All of it is escaped.
 *
 * @param address the whole address of the page, without what changes nothing
 * @throws {Error} where the page has no title to replace
 */
export function withDescription(
  html: string,
  { title, text, image }: Description,
  address: string,
  locale: Locale,
): string {
  if (!html.includes(TITLE_MARK)) throw new Error('the built page has no place for a title')
  const tags = [
    `<title>${asMarkup(title)} · Landpass</title>`,
    `<meta name="description" content="${asMarkup(text)}" />`,
    `<link rel="canonical" href="${asMarkup(address)}" />`,
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
    .replace(DESCRIPTION_TAG, '')
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

/** The language that a link names, else that of the browser. */
export function localeOf(request: FastifyRequest): Locale {
  const { lang } = request.query as { lang?: unknown }
  const named = typeof lang === 'string' ? localeFor(lang) : undefined
  return named ?? preferredLocale(request.headers['accept-language'] ?? '')
}

/** Puts values into a text of the catalogue. */
export function fill(template = '', values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

export function shortAddress(address: string): string {
  return address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address
}

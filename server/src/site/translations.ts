import { readFileSync } from 'node:fs'
import Type from 'typebox'
import { AppError } from '../errors.ts'
import { BARE_JSON } from '../http/answer.ts'
import { SmallBody } from '../http/compressed-bodies.ts'
import type { Routes } from '../http/routes.ts'
import { okSchema, withUnchanged } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { tagOf } from '../http/text-tag.ts'

/** The languages of our pages. */
export const LOCALES = ['en', 'es', 'fr', 'ko', 'zh'] as const
export type Locale = (typeof LOCALES)[number]

/** All texts of a language: dotted key to text. */
export type Catalogue = Readonly<Record<string, string>>

const FOLDER = new URL('../../../../web/locales/', import.meta.url)

const catalogues = new Map<Locale, Catalogue>()

/** The texts of a language in `web/locales`, which are read once. Our pages use the same files. */
export function readCatalogue(locale: Locale): Catalogue {
  const known = catalogues.get(locale)
  if (known) return known
  const read = JSON.parse(readFileSync(new URL(`${locale}.json`, FOLDER), 'utf8')) as Catalogue
  catalogues.set(locale, read)
  return read
}

/**
 * Finds a language by its tag, ignoring the region: `en-GB` is answered as `en`. Undefined where we have no such
 * language.
 *
 * @example
 * localeFor('zh-Hant-TW') // 'zh'
 */
export function localeFor(tag: string): Locale | undefined {
  const language = tag.split(/[-_]/, 1)[0]?.toLowerCase()
  return LOCALES.find((locale) => locale === language)
}

const bodies = new Map<Locale, { readonly tag: string; readonly shared: SmallBody }>()

/** A catalogue in the envelope, compressed once for all clients. */
function bodyOf(locale: Locale) {
  const known = bodies.get(locale)
  if (known) return known
  const data = JSON.stringify(readCatalogue(locale))
  const made = { tag: tagOf(data), shared: new SmallBody(Buffer.from(`{"ok":true,"data":${data}}`)) }
  bodies.set(locale, made)
  return made
}

/** `GET /translations/:locale`. */
export const translationRoutes: Routes<{ startedAtMs: number }> = (app, options) => {
  app.get(
    '/translations/:locale',
    {
      schema: {
        tags: ['translations'],
        operationId: 'translations',
        summary: 'All texts of a language',
        params: Type.Object({
          locale: Type.String({
            description: `One of ${LOCALES.join(', ')}; a region is ignored: en-GB is en.`,
          }),
        }),
        responses: withUnchanged(
          okSchema(
            Type.Object({}, { additionalProperties: Type.String(), description: 'Dotted key to text.' }),
            ['locale_not_found'],
          ),
        ),
      },
    },
    (request, reply) => {
      const locale = localeFor(request.params.locale)
      const body = locale && bodyOf(locale)
      if (body === undefined) {
        const sentence = `There are no translations for ${JSON.stringify(request.params.locale.slice(0, 40))}; the languages are ${LOCALES.join(', ')}.`
        throw new AppError('locale_not_found', sentence, { locales: LOCALES })
      }
      const freshness = { tag: body.tag, changedAtMs: options.startedAtMs }
      return send(request, reply, { freshness, format: BARE_JSON, body: () => body.shared })
    },
  )
}

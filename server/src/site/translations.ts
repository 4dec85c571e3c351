import { readFileSync } from 'node:fs'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../errors.ts'
import { DATA, send } from '../http/answer.ts'
import { okSchema, withUnchanged } from '../http/schemas.ts'
import { tagOf } from '../http/text-tag.ts'

/** The languages of our pages (interfaces.md, 4.2). */
export const LOCALES = ['en', 'es', 'fr', 'ko', 'zh'] as const
export type Locale = (typeof LOCALES)[number]

/** A flat catalogue: dotted key to text. */
export type Catalogue = Readonly<Record<string, string>>

const FOLDER = new URL('../../../../web/locales/', import.meta.url)

/** Reads the catalogue that our own pages use. */
export function readCatalogue(locale: Locale): Catalogue {
  return JSON.parse(readFileSync(new URL(`${locale}.json`, FOLDER), 'utf8')) as Catalogue
}

/**
 * The language that answers a wish: `en-GB` is answered as `en`.
 *
 * @example
 * localeFor('zh-Hant-TW') // 'zh'
 */
export function localeFor(wish: string): Locale | undefined {
  const language = wish.split(/[-_]/, 1)[0]?.toLowerCase()
  return LOCALES.find((locale) => locale === language)
}

/** `GET /translations/:locale`. */
export const translationRoutes: FastifyPluginCallbackTypebox<{ startedAtMs: number }> = (
  app,
  options,
  done,
) => {
  const texts = new Map(LOCALES.map((locale) => [locale, JSON.stringify(readCatalogue(locale))]))
  app.get(
    '/translations/:locale',
    {
      schema: {
        tags: ['translations'],
        operationId: 'translations',
        summary: 'All texts of a language',
        params: Type.Object({
          locale: Type.String({ description: `One of ${LOCALES.join(', ')}; en-GB counts as en.` }),
        }),
        response: withUnchanged(
          okSchema(
            Type.Object({}, { additionalProperties: Type.String(), description: 'Dotted key to text.' }),
            ['locale_not_found'],
          ),
        ),
      },
    },
    (request, reply) => {
      const locale = localeFor(request.params.locale)
      const text = locale && texts.get(locale)
      if (text === undefined) {
        const sentence = `There are no translations for ${JSON.stringify(request.params.locale.slice(0, 40))}; the languages are ${LOCALES.join(', ')}.`
        throw new AppError('locale_not_found', sentence, { locales: LOCALES })
      }
      const freshness = { tag: tagOf(text), changedAtMs: options.startedAtMs }
      return send(request, reply, { freshness, format: DATA, body: () => text })
    },
  )
  done()
}

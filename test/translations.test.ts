import { readdirSync, readFileSync } from 'node:fs'
import { ERRORS } from '@landpass/server/errors'
import { type Catalogue, LOCALES, readCatalogue } from '@landpass/server/site/translations'
import { describe, expect, test } from 'vitest'

const FOLDER = new URL('../../web/locales/', import.meta.url)
const PAGES = new URL('../../web/src/', import.meta.url)
/** Writes titles and descriptions into the HTML of a page. */
/** What the server writes into pages. */
const SERVED = ['token-pages', 'map-page'].map(
  (name) => new URL(`../../server/src/site/${name}.ts`, import.meta.url),
)

/** Words that are the same in both languages: everything else that equals the English text was forgotten. */
const SAME_AS_ENGLISH: Readonly<Record<string, readonly string[]>> = {
  es: [
    ...['app.name', 'asset.plaza', 'collection.count', 'filter.is'],
    ...['organise.counts.heading', 'organise.step.codes'],
  ],
  fr: [
    'app.name',
    'asset.description',
    'asset.district',
    'chain.transaction',
    'contribution.title',
    'controls.chart.minutes',
    'map.layer.districts',
    'nav.label',
  ],
  ko: ['app.name', 'filter.is'],
  zh: ['app.name'],
}

const english = readCatalogue('en')

test('there is a catalogue for each language, and none besides', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))

  expect(files.sort()).toEqual(LOCALES.map((locale) => `${locale}.json`).sort())
})

test('every error code has a text', () => {
  const codes = Object.keys(english).flatMap((key) => /^error\.(\w+)$/.exec(key)?.[1] ?? [])

  expect(codes).toEqual(expect.arrayContaining(Object.keys(ERRORS)))
})

test('the pages use every text, and no text that there is not', () => {
  const used = usedKeys()

  const unused = Object.keys(english).filter((key) => !used.names.has(key) && !used.hasPrefixOf(key))
  const missing = [...used.asked].filter((key) => !(key in english))

  expect(unused, 'texts that no page shows').toEqual([])
  expect(missing, 'texts that a page asks for').toEqual([])
})

describe.each(LOCALES)('the catalogue %s', (locale) => {
  const texts = readCatalogue(locale)

  test('has the keys of all others, each once, in alphabetical order', () => {
    const written = readFileSync(new URL(`${locale}.json`, FOLDER), 'utf8')
    const keys = [...written.matchAll(/^ {2}"([^"]+)":/gm)].map(([, key]) => key)

    expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort())
    expect(keys).toEqual(Object.keys(english).sort())
  })

  test('has no empty text, and none with a space at either end', () => {
    const bad = Object.entries(texts).filter(([, text]) => text.trim() === '' || text !== text.trim())

    expect(bad).toEqual([])
  })

  test('has the placeholders of the English texts', () => {
    for (const [key, text] of Object.entries(english)) {
      expect(placeholders(texts, key), `${key}: ${texts[key]}`).toEqual(placeholders(english, key))
      expect(texts[key]?.replace(/\{\w+\}/g, ''), `stray braces in ${key}`).not.toMatch(/[{}]/)
      expect(text).toBeDefined()
    }
  })

  if (locale === 'en') return

  test('says nothing in English that its language has a word for', () => {
    const same = Object.keys(english).filter((key) => texts[key] === english[key])

    expect(same.sort()).toEqual([...(SAME_AS_ENGLISH[locale] ?? [])].sort())
  })
})

/** What the sources of the pages say of texts: whole keys anywhere, and prefixes of those that are put together. */
function usedKeys() {
  const names = new Set<string>()
  const asked = new Set<string>()
  const prefixes = new Set<string>()
  const notFoundPage = readFileSync(new URL('../not-found.html', PAGES), 'utf8')
  for (const [, name = ''] of notFoundPage.matchAll(/\{([\w.]+)\}/g)) {
    names.add(name)
    asked.add(name)
  }
  for (const source of pageSources()) {
    for (const [, name = ''] of source.matchAll(/['"`]([a-z][\w]*(?:\.\w+)+)['"`]/g)) names.add(name)
    for (const [, name = ''] of source.matchAll(/\b(?:text|findText)\(\s*['"]([^'"]+)['"]/g)) asked.add(name)
    for (const [, prefix = ''] of source.matchAll(/\b(?:text|findText)\(\s*`((?:[a-z]\w*\.)+)\$\{[^`]*`/g))
      prefixes.add(prefix)
  }
  const hasPrefixOf = (key: string) => [...prefixes].some((prefix) => key.startsWith(prefix))
  return { names, asked, hasPrefixOf }
}

function pageSources(): string[] {
  const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('.test.'))
    .map((path) => readFileSync(new URL(path.replaceAll('\\', '/'), PAGES), 'utf8'))
  return [...sources, ...SERVED.map((path) => readFileSync(path, 'utf8'))]
}

function placeholders(texts: Catalogue, key: string): string[] {
  return (texts[key]?.match(/\{\w+\}/g) ?? []).sort()
}

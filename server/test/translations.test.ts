import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ERRORS } from '../src/errors.ts'
import { type Catalogue, LOCALES, readCatalogue } from '../src/site/translations.ts'

const FOLDER = new URL('../../../web/locales/', import.meta.url)

/** Words that are the same in both languages: everything else that equals the English text was forgotten. */
const SAME_AS_ENGLISH: Readonly<Record<string, readonly string[]>> = {
  es: ['app.name', 'asset.plaza', 'common.no'],
  fr: ['app.name', 'asset.district', 'map.layer.districts', 'contribution.title', 'list.page'],
  ko: ['app.name'],
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

function placeholders(texts: Catalogue, key: string): string[] {
  return (texts[key]?.match(/\{\w+\}/g) ?? []).sort()
}

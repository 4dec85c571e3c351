import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BUILT = `${ROOT}web/dist/`
/** Pages and files that the server has besides, or makes itself. */
const OF_THE_SERVER = ['/', '/organise', '/openapi.json']

const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).map((path) =>
  path.replaceAll('\\', '/'),
)
const pages = new Map(
  files
    .filter((path) => path.startsWith('docs/') && path.endsWith('.html'))
    .map((path) => [`/${path.replace(/(?:\bindex)?\.html$/, '')}`, readFileSync(BUILT + path, 'utf8')]),
)

describe('the pages of the documents', () => {
  test('link to pages, headings and files that are there', () => {
    const dead = [...pages].flatMap(([address, html]) =>
      linksOf(html)
        .filter((link) => !leadsSomewhere(address, link))
        .map((link) => `${address}: ${link}`),
    )

    expect(pages.size).toBeGreaterThan(40)
    expect(dead).toEqual([])
  })

  test('a dead link and a dead heading are found', () => {
    expect(leadsSomewhere('/docs/land', '/docs/no-such-page')).toBe(false)
    expect(leadsSomewhere('/docs/land', '#no-such-heading')).toBe(false)
    expect(leadsSomewhere('/docs/land', '/docs/map#where-a-parcel-is')).toBe(true)
  })

  test('have every document of users', () => {
    const working = /^docs\/(?:decisions\/|architecture|glossary-of-the-code)/
    const documents = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
      .map((path) => `docs/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.md') && !working.test(path))

    const missing = documents.filter(
      (path) => !pages.has(`/${path.replace(/README\.md$|\.md$/, '').replace(/(?<!docs)\/$/, '')}`),
    )
    expect(missing).toEqual([])
  })

  test('have every call of the interface', () => {
    const { paths } = JSON.parse(readFileSync(`${ROOT}server/openapi.json`, 'utf8'))
    const calls = Object.values<Record<string, { operationId: string; tags: string[] }>>(paths).flatMap(
      Object.values,
    )

    expect(calls.length).toBeGreaterThan(100)
    for (const { operationId, tags } of calls)
      expect(pages.get(`/docs/interface/${tags[0]}`), operationId).toContain(`id="${operationId}"`)
  })

  test('are small: the pages of the interface have at most 120 kB, compressed', () => {
    const sizes = files
      .filter((path) => /^docs\/interface.*\.html\.gz$/.test(path))
      .map((path) => readFileSync(BUILT + path).length)

    expect(sizes.length).toBeGreaterThan(10)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(120_000)
  })
})

test('every page says what it is about, in plain words', () => {
  const summaries = [...pages.values()].map(
    (html) => /<meta name="description" content="([^"]*)">/.exec(html)?.[1],
  )

  for (const summary of summaries) expect(summary).toMatch(/^[^<>`[]{2,170}$/)
  expect(new Set(summaries).size).toBeGreaterThan(0.9 * pages.size)
})

describe('help in five languages', () => {
  const help = readdirSync(`${ROOT}docs/help`).map((name) => ({
    name,
    text: readFileSync(`${ROOT}docs/help/${name}`, 'utf8'),
  }))
  const languageOf = (name: string) => /\.(\w\w)\.md$/.exec(name)?.[1] ?? 'en'

  test('every page is there in each language, with the same parts', () => {
    const subjects = [...new Set(help.map(({ name }) => name.split('.')[0]))]

    expect(subjects.length).toBeGreaterThan(1)
    for (const subject of subjects) {
      const texts = help.filter(({ name }) => name.startsWith(`${subject}.`))
      expect(texts.map(({ name }) => languageOf(name)).sort(), subject).toEqual([
        'en',
        'es',
        'fr',
        'ko',
        'zh',
      ])
      expect(new Set(texts.map(({ text }) => shapeOf(text))).size, subject).toBe(1)
    }
  })

  test('what the forms and pages link to is there in each language', () => {
    const source = readFileSync(`${ROOT}web/src/ui/help-link.tsx`, 'utf8')
    const links = [...source.matchAll(/'((?:organisers|players)[\w#-]*)'/g)]
    expect(links).toHaveLength(4)
    for (const [, link = ''] of links)
      for (const language of ['', '.es', '.fr', '.ko', '.zh']) {
        const [page, part] = link.split('#')
        const address = `/docs/help/${page}${language}${part ? `#${part}` : ''}`
        expect(leadsSomewhere('', address), address).toBe(true)
      }
  })

  test('what it calls by name is called so on the pages', () => {
    for (const { name, text } of help) {
      const locale = JSON.parse(readFileSync(`${ROOT}web/locales/${languageOf(name)}.json`, 'utf8'))
      for (const [, words] of text.matchAll(/\*\*(.+?)\*\*/g))
        expect(Object.values(locale), name).toContain(words)
    }
  })
})

/** What a translation keeps: headings, rows of tables, steps, names in bold. */
function shapeOf(text: string): string {
  const lines = text.split('\n').map((line) => /^(?:#+|\||\d\.|-)/.exec(line)?.[0] ?? '')
  return `${lines.join('')} ${text.match(/\*\*/g)?.length ?? 0}`
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]*)"/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(from: string, link: string): boolean {
  if (link === '') return false
  const [address = '', heading] = link.split('#')
  const path = address === '' ? from : address
  if (OF_THE_SERVER.includes(path)) return true
  const page = pages.get(path)
  if (page === undefined) return heading === undefined && files.includes(path.slice(1))
  return heading === undefined || page.includes(`id="${heading}"`)
}

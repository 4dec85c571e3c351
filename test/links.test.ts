import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...['booth', 'client', 'deploy', 'faults', 'simulators', 'web'].map((folder) => `${folder}/README.md`),
  ...['docs', 'server/src', 'simulators/src'].flatMap(filesBelow).filter((path) => path.endsWith('.md')),
]

describe('the links of the documents', () => {
  test('lead to a file of the project, and to a heading of it', () => {
    const dead = PAGES.flatMap((page) =>
      relativeLinksOf(page)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    )

    expect(PAGES.length).toBeGreaterThan(20)
    expect(dead).toEqual([])
  })

  test('a dead link and a dead heading are found', () => {
    expect(leadsSomewhere('docs/map.md', 'no-such-page.md')).toBe(false)
    expect(leadsSomewhere('docs/map.md', '#no-such-heading')).toBe(false)
    expect(leadsSomewhere('docs/map.md', '../LICENSE')).toBe(true)
    expect(leadsSomewhere('README.md', 'docs/map.md#where-a-parcel-is')).toBe(true)
  })

  test('docs/README.md and the first pages of its readers lead to every page of docs', () => {
    const first = ['docs/README.md', ...PAGES.filter((page) => page.startsWith('docs/start/'))]
    const listed = first.flatMap((page) => relativeLinksOf(page).map((link) => join(dirname(page), link)))
    const others = /^docs\/(?:decisions\/|help\/\w+\.\w\w\.md$)/
    const pages = PAGES.filter((page) => page.startsWith('docs/') && !others.test(page))

    expect(pages.filter((page) => !listed.includes(page))).toEqual(['docs/README.md'])
  })
})

test('every column of a table has a name, also for screen readers', () => {
  const nameless = PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(/^\|(.*)\|\n\|[-:| ]+\|$/gm)]
      .filter(([, header = '']) => header.split('|').some((name) => name.trim() === ''))
      .map(([, header]) => `${page}: ${header}`),
  )

  expect(nameless).toEqual([])
})

test('every table begins with the names of its columns: no blank line cuts one in two', () => {
  const headless = PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(/(?<=^|\n\n)(\|.*\|)\n(?!\|[-:| ]+\|\n)/g)].map(
      ([, row]) => `${page}: ${row}`,
    ),
  )

  expect(headless).toEqual([])
})

test('README.md is short, and its pictures are small', () => {
  const readme = readFileSync(join(ROOT, 'README.md'))
  const pictures = [...readme.toString().matchAll(/^!\[[^\]]+\]\((\S+)\)$/gm)].map(([, path = '']) => path)

  expect(readme.length).toBeLessThanOrEqual(5_000)
  expect(pictures.length).toBeGreaterThan(0)
  for (const path of pictures) expect(statSync(join(ROOT, path)).size, path).toBeLessThan(150_000)
})

test('every workspace has the licence of LICENSE, and so does the lock file', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

  expect(readFileSync(join(ROOT, 'LICENSE'), 'utf8')).toContain(
    'Apache License\n                           Version 2.0',
  )
  for (const name of ['', ...workspaces]) {
    const { license } = JSON.parse(readFileSync(join(ROOT, name, 'package.json'), 'utf8'))
    expect([license, lock.packages[name].license], name).toEqual(['Apache-2.0', 'Apache-2.0'])
  }
})

/** Paths below a folder of the project, written as in links. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

/** Targets of links and images that stay in the project; code and pages of the server are left out. */
function relativeLinksOf(page: string): string[] {
  const links = proseOf(page).matchAll(/\]\(([^()\s]+)\)|<img src="([^"]+)"/g)
  return [...links]
    .map(([, link, image]) => link ?? image ?? '')
    .filter((link) => !/^(?:[a-z]+:|\/)/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(ROOT, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** The names under which links find the headings of a page, as GitHub makes them. */
function headingsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function proseOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
}

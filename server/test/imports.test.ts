import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SERVER = join(ROOT, 'server/src')
const PAGES = join(ROOT, 'web/src')

/** What one of our files says and takes from others of ours. Paths are below `src`, with `/`. */
interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

interface Import {
  readonly path: string
  readonly isTypeOnly: boolean
  /** `await import(…)`: read when it is needed. */
  readonly isLate: boolean
}

/** What a folder may import: names of folders, and of files of `src` itself. */
interface Rule {
  readonly isFree: boolean
  readonly values: ReadonlySet<string>
  readonly types: ReadonlySet<string>
}

const SOURCES = readSources(SERVER)
const PAGE_SOURCES = readSources(PAGES)

test('every folder imports only what the table in docs/architecture.md allows', () => {
  const rules = readRules('## Who may import whom')
  const folders = new Set(SOURCES.map(({ path }) => placeOf(path)).filter((place) => !place.endsWith('.ts')))
  expect([...rules.keys()].sort(), 'the table names every folder').toEqual([...folders, 'app'].sort())

  const offences = SOURCES.flatMap(({ path, imports }) =>
    imports
      .filter((wanted) => !isAllowed(rules, path, wanted))
      .map((wanted) => `${path} imports ${wanted.path}`),
  )

  expect(offences).toEqual([])
})

test('so do the folders of the pages', () => {
  const rules = readRules('### In the pages')
  const places = new Set(PAGE_SOURCES.map(({ path }) => nameOf(placeOf(path))))
  expect([...rules.keys(), 'stored'].sort(), 'the table names every folder').toEqual([...places].sort())

  const offences = PAGE_SOURCES.flatMap(({ path, imports }) =>
    imports
      .filter((wanted) => !isAllowedInPages(rules, path, wanted))
      .map((wanted) => `${path} imports ${wanted.path}`),
  )

  expect(offences).toEqual([])
})

test.each(['client/src', 'web'])('nothing in %s is taken from the server, not even by a test', (folder) => {
  const sources = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !/(?:^|[\\/])(?:dist|node_modules)[\\/]/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, folder, path), 'utf8') }))
  const named = sources.filter(({ text }) =>
    /\b(?:from|import\()\s*'[^']*(?:\.\.\/server\/|@landpass\/server)/.test(text),
  )

  expect(sources.length).toBeGreaterThan(20)
  expect(named.map(({ path }) => path)).toEqual([])
})

test.each([
  { name: 'the server', sources: SOURCES },
  { name: 'the pages', sources: PAGE_SOURCES },
  { name: 'the client', sources: readSources(join(ROOT, 'client/src')) },
])('no file of $name is imported in a circle', ({ sources }) => {
  const importsOf = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ isTypeOnly }) => !isTypeOnly).map(({ path }) => path),
    ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '))
    if (done.has(path)) return
    done.add(path)
    for (const next of importsOf.get(path) ?? []) walk(next, [...way, path])
  }
  for (const { path } of sources) walk(path, [])

  expect(circles).toEqual([])
})

test('the commands start without the code of the server, which a start reads while its database opens', () => {
  const importsOf = new Map(SOURCES.map(({ path, imports }) => [path, imports]))
  const readAtOnce = new Set(['cli/main.ts'])
  for (const path of readAtOnce) {
    for (const { path: next, isTypeOnly, isLate } of importsOf.get(path) ?? []) {
      if (!isTypeOnly && !isLate) readAtOnce.add(next)
    }
  }

  expect(readAtOnce).toContain('cli/serve-command.ts')
  expect([...readAtOnce].filter((path) => /^app\.ts$|^(?:http|map|attendance|site)\//.test(path))).toEqual([])
})

test('only the configuration and the commands look at the environment', () => {
  const readers = pathsWith(/\bprocess\.env\b|\benv\b.*from 'node:process'|loadEnvFile/)

  expect(readers.filter((path) => path !== 'config.ts' && !path.startsWith('cli/'))).toEqual([])
})

test('SQL stands where one looks for it: queries, changes, snapshots, and what builds the present', () => {
  const home =
    /^db\/|-queries\.ts$|^land\/changes\.ts$|^land\/change-journal\.ts$|^land\/land-state\.ts$|^land\/snapshot\/|^land\/present\/build-\w+\.ts$/
  const withSql = pathsWith(
    /\bsql(?:<[^`]*>)?`|\bsql\.\w+\(|\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(/,
  )

  expect(withSql.filter((path) => !home.test(path))).toEqual([])
})

test('values reach the database as parameters: what is pasted into a statement is a constant of ours', () => {
  const offences = SOURCES.flatMap(({ path, text }) =>
    [...text.matchAll(/\bsql\.(?:raw|lit)\(([^()]*)\)/g)]
      .filter(([, argument = '']) => !isOurConstant(argument, path))
      .map(([call]) => `${path}: ${call}`),
  )

  expect(offences).toEqual([])
})

/** A name in capitals, one of a table in capitals, the text of a migration, or the number of a world. */
function isOurConstant(argument: string, path: string): boolean {
  return (
    /^[A-Z][A-Z_]+(?:\[\w+\])?$/.test(argument) ||
    (argument === 'statement' && path.startsWith('db/migrations/')) ||
    (argument === 'worldId' && path === 'land/snapshot/worlds.ts')
  )
}

function isAllowed(rules: ReadonlyMap<string, Rule>, path: string, wanted: Import): boolean {
  const from = placeOf(path)
  const to = placeOf(wanted.path)
  // The few files of src itself know no folder; app.ts, which knows all, has a row of its own.
  const rule = rules.get(from === 'app.ts' ? 'app' : from)
  if (!rule) return to.endsWith('.ts') || to === 'world'
  const name = to.replace(/\.ts$/, '')
  return from === to || rule.isFree || rule.values.has(name) || (wanted.isTypeOnly && rule.types.has(name))
}

function isAllowedInPages(rules: ReadonlyMap<string, Rule>, path: string, { path: wanted }: Import): boolean {
  if (wanted.startsWith('..')) return wanted.startsWith('../locales/')
  const from = nameOf(placeOf(path))
  const to = nameOf(placeOf(wanted))
  const rule = rules.get(from)
  return from === to || rule?.isFree === true || rule?.values.has(to) === true || wanted.endsWith('.css')
}

/** `map-page.tsx` is called `map-page` in the table. */
function nameOf(place: string): string {
  return place.replace(/\.tsx?$/, '')
}

/** `land/bids/bid-json.ts` lies in `land`, `errors.ts` in itself. */
function placeOf(path: string): string {
  return path.split('/', 1)[0] ?? path
}

/** The rows of the table: `| db, http | world, config (types) | why |`. */
function readRules(heading: string): Map<string, Rule> {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const [, table = ''] = new RegExp(`\n${heading}\n\n((?:\\|.*\n)+)`).exec(page) ?? []
  const rules = new Map<string, Rule>()
  for (const row of table.split('\n').slice(2)) {
    const [, folders, allowed] = row.split('|').map((cell) => cell.trim())
    if (folders && allowed) for (const folder of folders.split(', ')) rules.set(folder, parseRule(allowed))
  }
  return rules
}

function parseRule(allowed: string): Rule {
  const names = allowed === 'nothing of ours' ? [] : allowed.split(', ')
  const types = names.filter((name) => name.endsWith(' (types)')).map((name) => name.replace(' (types)', ''))
  return { isFree: allowed === 'everything', values: new Set(names), types: new Set(types) }
}

function pathsWith(pattern: RegExp): string[] {
  return SOURCES.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
}

/** All of a `src` but its tests; comments are left out, so that they may name what they like. */
function readSources(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts') && !path.endsWith('.d.ts'))
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/^\s*\/\/.*$/gm, '')
      return { path, text, imports: importsOf(path, text) }
    })
}

function importsOf(path: string, text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)(\s+type\b)?\s*([^;'"`=]*?)\bfrom\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...statements].map(([, type, names = '', from, dynamic]) => ({
    path: join(dirname(path), from ?? dynamic ?? '').replaceAll('\\', '/'),
    isTypeOnly: type !== undefined || areAllTypes(names),
    isLate: dynamic !== undefined,
  }))
}

/** `{ type Config, type World }` */
function areAllTypes(names: string): boolean {
  const [, inside] = /^\{([^}]*)\}\s*$/.exec(names.trim()) ?? []
  const each = inside?.split(',').map((name) => name.trim())
  return each?.filter((name) => name !== '').every((name) => name.startsWith('type ')) ?? false
}

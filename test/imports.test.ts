import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

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

/** What folders and files may import: names of folders, which stand for all below them, and of files. */
interface Rule {
  readonly of: readonly string[]
  readonly mayImport: readonly string[] | 'everything'
  /** Only types of these, which are gone when the code runs. */
  readonly typesOf?: readonly string[]
  readonly because: string
}

const RULES = JSON.parse(readFileSync(join(ROOT, 'server/import-rules.json'), 'utf8')) as Readonly<
  Record<string, readonly Rule[]>
>
const SOURCES = readSources('server/src')

describe.each(Object.keys(RULES))('%s', (folder) => {
  const sources = folder === 'server/src' ? SOURCES : readSources(folder)
  const rules = rulesOf(folder)

  test('every file imports only what server/import-rules.json allows', () => {
    const offences = sources.flatMap(({ path, imports }) =>
      imports
        .filter((wanted) => !isAllowed(rules, path, wanted))
        .map((wanted) => `${path} imports ${wanted.path}`),
    )

    expect(offences).toEqual([])
  })

  test('every folder has a rule, and every rule a folder or a file', () => {
    const names = sources.map(({ path }) => withoutSuffix(path))
    const folders = sources.filter(({ path }) => path.includes('/')).map(({ path }) => path)

    expect(folders.filter((path) => !ruleOf(rules, path))).toEqual([])
    expect([...rules.keys()].filter((row) => !names.some((name) => isBelow(name, row)))).toEqual([])
  })

  test('no files import each other in a circle, types included', () => {
    expect(circlesOf(graphOf(sources, (path) => path))).toEqual([])
  })

  test('nor do folders, where a file beside folders stands for itself', () => {
    expect(circlesOf(graphOf(sources, placeIn(sources)))).toEqual([])
  })
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

test('nothing in the server names the simulators, which it starts as programs, but the module that loads them', () => {
  expect(pathsWith(/@landpass\/simulators/)).toEqual(['cli/simulators.ts'])
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
  expect(
    [...readAtOnce].filter((path) => /^app\.ts$|^(?:http|api|state|map|attendance|site)\//.test(path)),
  ).toEqual([])
})

test('a test that opens a database or starts a process is called slow, so that the quick ones stay quick', () => {
  const tests = ['server/src', 'simulators/src'].flatMap((folder) =>
    filesBelow(folder).filter((path) => path.endsWith('.test.ts')),
  )
  const uses = (path: string) =>
    /support\/(?:database|processes)\//.test(readFileSync(join(ROOT, path), 'utf8'))

  expect(tests.length).toBeGreaterThan(200)
  expect(tests.filter((path) => uses(path) && !path.endsWith('.slow.test.ts'))).toEqual([])
})

test('only the configuration and the commands look at the environment', () => {
  const readers = pathsWith(/\bprocess\.env\b|\benv\b.*from 'node:process'|loadEnvFile/)

  expect(readers.filter((path) => path !== 'config/config.ts' && !path.startsWith('cli/'))).toEqual([])
})

test('SQL stands where one looks for it, and nothing above the land reads its tables', () => {
  const home = /^db\/|^attendance\/.*-queries\.ts$|^land\/(?:queries|changes|snapshot)\//
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

/**
 * A name in capitals, one of a table in capitals, the text of a migration, the number of a world, or the definition of a foreign key
 * as the catalog of PostgreSQL has it.
 */
function isOurConstant(argument: string, path: string): boolean {
  return (
    /^[A-Z][A-Z_]+(?:\[\w+\])?$/.test(argument) ||
    (argument === 'statement' && path.startsWith('db/migrations/')) ||
    (argument === 'definition' && path === 'db/distribution.ts') ||
    (argument === 'worldId' && path === 'land/snapshot/worlds.ts')
  )
}

function isAllowed(rules: ReadonlyMap<string, Rule>, path: string, wanted: Import): boolean {
  const rule = ruleOf(rules, path)
  // Texts of the pages and style sheets: data.
  if (/\.css$|^\.\.\/locales\//.test(wanted.path)) return true
  if (!rule) return false
  if (rule.mayImport === 'everything' || rule === ruleOf(rules, wanted.path)) return true
  const name = withoutSuffix(wanted.path)
  const allows = (row: string) => isBelow(name, row)
  return rule.mayImport.some(allows) || (wanted.isTypeOnly && !!rule.typesOf?.some(allows))
}

/** The rule that a file goes by: that of the file itself, or of the nearest folder around it. */
function ruleOf(rules: ReadonlyMap<string, Rule>, path: string): Rule | undefined {
  for (let name = withoutSuffix(path); name !== '.'; name = dirname(name)) {
    const rule = rules.get(name)
    if (rule) return rule
  }
  return undefined
}

/** Whether a file is the one, or lies in the folder, of this name. */
function isBelow(name: string, row: string): boolean {
  return name === row || name.startsWith(`${row}/`)
}

/** `map-page.tsx` is called `map-page` in the rules. */
function withoutSuffix(path: string): string {
  return path.replace(/\.tsx?$/, '')
}

/** Who imports whom, between files or between the places that they lie in. */
function graphOf(sources: readonly Source[], placeOf: (path: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const from = placeOf(path)
    const to = graph.get(from) ?? new Set()
    graph.set(from, to)
    for (const wanted of imports) if (placeOf(wanted.path) !== from) to.add(placeOf(wanted.path))
  }
  return graph
}

/** The folder of a file; the file itself where that folder has folders of its own. */
function placeIn(sources: readonly Source[]): (path: string) => string {
  const folders = sources.map(({ path }) => dirname(path))
  const parents = new Set(folders.filter((folder) => folder !== '.').map((folder) => dirname(folder)))
  return (path) => (dirname(path) === '.' || parents.has(dirname(path)) ? path : dirname(path))
}

/** One circle for each place that closes one, as a chain of names. */
function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (place: string, way: readonly string[]) => {
    if (way.includes(place)) circles.push([...way.slice(way.indexOf(place)), place].join(' → '))
    if (done.has(place)) return
    done.add(place)
    for (const next of graph.get(place) ?? []) walk(next, [...way, place])
  }
  for (const place of graph.keys()) walk(place, [])
  return circles
}

/** The rules of a folder of sources, by the names of the folders and files that they are for. */
function rulesOf(folder: string): Map<string, Rule> {
  return new Map((RULES[folder] ?? []).flatMap((rule) => rule.of.map((name) => [name, rule] as const)))
}

function pathsWith(pattern: RegExp): string[] {
  return SOURCES.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
}

/** All of a `src` but its tests; comments are left out, so that they may name what they like. */
function readSources(folder: string): readonly Source[] {
  return filesBelow(folder)
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts') && !file.endsWith('.d.ts'))
    .map((file) => {
      const path = file.slice(folder.length + 1)
      const text = readFileSync(join(ROOT, file), 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/^\s*\/\/.*$/gm, '')
      return { path, text, imports: importsOf(path, text) }
    })
}

/** Paths with `/`, below the project's folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path.replaceAll('\\', '/')}`,
  )
}

function importsOf(path: string, text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)(\s+type\b)?\s*([^;'"`=]*?)\bfrom\s+'((?:\.|@landpass\/s)[^']+)'|\bimport\('((?:\.|@landpass\/s)[^']+)'\)/gm,
  )
  return [...statements].map(([, type, names = '', from, dynamic]) => ({
    path: pathOf(from ?? dynamic ?? '', path),
    isTypeOnly: type !== undefined || areAllTypes(names),
    isLate: dynamic !== undefined,
  }))
}

/** Below `src`; of another workspace than the client's the name with its package: `@landpass/server/clock`. */
function pathOf(wanted: string, path: string): string {
  return wanted.startsWith('.') ? join(dirname(path), wanted).replaceAll('\\', '/') : wanted
}

/** `{ type Config, type World }` */
function areAllTypes(names: string): boolean {
  const [, inside] = /^\{([^}]*)\}\s*$/.exec(names.trim()) ?? []
  const each = inside?.split(',').map((name) => name.trim())
  return each?.filter((name) => name !== '').every((name) => name.startsWith('type ')) ?? false
}

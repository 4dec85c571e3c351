// The English texts that a page shows, for its bundle: so it has words before, and without, the texts of a language from the
// server. A page imports them as `page-texts:<entry>`, for instance `page-texts:map-page.tsx`; a part of a page that is
// loaded later as `page-texts:<entry>?without=<entry of the page>`.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('src', import.meta.url))
const ENGLISH = fileURLToPath(new URL('locales/en.json', import.meta.url))
const PREFIX = 'page-texts:'

/** The plugin for Vite that makes these modules. */
export function pageTexts() {
  return {
    name: 'page-texts',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined
      const [entry, ofPage] = id.slice(PREFIX.length + 1).split('?without=')
      const texts = textsOf(entry)
      for (const key of ofPage === undefined ? [] : Object.keys(textsOf(ofPage))) delete texts[key]
      return `export default ${JSON.stringify(texts)}`
    },
  }
}

/**
 * The texts whose keys stand in a module that the entry imports, directly or not: as a whole, or as the beginning of one
 * that is put together (`error.${code}`).
 *
 * @param entry below `web/src`
 */
export function textsOf(entry) {
  const english = JSON.parse(readFileSync(ENGLISH, 'utf8'))
  const names = new Set()
  const prefixes = []
  for (const source of sourcesFrom(join(SOURCES, entry))) {
    for (const [, name] of source.matchAll(/['"`]([a-z]\w*(?:\.\w+)+)['"`]/g)) names.add(name)
    for (const [, prefix] of source.matchAll(/\b(?:text|findText)\(\s*`((?:[a-z]\w*\.)+)\$\{/g))
      prefixes.push(prefix)
  }
  const isUsed = (key) => names.has(key) || prefixes.some((prefix) => key.startsWith(prefix))
  return Object.fromEntries(Object.entries(english).filter(([key]) => isUsed(key)))
}

function sourcesFrom(entry) {
  const sources = new Map()
  const read = (path) => {
    if (sources.has(path)) return
    const source = readFileSync(path, 'utf8')
    sources.set(path, source)
    for (const [, imported] of source.matchAll(/\bfrom '(\.{1,2}\/[^']+\.tsx?)'/g))
      read(join(dirname(path), imported))
  }
  read(entry)
  return sources.values()
}

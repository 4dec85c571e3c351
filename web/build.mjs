// Makes web/dist: the pages as the server sends them. Vite bundles them; then the documents are made (help/build.mjs), the
// service worker gets the list of files to cache, and every text is compressed once, as small as it gets, so that no request
// pays for it. Does nothing where no file has changed of which the pages were made.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { librariesOf } from '../scripts/third-parties.mjs'
import { arePagesStale, recordPageInputs } from './page-inputs.mjs'

const WEB = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(WEB, '..')
const DIST = join(WEB, 'dist')
/** The pages themselves are finished and compressed by each server, which says in them what it serves; documents are those of a server with both interfaces. */
const TEXT = /\.(?:js|css|svg|txt|webmanifest|json)$|\/docs\/.*\.html$/
/** Not cached for use without a connection: the files for search engines and language models, the style of the page for unknown addresses, the documents. */
const NOT_CACHED = [/^(?:robots|llms)\.txt$/, /^pages\/not-found-[\w-]+\.css$/, /^docs\//]
const WORKER = 'service-worker.js'

if (!arePagesStale(ROOT)) process.exit()

// Loaded here, because it takes longer than to see that there is nothing to do.
const [{ build }, { buildHelp }] = await Promise.all([import('vite'), import('./help/build.mjs')])
const modules = new Set()
const rendered = new Set()
const listModules = {
  name: 'list-modules',
  moduleParsed: ({ id }) => void modules.add(id.replace(/[?#].*$/, '')),
  generateBundle: (_options, files) => {
    for (const { moduleIds = [] } of Object.values(files)) for (const id of moduleIds) rendered.add(id)
  },
}
const { output } = await build({
  configFile: join(WEB, 'vite.config.ts'),
  root: WEB,
  logLevel: 'warn',
  plugins: [listModules],
  worker: { format: 'es', plugins: () => [listModules] },
})
const help = output.find(({ name, isEntry }) => isEntry && name === 'help')
const helpFiles = await buildHelp(ROOT, join(DIST, 'docs'), {
  script: `/${help.fileName}`,
  styles: stylesOf(help).map((path) => `/${path}`),
})
fillInWorker([help.fileName, ...help.dynamicImports, ...help.viteMetadata.importedCss])
for (const path of filesBelow(DIST)) if (TEXT.test(path)) compress(path)
recordPageInputs(
  ROOT,
  [...modules, ...helpFiles.map((path) => join(ROOT, path))],
  librariesOf(ROOT, rendered),
)

/** Paths of the style sheets of a script and of all that it imports. */
function stylesOf(script) {
  const imported = output.filter(({ fileName }) => script.imports?.includes(fileName)).flatMap(stylesOf)
  return [...new Set([...imported, ...script.viteMetadata.importedCss])]
}

/**
 * The worker's list of files, and a name for this list that changes with any of them.
 *
 * @param ofDocuments files that only the documents need: those have no copy for use without a connection
 */
function fillInWorker(ofDocuments) {
  const files = filesBelow(DIST).filter((path) => !path.endsWith(WORKER))
  const hash = createHash('sha256')
  for (const path of files.sort()) hash.update(path).update(readFileSync(path))
  const texts = files
    .filter((path) => TEXT.test(path))
    .map((path) => relative(DIST, path).split(sep).join('/'))
  const lost = NOT_CACHED.find((pattern) => !texts.some((path) => pattern.test(path)))
  if (lost) throw new Error(`web/dist has no file ${lost}: correct NOT_CACHED`)
  const cached = texts.filter(
    (path) => !ofDocuments.includes(path) && !NOT_CACHED.some((pattern) => pattern.test(path)),
  )
  const addresses = cached.map((path) => `/${path}`)
  const worker = join(DIST, WORKER)
  const text = readFileSync(worker, 'utf8')
  const filled = text
    .replace('__BUILD__', hash.digest('hex').slice(0, 16))
    .replace(/(['"`])__FILES__\1/, JSON.stringify(JSON.stringify(addresses)))
  if (filled.includes('__BUILD__') || filled.includes('__FILES__'))
    throw new Error('the worker lost a placeholder')
  writeFileSync(worker, filled)
}

function compress(path) {
  const bytes = readFileSync(path)
  writeFileSync(`${path}.br`, brotliCompressSync(bytes))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}

function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesBelow(path) : [path]
  })
}

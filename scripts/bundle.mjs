// Joins the modules of compiled programs into a few files: loading more than a thousand modules costs a process most of the
// CPU time of its start. Run as a program, it makes `server/bundle`, from which `npm start` and `npm run landpass` start.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { librariesOf } from './third-parties.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COMPILED = join(ROOT, 'server', 'dist')
const BUNDLE = join(ROOT, 'server', 'bundle')
const RECORD = join(BUNDLE, '.inputs')
/** In the folder of a bundle: the folders of the libraries that it contains. */
export const LIBRARIES_RECORD = '.libraries.json'
/** They change with everything that the bundle is made of. */
const INPUTS = [
  'package-lock.json',
  'scripts/bundle.mjs',
  'scripts/third-parties.mjs',
  'client/dist/.tsbuildinfo',
  'server/dist/.tsbuildinfo',
  'simulators/dist/.tsbuildinfo',
]
const LIBRARIES = `${sep}node_modules${sep}`
/** What runs in processes and worker threads of its own: paths below `server/dist`. */
const SERVER_PROGRAMS = [
  'src/cli/main.js',
  'src/state/state-thread.js',
  'src/db/embedded/thread.js',
  'src/chain/history/fetch-thread.js',
  'src/attendance/issuers/own/pictures/picture-thread.js',
  'src/attendance/issuers/own/token-pictures/share-thread.js',
  'src/attendance/signed-fetch/signer-check-thread.js',
]
/**
 * Libraries of many small modules, which are bundled with all that they need themselves. Those that a few programs need, or
 * that load WebAssembly, stay where they are.
 */
const BUNDLED_LIBRARIES =
  /^(?:kysely|typebox|fastify|@fastify\/[\w-]+|ajv|pg|prom-client|pngjs|commander|cli-progress|lossless-json|lru-cache|@landpass\/(?:client|server|simulators)|@noble\/hashes)(?:\/|$)/
/** What bundled libraries need besides: pino starts threads from its own files, pg-native is not installed. */
const NEVER_BUNDLED = /^(?:pino|pg-native)(?:\/|$)/

/** Each process reads the text anew: a third of it is comments and spaces. */
const WITHOUT_COMMENTS = {
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  comments: { legal: false },
}

/** Whether `server/bundle` is missing, or was made of other code than what is compiled now. */
export function isBundleStale() {
  return !existsSync(RECORD) || readFileSync(RECORD, 'utf8') !== inputsHash()
}

function inputsHash() {
  const hash = createHash('sha256')
  for (const path of INPUTS) hash.update(readFileSync(join(ROOT, path)))
  return hash.digest('hex')
}

/**
 * Bundles the compiled server and further programs.
 *
 * @param folder a folder in `server/`, so that relative paths lead to the same files as from `server/dist`; each program
 * gets the path in it that it has in `server/dist`
 * @param programs paths below `server/dist` of what is bundled besides the server
 * @returns the paths of all files that it made, below the folder
 */
export async function bundle(folder, programs = []) {
  // Loaded here, because it takes longer than to see that there is nothing to do.
  const { build } = await import('rolldown')
  const { output } = await build({
    input: Object.fromEntries(
      [...SERVER_PROGRAMS, ...programs].map((name) => [name.slice(0, -'.js'.length), join(COMPILED, name)]),
    ),
    platform: 'node',
    external: (id, importer) => isLibrary(id) && !isBundled(id, importer),
    plugins: [
      { name: 'own-address', transform: withOwnAddress, generateBundle: writeAddresses },
      { name: 'no-cloudflare', transform: withoutCloudflare },
      { name: 'simulators', transform: withSimulators },
      { name: 'one-byte', generateBundle: (_options, files) => Object.values(files).forEach(escapeWide) },
    ],
    output: { dir: folder, format: 'esm', keepNames: true, ...WITHOUT_COMMENTS },
    logLevel: 'warn',
  })
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds)
  writeFileSync(join(folder, LIBRARIES_RECORD), JSON.stringify(librariesOf(ROOT, modules)))
  return output.map(({ fileName }) => fileName)
}

/** A library of this name, where our own code imports it, or another library that is bundled. */
function isBundled(name, importer) {
  if (NEVER_BUNDLED.test(name)) return false
  return BUNDLED_LIBRARIES.test(name) || !!importer?.includes(LIBRARIES)
}

/** A bare name such as `pg/lib/utils.js`, not a path. */
function isLibrary(id) {
  return !id.startsWith('.') && !isAbsolute(id)
}

/** Stands for an address until it is known which file of the bundle a module is in. */
const ADDRESS_MARK = 'BUNDLED_MODULE_ADDRESS'
const MARKED_ADDRESS = new RegExp(`${ADDRESS_MARK}\\([\`"']([^\`"']+)[\`"']\\)`, 'g')

/**
 * Gives a module of ours the address that it would have as a file of its own in the bundle's folder, and a library's the
 * one that it has: libraries read files beside them. Addresses are relative, so that the bundle can be moved.
 */
function withOwnAddress(code, id) {
  const addressOf = (path) => `${ADDRESS_MARK}(${JSON.stringify(path.split(sep).join('/'))})`
  if (id.includes(LIBRARIES)) {
    const path = relative(COMPILED, id)
    return /\b__(?:dirname|filename)\b/.test(code)
      ? code
          .replace(/\b__dirname\b/g, `new URL(${addressOf(dirname(path))}).pathname`)
          .replace(/\b__filename\b/g, `new URL(${addressOf(path)}).pathname`)
      : undefined
  }
  if (!id.startsWith(COMPILED) || !code.includes('import.meta.url')) return undefined
  return code.replaceAll('import.meta.url', addressOf(relative(COMPILED, id)))
}

/** Makes each marked address relative to the file that the module was put into. */
function writeAddresses(_options, files) {
  for (const file of Object.values(files)) {
    file.code = file.code.replace(MARKED_ADDRESS, (_mark, path) => {
      const fromFile = relative(dirname(file.fileName), path).split(sep).join('/')
      return `new URL(${JSON.stringify(fromFile)},import.meta.url).href`
    })
  }
}

/** pg asks whether it runs at Cloudflare. To answer, Node.js loads all of `fetch`, in each process and thread: 30 ms. */
function withoutCloudflare(code, id) {
  if (!id.endsWith(join(LIBRARIES, 'pg', 'lib', 'stream.js'))) return undefined
  return code.replace("typeof Response === 'function'", 'false')
}

/** The server names the package of the simulators in a variable, because that package is compiled after it. */
function withSimulators(code, id) {
  if (!id.endsWith(join('src', 'cli', 'simulators.js'))) return undefined
  const named = code.replace(/import\((?:\w+\()?PACKAGE\)?\)/, "import('@landpass/simulators')")
  if (named === code) throw new Error(`${id} does not import the simulators as this script expects`)
  return named
}

/** V8 keeps a text with a single character above U+00FF in two bytes for each character: 2 MB more for the server. */
function escapeWide(file) {
  file.code = file.code.replace(
    /[^\0-\xff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url) && isBundleStale()) {
  // Absent until the bundle is complete: one that was interrupted is made again.
  rmSync(RECORD, { force: true })
  const made = await bundle(BUNDLE)
  // Files of the same code have the same name, so that a running server still finds those that it loads late.
  for (const path of readdirSync(BUNDLE, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.js') && !made.includes(path.split(sep).join('/'))) rmSync(join(BUNDLE, path))
  writeFileSync(RECORD, inputsHash())
}

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'

/** The compiled server, `server/dist`. */
const COMPILED = fileURLToPath(new URL('../../..', import.meta.url))
const SUPPORT = 'test/support/processes'
const LIBRARIES = `${path.sep}node_modules${path.sep}`
/** What runs in processes and worker threads of its own, besides the programs of the tests. */
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
} as const

/** Programs whose modules are joined into a few files. */
export interface BundledPrograms {
  /** The folder in which each program has the path that it has in `server/dist`. */
  readonly folder: string
  remove(): void
}

/**
 * Bundles the compiled server and the programs of the tests for the processes that tests start: loading more than a thousand
 * modules costs a process most of the CPU time of its start. The code is that of `server/dist`, in a new folder beside it,
 * so that relative paths lead to the same files. `npm start` and `check-fresh-clone.mjs` run the files of `server/dist`.
 */
export async function bundlePrograms(): Promise<BundledPrograms> {
  const folder = `${mkdtempSync(path.join(COMPILED, '..', '.bundle-'))}${path.sep}`
  const programs = [...SERVER_PROGRAMS, ...testPrograms()]
  await build({
    input: Object.fromEntries(
      programs.map((name) => [name.slice(0, -'.js'.length), path.join(COMPILED, name)]),
    ),
    platform: 'node',
    external: (id, importer) => isLibrary(id) && !isBundled(id, importer),
    plugins: [
      { name: 'own-address', transform: (code, id) => withOwnAddress(code, id, folder) },
      { name: 'no-cloudflare', transform: withoutCloudflare },
      { name: 'simulators', transform: withSimulators },
    ],
    output: { dir: folder, format: 'esm', keepNames: true, ...WITHOUT_COMMENTS },
    logLevel: 'warn',
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function testPrograms(): string[] {
  return readdirSync(path.join(COMPILED, SUPPORT)).flatMap((name) =>
    name.endsWith('-child.js') ? [`${SUPPORT}/${name}`] : [],
  )
}

/** A library of this name, where our own code imports it, or another library that is bundled. */
function isBundled(name: string, importer: string | undefined): boolean {
  if (NEVER_BUNDLED.test(name)) return false
  return BUNDLED_LIBRARIES.test(name) || !!importer?.includes(LIBRARIES)
}

/** A bare name such as `pg/lib/utils.js`, not a path. */
function isLibrary(id: string): boolean {
  return !id.startsWith('.') && !path.isAbsolute(id)
}

/**
 * Gives a module of ours the address that it would have as a file of its own in the bundle's folder, and a library's the
 * one that it has: libraries read files beside them.
 */
function withOwnAddress(code: string, id: string, folder: string): string | undefined {
  if (id.includes(LIBRARIES)) {
    return /\b__(?:dirname|filename)\b/.test(code)
      ? code
          .replace(/\b__dirname\b/g, JSON.stringify(path.dirname(id)))
          .replace(/\b__filename\b/g, JSON.stringify(id))
      : undefined
  }
  if (!id.startsWith(COMPILED) || !code.includes('import.meta.url')) return undefined
  const address = pathToFileURL(path.join(folder, path.relative(COMPILED, id))).href
  return code.replaceAll('import.meta.url', JSON.stringify(address))
}

/** pg asks whether it runs at Cloudflare. To answer, Node.js loads all of `fetch`, in each process and thread: 30 ms. */
function withoutCloudflare(code: string, id: string): string | undefined {
  if (!id.endsWith(path.join(LIBRARIES, 'pg', 'lib', 'stream.js'))) return undefined
  return code.replace("typeof Response === 'function'", 'false')
}

/** The server names the package of the simulators in a variable, because that package is compiled after it. */
function withSimulators(code: string, id: string): string | undefined {
  if (!id.endsWith(path.join('src', 'cli', 'simulators.js'))) return undefined
  return code.replace('import(PACKAGE)', "import('@landpass/simulators')")
}

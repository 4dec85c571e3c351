import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'

/** The compiled server, `server/dist`. */
const COMPILED = fileURLToPath(new URL('../..', import.meta.url))
const SUPPORT = 'test/support'
/** What runs in processes and worker threads of its own, besides the programs of the tests. */
const SERVER_PROGRAMS = [
  'src/cli/main.js',
  'src/state/state-thread.js',
  'src/db/embedded/thread.js',
  'src/chain/history/fetch-thread.js',
  'src/attendance/own-issuer/pictures/picture-thread.js',
  'src/attendance/own-issuer/token-pictures/share-thread.js',
  'src/attendance/signed-fetch/signer-check-thread.js',
]
/** Libraries of several hundred small modules. All others stay where they are: some read files beside them. */
const BUNDLED_LIBRARIES =
  /^(?:kysely|typebox|@fastify\/type-provider-typebox|@landpass\/client|@noble\/hashes)(?:\/|$)/

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
    external: (id) => isLibrary(id) && !BUNDLED_LIBRARIES.test(id),
    plugins: [{ name: 'own-address', transform: (code, id) => withOwnAddress(code, id, folder) }],
    output: { dir: folder, format: 'esm', keepNames: true },
    logLevel: 'warn',
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function testPrograms(): string[] {
  return readdirSync(path.join(COMPILED, SUPPORT)).flatMap((name) =>
    name.endsWith('-child.js') ? [`${SUPPORT}/${name}`] : [],
  )
}

/** A bare name such as `pg/lib/utils.js`, not a path. */
function isLibrary(id: string): boolean {
  return !id.startsWith('.') && !path.isAbsolute(id)
}

/** Gives a module of ours the address that it would have as a file of its own in the bundle's folder. */
function withOwnAddress(code: string, id: string, folder: string): string | undefined {
  if (!id.startsWith(COMPILED) || !code.includes('import.meta.url')) return undefined
  const address = pathToFileURL(path.join(folder, path.relative(COMPILED, id))).href
  return code.replaceAll('import.meta.url', JSON.stringify(address))
}

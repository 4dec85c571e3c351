import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The compiled server, `server/dist`. */
const COMPILED = fileURLToPath(new URL('../../..', import.meta.url))
const SUPPORT = 'test/support/processes'
const BUNDLER = new URL('../../../../../scripts/bundle.mjs', import.meta.url)

/** Programs whose modules are joined into a few files. */
export interface BundledPrograms {
  /** The folder in which each program has the path that it has in `server/dist`. */
  readonly folder: string
  remove(): void
}

/** Bundles the compiled server, as for `npm start`, and the programs of the tests, in a new folder beside `server/dist`. */
export async function bundlePrograms(): Promise<BundledPrograms> {
  const folder = `${mkdtempSync(path.join(COMPILED, '..', '.bundle-'))}${path.sep}`
  const { bundle } = (await import(BUNDLER.href)) as {
    bundle(folder: string, programs: readonly string[]): Promise<void>
  }
  await bundle(folder, testPrograms())
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function testPrograms(): string[] {
  return readdirSync(path.join(COMPILED, SUPPORT)).flatMap((name) =>
    name.endsWith('-child.js') ? [`${SUPPORT}/${name}`] : [],
  )
}

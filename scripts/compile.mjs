// Compiles with `tsc -b`, which compiles only projects whose sources or references have changed.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runStep } from './run-step.mjs'

const TSC = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', 'node_modules', 'typescript', 'bin', 'tsc'],
)

/** Folders of compiled files, and of the sources that these are made of. */
const OUTPUTS = {
  'client/dist': 'client/src',
  'server/dist': 'server',
  'simulators/dist': 'simulators/src',
  dist: '.',
}

/**
 * Compiles the projects whose code has changed. Prints nothing if there is nothing to do.
 *
 * Code that was compiled without a check of its types is checked by the next call with `checksTypes`: the compiler
 * records that the check is missing.
 *
 * @param root folder of the project
 * @param projects folders below it that have a `tsconfig.json`, or paths of such files
 * @param options `checksTypes`: whether types are checked. Without, compiling takes a third of the time, and needs no
 * packages of the tests.
 * @returns the exit status of the compiler: 0 for success
 */
export async function compile(root, projects, { checksTypes }) {
  const isFirst = !existsSync(join(root, 'client', 'dist'))
  const flags = [
    ...(checksTypes ? [] : ['--noCheck']),
    ...(process.stderr.isTTY ? ['--pretty'] : []),
    // By default four per project, each of which works out the types that they share.
    ...['--checkers', '1'],
  ]
  // The compiler is a program in Go: with garbage collected less often it takes a fifth less CPU time.
  const env = { GOGC: '400', ...process.env }
  const tsc = { command: process.execPath, args: [TSC, '-b', ...projects, ...flags], cwd: root, env }
  const { status } = await runStep('compiling', { ...tsc, isShort: !isFirst })
  if (status === 0) for (const [dist, source] of Object.entries(OUTPUTS)) removeOrphans(root, dist, source)
  return status
}

/** Removes compiled files whose source was deleted. */
function removeOrphans(root, dist, source) {
  if (!existsSync(join(root, dist))) return
  for (const path of readdirSync(join(root, dist), { recursive: true, encoding: 'utf8' })) {
    const [, stem] = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(path) ?? []
    if (stem !== undefined && !existsSync(join(root, source, `${stem}.ts`))) rmSync(join(root, dist, path))
  }
}

// Compiles workspaces by their project references: the compiler itself knows what has changed, and which of them is made
// of which.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runStep } from './run-step.mjs'

const TSC = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', 'node_modules', 'typescript', 'bin', 'tsc'],
)

/**
 * Brings the compiled code of workspaces up to date. Says nothing when there is nothing to do.
 *
 * Code that was compiled without its types being checked is checked by the next call that asks for it: the compiler
 * writes down what is left to do.
 *
 * @param root folder of the project
 * @param workspaces names of folders below it
 * @param options `checksTypes`: whether wrong types are errors. Without, it takes a third of the time, and needs no
 * package that only tests import.
 * @returns the exit status of the compiler: 0 when all is well
 */
export async function compile(root, workspaces, { checksTypes }) {
  const folders = workspaces.map((name) => join(root, name))
  const isFirst = folders.some((folder) => !existsSync(join(folder, readConfig(folder).outDir)))
  const flags = [...(checksTypes ? [] : ['--noCheck']), ...(process.stderr.isTTY ? ['--pretty'] : [])]
  const tsc = { command: process.execPath, args: [TSC, '-b', ...folders, ...flags], cwd: root }
  const { status } = await runStep('compiling', { ...tsc, isShort: !isFirst })
  if (status === 0) for (const folder of folders) removeOrphans(folder)
  return status
}

/** A deleted source must not live on as compiled code. */
function removeOrphans(folder) {
  const { rootDir, outDir } = readConfig(folder)
  const dist = join(folder, outDir)
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const [, stem] = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(path) ?? []
    if (stem !== undefined && !existsSync(join(folder, rootDir, `${stem}.ts`))) rmSync(join(dist, path))
  }
}

function readConfig(folder) {
  return JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')).compilerOptions
}

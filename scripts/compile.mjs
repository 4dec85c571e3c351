// Compiles workspaces with `tsc -b`, which compiles only projects whose sources or references have changed.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runStep } from './run-step.mjs'

const TSC = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', 'node_modules', 'typescript', 'bin', 'tsc'],
)

/**
 * Compiles the workspaces whose code has changed. Prints nothing if there is nothing to do.
 *
 * Code that was compiled without a check of its types is checked by the next call with `checksTypes`: the compiler
 * records that the check is missing.
 *
 * @param root folder of the project
 * @param workspaces names of folders below it
 * @param options `checksTypes`: whether types are checked. Without, compiling takes a third of the time, and needs no
 * packages of the tests.
 * @returns the exit status of the compiler: 0 for success
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

/** Removes compiled files whose source was deleted. */
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

// Compiles workspaces by their project references: the compiler itself knows what has changed, and which of them is made
// of which.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TSC = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', 'node_modules', 'typescript', 'bin', 'tsc'],
)

/**
 * Brings the compiled code of workspaces up to date. Says nothing when there is nothing to do.
 *
 * @param root folder of the project
 * @param workspaces names of folders below it
 * @returns the exit status of the compiler: 0 when all is well
 */
export function compile(root, workspaces) {
  const folders = workspaces.map((name) => join(root, name))
  if (folders.some((folder) => !existsSync(join(folder, readConfig(folder).outDir)))) {
    console.error('landpass: compiling (once, some seconds) …')
  }
  const { status, error } = spawnSync(process.execPath, [TSC, '-b', ...folders], { stdio: ['ignore', 2, 2] })
  if (error) console.error(`landpass: the compiler could not be started: ${error.message}`)
  if (status === 0) for (const folder of folders) removeOrphans(folder)
  return status ?? 1
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

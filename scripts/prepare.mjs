// Makes a clone ready to run: installs the locked dependencies when they are missing or stale, then compiles
// what has changed. `npm start`, `npm test` and the other scripts call it first; it needs Node.js and npm alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { arePagesStale } from '../web/page-inputs.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const INSTALL_STAMP = join(ROOT, 'node_modules', '.landpass-installed')

const lockHash = createHash('sha256')
  .update(readFileSync(join(ROOT, 'package-lock.json')))
  .digest('hex')
if (readIfThere(INSTALL_STAMP) !== lockHash) {
  console.error('landpass: installing the locked dependencies (once, about half a minute) …')
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  writeFileSync(INSTALL_STAMP, lockHash)
}

// The compiler itself knows what has changed, and that the server is made of the client package too.
run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', join(ROOT, 'server')])
for (const name of ['client', 'server']) removeOrphans(join(ROOT, name))

if (arePagesStale(ROOT)) {
  console.error('landpass: making the pages …')
  run(process.execPath, [join(ROOT, 'web', 'build.mjs')])
}

/** A deleted source must not live on as compiled code. */
function removeOrphans(workspace) {
  const { compilerOptions } = JSON.parse(readFileSync(join(workspace, 'tsconfig.json'), 'utf8'))
  const sources = join(workspace, compilerOptions.rootDir)
  const dist = join(workspace, compilerOptions.outDir)
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const [, stem] = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(path) ?? []
    if (stem !== undefined && !existsSync(join(sources, `${stem}.ts`))) rmSync(join(dist, path))
  }
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function run(command, args) {
  // npm is a .cmd file on Windows, which only a shell can start; the arguments are all our own.
  const shell = process.platform === 'win32' && command === 'npm'
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], shell })
  if (error) console.error(`landpass: ${command} could not be started: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

// Makes a clone ready to run: installs the locked dependencies when they are missing or stale, then compiles
// what has changed. `npm start`, `npm test` and the other scripts call it first; it needs Node.js and npm alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { arePagesStale } from '../web/page-inputs.mjs'
import { compile } from './compile.mjs'

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

const status = compile(ROOT, ['client', 'server'])
if (status !== 0) process.exit(status)

// After the compiler: the pages are made of compiled code of the client, too.
if (arePagesStale(ROOT)) {
  console.error('landpass: making the pages …')
  run(process.execPath, [join(ROOT, 'web', 'build.mjs')])
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

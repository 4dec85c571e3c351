// Makes a clone ready to run: installs the locked dependencies when they are missing or stale, then compiles
// what has changed. `npm start`, `npm test` and the other scripts call it first; it needs Node.js and npm alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const INSTALL_STAMP = join(ROOT, 'node_modules', '.landpass-installed')
const DIST = join(ROOT, 'server', 'dist')
const BUILD_STAMP = join(DIST, '.landpass-built')
const PAGES_STAMP = join(ROOT, 'web', 'dist', '.landpass-built')

const lockHash = createHash('sha256')
  .update(readFileSync(join(ROOT, 'package-lock.json')))
  .digest('hex')
if (readIfThere(INSTALL_STAMP) !== lockHash) {
  console.error('landpass: installing the locked dependencies (once, about half a minute) …')
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  writeFileSync(INSTALL_STAMP, lockHash)
}

const serverHash = hashOf([
  join(ROOT, 'tsconfig.base.json'),
  join(ROOT, 'server', 'tsconfig.json'),
  ...['src', 'test', 'bench'].flatMap((folder) => filesBelow(join(ROOT, 'server', folder))),
])
if (readIfThere(BUILD_STAMP) !== serverHash) {
  console.error('landpass: compiling …')
  rmSync(DIST, { recursive: true, force: true }) // a deleted source must not live on as compiled code
  run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(ROOT, 'server')])
  writeFileSync(BUILD_STAMP, serverHash)
}

const pagesHash = hashOf([
  join(ROOT, 'tsconfig.base.json'),
  ...['build.mjs', 'index.html', 'organise.html', 'tsconfig.json', 'vite.config.ts'].map((name) =>
    join(ROOT, 'web', name),
  ),
  ...['src', 'public'].flatMap((folder) => filesBelow(join(ROOT, 'web', folder))),
  ...filesBelow(join(ROOT, 'server', 'src', 'land', 'feed')),
])
if (readIfThere(PAGES_STAMP) !== pagesHash) {
  console.error('landpass: making the pages …')
  run(process.execPath, [join(ROOT, 'web', 'build.mjs')])
  writeFileSync(PAGES_STAMP, pagesHash)
}

/** Names and contents of everything that a compiler reads. */
function hashOf(files) {
  const hash = createHash('sha256').update(lockHash)
  for (const file of files.sort()) hash.update(file).update(readFileSync(file))
  return hash.digest('hex')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return filesBelow(path)
    return /\.(tsx?|json|css|svg|webmanifest)$/.test(name) ? [path] : []
  })
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

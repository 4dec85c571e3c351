// Installs the packages of the lock file: those that the server needs, or all. A stamp file in node_modules records what
// is installed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runStep } from './run-step.mjs'

const STAMP = join('node_modules', '.landpass-installed')
/** What npm writes when it has installed. */
const HIDDEN_LOCK = join('node_modules', '.package-lock.json')
/** A package of the tests. */
const TEST_PACKAGE = join('node_modules', 'vitest', 'package.json')
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress']
/** How npm says that a package is not in its cache, or that what the cache knows of it is too old. */
const NOT_CACHED = /\b(?:ENOTCACHED|ETARGET)\b/

/**
 * Installs the packages of the lock file. Prints nothing if they are installed.
 *
 * If only the packages of the tests are missing, the others stay untouched, so that a running server can go on. After a
 * change of the lock file everything is installed again: all packages if all had been installed before.
 *
 * @param root folder of the project
 * @param options `scope`: `serving` for the packages that `npm start` needs, `all` for those of the tests, too
 * @returns the exit status of npm: 0 for success
 */
export async function installPackages(root, { scope }) {
  const stamp = join(root, STAMP)
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const lockHash = createHash('sha256').update(lockText).digest('hex')
  const lock = JSON.parse(lockText)
  const writeStamp = (installedScope) => writeFileSync(stamp, `${lockHash} ${installedScope}\n`)
  const recorded = readStamp(stamp)
  const installed = recorded ?? (isInstalledByHand(root, lock) ? { lockHash, scope: 'all' } : undefined)
  const isSameLock = installed?.lockHash === lockHash
  if (isSameLock && (installed.scope === 'all' || scope === 'serving')) {
    if (!recorded) writeStamp(installed.scope)
    return 0
  }

  const wanted = installed?.scope === 'all' ? 'all' : scope
  // The packages of the tests are named: NODE_ENV=production or a setting of npm would leave them out.
  const command = [
    ...(isSameLock ? ['install', '--no-save'] : ['ci']),
    wanted === 'all' ? '--include=dev' : '--omit=dev',
  ]
  const title = `installing the packages of ${titleOf(isSameLock, wanted)} (once)`
  // Where packages are only added, those of the server stay in place, whatever happens.
  if (!isSameLock) rmSync(stamp, { force: true })
  const status = await install(root, command, { title, count: packageCounter(root, lock, wanted) })
  if (status === 0 && wanted === 'all' && !existsSync(join(root, TEST_PACKAGE))) {
    process.stderr.write(
      'landpass: npm left the packages of the tests out; its settings say why: npm config list\n',
    )
    return 1
  }
  if (status === 0) writeStamp(wanted)
  return status
}

/** @returns `serving` or `all`; undefined where nothing was installed */
export function installedScope(root) {
  return readStamp(join(root, STAMP))?.scope
}

/** First with the packages in npm's cache, without requests to the registry. If some are missing there, from the registry. */
async function install(root, command, { title, count }) {
  const npm = { command: 'npm', cwd: root, count }
  const cached = await runStep(title, {
    ...npm,
    args: [...command, ...QUIET, '--prefer-offline', '--loglevel=error'],
    keeps: true,
  })
  if (cached.status === 0) return 0
  if (!NOT_CACHED.test(cached.output)) {
    process.stderr.write(cached.output)
    return cached.status
  }
  const { status } = await runStep(`${title}, now from the registry`, {
    ...npm,
    args: [...command, ...QUIET],
  })
  return status
}

function titleOf(isSameLock, scope) {
  if (isSameLock) return 'the tests'
  return scope === 'serving' ? 'the server' : 'the server and the tests'
}

/** Reads the stamp file. @returns undefined if it is missing or malformed */
function readStamp(path) {
  if (!existsSync(path)) return undefined
  const [, lockHash, scope] = /^([0-9a-f]{64}) (serving|all)\n$/.exec(readFileSync(path, 'utf8')) ?? []
  return lockHash && { lockHash, scope }
}

/** Whether `npm ci` has installed exactly the packages of the lock file, those of the tests among them. */
function isInstalledByHand(root, lock) {
  if (!existsSync(join(root, HIDDEN_LOCK)) || !existsSync(join(root, TEST_PACKAGE))) return false
  const { packages } = JSON.parse(readFileSync(join(root, HIDDEN_LOCK), 'utf8'))
  return installable(lock).every(([path, { version }]) => packages[path]?.version === version)
}

/** Counts the packages that are unpacked. */
function packageCounter(root, lock, scope) {
  const paths = installable(lock)
    .filter(([, { dev }]) => scope === 'all' || !dev)
    .map(([path]) => join(root, path, 'package.json'))
  return () => `${paths.filter((path) => existsSync(path)).length} of ${paths.length}`
}

/** The packages that are installed on every system: those for other systems, and the few optional ones, are left out. */
function installable(lock) {
  return Object.entries(lock.packages).filter(
    ([path, { link, optional }]) => path.includes('node_modules/') && !link && !optional,
  )
}

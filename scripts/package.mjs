// Makes what a release publishes, in dist/release: the package `landpass` (the bundled server with its pages and documents), the
// package `@landpass/client`, a list of what the first one contains and installs (CycloneDX), and checksums. `npm run package` builds first.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIBRARIES_RECORD } from './bundle.mjs'
import { writeClientPackage } from './client-package.mjs'
import { billOfMaterials, folderOf, installedWith, noticesOf } from './third-parties.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RELEASE = join(ROOT, 'dist', 'release')
const SERVER = join(RELEASE, 'landpass')
const CLIENT = join(RELEASE, 'client')
/** What the package of the server has, with the same paths as in a clone: the bundle finds its files by them. */
const CONTENTS = [
  ...['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'NOTICE', 'docs', 'deploy'],
  ...['simulators/README.md', 'simulators/src/chain/README.md'],
  ...['server/bundle', 'web/dist', 'web/locales'],
]
/** Pictures of the documents, and records of how the rest was made. */
const LEFT_OUT = /[/\\](?:images|\.env|\.inputs(?:\.json)?|\.libraries\.json)$/
/** A library that the bundle loads, by any of the ways to load one. */
const LOADED =
  /(?:\bfrom|\bimport|__require\(|import\.meta\.url\)\(|href\)\(|import\.meta\.resolve\(|import\()\s*[`"']([^`"'.][^`"']*)[`"']/g

const { version, license, description, engines, repository } = readJson('package.json')
const lock = readJson('package-lock.json').packages

rmSync(RELEASE, { recursive: true, force: true })
for (const path of CONTENTS)
  cpSync(join(ROOT, path), join(SERVER, path), { recursive: true, filter: (from) => !LEFT_OUT.test(from) })
const installed = librariesOfBundle()
const bundled = [
  ...new Set([
    ...readJson(`server/bundle/${LIBRARIES_RECORD}`),
    ...readJson('web/dist/.inputs.json').libraries,
  ]),
].sort()
writeFileSync(join(SERVER, 'package.json'), json(serverPackage()))
writeFileSync(join(SERVER, 'THIRD-PARTY-NOTICES'), noticesOf(ROOT, bundled))
npm('run', 'build', '--workspace', 'client', '--silent')
writeClientPackage(CLIENT)
const packed = [SERVER, CLIENT].map((folder) =>
  npm('pack', folder, '--pack-destination', RELEASE, '--silent').trim(),
)
const bill = `landpass-${version}.cdx.json`
const libraries = { lock, bundled, installed: installedWith(lock, installed.map(folderFromServer)) }
writeFileSync(join(RELEASE, bill), json(billOfMaterials({ name: 'landpass', version }, libraries)))
writeFileSync(join(RELEASE, 'SHA256SUMS'), [...packed, bill].map(checksum).join(''))
for (const name of [...packed, bill, 'SHA256SUMS']) console.log(join('dist/release', name))

function serverPackage() {
  return {
    ...{ name: 'landpass', version, license, description, repository, type: 'module', engines },
    bin: { landpass: 'server/bundle/src/cli/main.js' },
    dependencies: Object.fromEntries(installed.map((name) => [name, lock[folderFromServer(name)].version])),
  }
}

/** The libraries that were not bundled. They are installed in the versions that the tests ran with. */
function librariesOfBundle() {
  const names = new Set()
  const bundle = join(SERVER, 'server', 'bundle')
  for (const path of readdirSync(bundle, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue
    for (const [, id] of readFileSync(join(bundle, path), 'utf8').matchAll(LOADED)) {
      const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/')
      // Texts of the code can look like the name of a library: those that are none are not in the lock file
      if (!isBuiltin(id) && folderFromServer(name)) names.add(name)
    }
  }
  return [...names].sort()
}

function folderFromServer(name) {
  return folderOf(lock, name, 'server')
}

function json(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** A line that `sha256sum --check` reads. */
function checksum(name) {
  const hash = createHash('sha256')
    .update(readFileSync(join(RELEASE, name)))
    .digest('hex')
  return `${hash}  ${name}\n`
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

/** Runs npm. @returns what it printed @throws if it fails */
function npm(...args) {
  mkdirSync(RELEASE, { recursive: true })
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

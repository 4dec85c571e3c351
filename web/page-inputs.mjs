// Which files the pages in web/dist were made of, as the bundler saw them: so `scripts/prepare.mjs` knows when they are
// stale without a list of folders that somebody has to keep true.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const RECORD = join('web', 'dist', '.inputs.json')
/** Copied as it is: its files are in no module graph. */
const PUBLIC = join('web', 'public')
/** What decides how the pages are made, besides the modules themselves. */
const BUILD_FILES = ['package-lock.json', 'client/package.json', 'tsconfig.base.json', 'web/tsconfig.json']
const BUILD_SCRIPTS = ['web/build.mjs', 'web/page-inputs.mjs', 'web/vite.config.ts']

/**
 * Writes down what the pages were made of.
 *
 * @param root folder of the project
 * @param modules the files that the bundler read, as absolute paths
 */
export function recordPageInputs(root, modules) {
  const read = modules.map((path) => relative(root, path).split(sep).join('/'))
  const files = [...new Set([...BUILD_FILES, ...BUILD_SCRIPTS, ...read])].sort()
  writeFileSync(join(root, RECORD), JSON.stringify({ files, hash: hashOf(root, files) }))
}

/** Whether the pages are missing, or were made of other contents than their files have now. */
export function arePagesStale(root) {
  const path = join(root, RECORD)
  if (!existsSync(path)) return true
  const { files, hash } = JSON.parse(readFileSync(path, 'utf8'))
  return hashOf(root, files) !== hash
}

/** Names and contents; a file that is gone counts as empty. */
function hashOf(root, files) {
  const hash = createHash('sha256')
  for (const file of [...files, ...filesBelow(join(root, PUBLIC)).map((path) => relative(root, path))]) {
    const path = join(root, file)
    hash.update(`${file}\0`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? filesBelow(path) : [path]
    })
}

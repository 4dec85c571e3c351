// Which files the pages in web/dist were made of, as the bundler saw them: so `scripts/prepare.mjs` knows when they are
// stale without a list of folders that is kept by hand.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'

const RECORD = join('web', 'dist', '.inputs.json')
/** Copied as it is: its files are in no module graph. */
const PUBLIC = join('web', 'public')
/** What decides how the pages are made, besides the modules themselves. */
const BUILD_FILES = ['package-lock.json', 'client/package.json', 'tsconfig.base.json', 'web/tsconfig.json']
/** The bundler writes paths with `/` on Windows too. */
const INSTALLED = /[\\/]node_modules[\\/]/
const BUILD_SCRIPTS = [
  'scripts/third-parties.mjs',
  'web/build.mjs',
  'web/page-inputs.mjs',
  'web/page-texts.mjs',
  'web/vite.config.ts',
  'web/locales/en.json',
]

/**
 * Writes down what the pages were made of. The record is complete or absent, also when this is interrupted.
 *
 * @param root folder of the project
 * @param modules ids of the modules that the bundler read; those that are no files of ours are left out
 * @param libraries folders of the libraries that the pages contain
 */
export function recordPageInputs(root, modules, libraries) {
  const read = modules.filter(isOurFile).map((path) => relative(root, path).split(sep).join('/'))
  const files = [...new Set([...BUILD_FILES, ...BUILD_SCRIPTS, ...read])].sort()
  const path = join(root, RECORD)
  writeFileSync(`${path}.new`, JSON.stringify({ files, libraries, hash: hashOf(root, files) }))
  renameSync(`${path}.new`, path)
}

/** Whether the pages are missing, or were made of other contents than their files have now. */
export function arePagesStale(root) {
  const record = readRecord(join(root, RECORD))
  return record === undefined || hashOf(root, record.files) !== record.hash
}

/** @returns undefined for a record that is missing, cut off or of another form */
function readRecord(path) {
  if (!existsSync(path)) return undefined
  let record
  try {
    record = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
  const files = record?.files
  return Array.isArray(files) && files.every((file) => typeof file === 'string') ? record : undefined
}

/** What is installed changes with the lock file alone; names without a path are made up by the bundler. */
function isOurFile(id) {
  return isAbsolute(id) && !INSTALLED.test(id) && statSync(id, { throwIfNoEntry: false })?.isFile()
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

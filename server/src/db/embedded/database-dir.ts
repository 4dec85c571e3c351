import fs from 'node:fs'
import path from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { CommandError } from '../../errors.ts'
import { openPGlite } from './pglite.ts'
import { syncDir } from './synced-node-fs.ts'

/** The PostgreSQL inside PGlite: it opens data directories of this version and no other. */
const POSTGRES_VERSION = '18'

/** Suffix of the folder in which a new database is created, before it gets its final name. */
const UNFINISHED_SUFFIX = '.unfinished'

/**
 * Opens the database in `dir`, which is created when missing. Creating takes seconds, and a process that was killed
 * half-way left a folder that never opened again. So it is created in another folder: create, close, flush to the
 * disk, rename. `dir` is a whole database or does not exist. The caller holds the folder's lock.
 */
export async function openDatabaseDir(dir: string, syncToDisk: boolean): Promise<PGlite> {
  const unfinished = dir + UNFINISHED_SUFFIX
  fs.rmSync(unfinished, { recursive: true, force: true })
  if (!fs.existsSync(dir)) await createDatabaseDir(unfinished, dir, syncToDisk)
  assertVersion(dir)
  return openPGlite(dir, syncToDisk)
}

async function createDatabaseDir(unfinished: string, dir: string, syncToDisk: boolean): Promise<void> {
  const pglite = await openPGlite(unfinished, false)
  await pglite.close()
  if (syncToDisk) syncTree(unfinished)
  fs.renameSync(unfinished, dir)
  if (syncToDisk) syncDir(path.dirname(dir))
}

function syncTree(dir: string): void {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const child = path.join(dir, entry.name)
    if (entry.isDirectory()) syncTree(child)
    else if (entry.isFile()) syncFile(child)
  }
  syncDir(dir)
}

function syncFile(file: string): void {
  const descriptor = fs.openSync(file, 'r+')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

function assertVersion(dir: string): void {
  const file = path.join(dir, 'PG_VERSION')
  const version = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined
  if (version === POSTGRES_VERSION) return
  throw new CommandError(
    version === undefined
      ? `${dir} is not a database folder. Move it away, or choose another data folder.`
      : `${dir} was written by PostgreSQL ${version}; this version of the server opens ${POSTGRES_VERSION}. ` +
          'Export the world with the version that wrote it, and import it into a new data folder.',
  )
}

import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError } from '../errors.ts'

const OWNER_ALONE = 0o600

export interface KeyFile {
  readonly key: Buffer
  readonly path: string
  readonly isNew: boolean
}

/**
 * The key of an embedded database that was given none: made once, readable by its owner alone. Whoever loses the file
 * loses the stored codes, so it lies beside the database and is saved with it.
 *
 * @throws {CommandError} for a file that holds no key: it is never overwritten
 */
export async function findOrMakeKey(dataDir: string): Promise<KeyFile> {
  const path = join(dataDir, 'attendance.key')
  const isNew = !existsSync(path) && (await makeKey(dataDir, path))
  return { key: await readKey(path), path, isNew }
}

/**
 * Written beside, then linked: a kill at any moment leaves a whole key or none, and of two that start at once one
 * makes it and the other reads it. On disk before any code is stored.
 *
 * @returns false when another one was quicker
 */
async function makeKey(dataDir: string, path: string): Promise<boolean> {
  await mkdir(dataDir, { recursive: true })
  const unfinished = `${path}.${randomUUID()}`
  try {
    const text = `${randomBytes(32).toString('hex')}\n`
    await writeFile(unfinished, text, { mode: OWNER_ALONE, flag: 'wx', flush: true })
    await link(unfinished, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function readKey(path: string): Promise<Buffer> {
  const text = (await readFile(path, 'utf8')).trim()
  if (!/^[\da-f]{64}$/i.test(text)) {
    throw new CommandError(
      `${path} should hold a key of 64 hex digits, but does not. Restore it from a copy; without it the stored codes cannot be read.`,
    )
  }
  return Buffer.from(text, 'hex')
}

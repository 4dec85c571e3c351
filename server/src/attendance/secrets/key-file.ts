import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError } from '../../errors.ts'

const OWNER_ONLY = 0o600

export interface KeyFile {
  readonly key: Buffer
  readonly path: string
  readonly isNew: boolean
}

/** Where the key is that no setting gives. */
export function keyPath(dataDir: string): string {
  return join(dataDir, 'attendance.key')
}

/**
 * Reads the key from the data folder, or makes it there when no setting gives a key. Only the owner of the file can read it.
 * The stored codes cannot be decrypted without the file, so a backup of the data folder must include it.
 *
 * @throws {CommandError} for a file that holds no key: it is never overwritten
 */
export async function findOrMakeKey(dataDir: string): Promise<KeyFile> {
  const path = keyPath(dataDir)
  const isNew = !existsSync(path) && (await makeKey(dataDir, path))
  return { key: await readKey(path), path, isNew }
}

/**
 * Writes a temporary file, then links it: a kill at any time leaves a whole key or none. Of two processes that start at
 * once, one makes the key and the other reads it. The key is flushed to disk before any code is stored.
 *
 * @returns false when another process made the key first
 */
async function makeKey(dataDir: string, path: string): Promise<boolean> {
  await mkdir(dataDir, { recursive: true })
  const temporary = `${path}.${randomUUID()}`
  try {
    const text = `${randomBytes(32).toString('hex')}\n`
    await writeFile(temporary, text, { mode: OWNER_ONLY, flag: 'wx', flush: true })
    await link(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

async function readKey(path: string): Promise<Buffer> {
  const text = (await readFile(path, 'utf8')).trim()
  if (!/^[\da-f]{64}$/i.test(text)) {
    throw new CommandError(
      `${path} does not hold a key of 64 hex digits. Restore it from a backup to read the stored codes.`,
    )
  }
  return Buffer.from(text, 'hex')
}

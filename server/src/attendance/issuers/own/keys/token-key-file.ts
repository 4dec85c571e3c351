import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, link, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandError } from '../../../../errors.ts'
import { addressOf } from '../../../../ethereum/signatures.ts'

const OWNER_ONLY = 0o600
const OTHERS = 0o077
const PERMISSIONS = 0o777
const KEY = /^[\da-f]{64}$/i

/** A key and the address that it signs for, in lower case. */
export interface TokenKey {
  readonly address: string
  readonly key: Buffer
}

/**
 * Reads the keys that sign tokens: 64 hex digits a line, the newest one last. Only the owner of the file should be able to
 * read it.
 *
 * @throws {CommandError} for a file that cannot be read, or holds something else. It is never overwritten
 */
export async function readTokenKeys(path: string): Promise<readonly TokenKey[]> {
  const lines = (await readText(path)).split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      if (!KEY.test(line)) throw notKeys(path)
      const key = keyOf(line)
      try {
        return { address: addressOf(key), key }
      } catch {
        throw notKeys(path)
      }
    })
}

/** The bytes of a key, in memory of their own: small buffers share a block of memory with others. */
function keyOf(line: string): Buffer {
  const key = Buffer.alloc(line.length / 2)
  key.write(line, 'hex')
  return key
}

/**
 * Makes the file with one new key, unless there is one. It is whole or missing, also after a kill; of two processes that
 * start at once, one makes the key.
 *
 * @returns whether this call made it
 */
export async function makeTokenKeyFile(path: string): Promise<boolean> {
  if (existsSync(path)) return false
  return withTemporary(path, newLine(), async (temporary) => {
    try {
      await link(temporary, path)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  })
}

/**
 * Adds a new key at the end of the file. The file with the new key replaces the other one in one step, with the same owner and
 * mode, because servers run as another user than the commands of an operator. Call it with the lock of
 * {@link inKeyTransaction}: of two calls at once, one would lose its key.
 *
 * @throws {CommandError} where the file is missing, holds something else, or cannot be written
 */
export async function addTokenKey(path: string): Promise<TokenKey> {
  await readTokenKeys(path)
  const file = await realpath(path)
  const [text, { uid, gid, mode }] = [await readText(file), await stat(file)]
  await withTemporary(file, `${text.trimEnd()}\n${newLine()}`, async (temporary) => {
    const made = await stat(temporary)
    if (made.uid !== uid || made.gid !== gid) await chown(temporary, uid, gid)
    await chmod(temporary, mode & PERMISSIONS)
    await rename(temporary, file)
  })
  return (await readTokenKeys(path)).at(-1)!
}

/** Whether other users of the machine may read or change the file. Windows has no such modes. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(path)).mode & OTHERS) !== 0
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new CommandError(
      `The key file of the token issuer, ${path}, cannot be read: ${(error as NodeJS.ErrnoException).code}.`,
    )
  }
}

function newLine(): string {
  for (;;) {
    const key = randomBytes(32)
    try {
      addressOf(key) // fails for one in 2^128: zero, or not below the order of the curve
      return `${key.toString('hex')}\n`
    } catch {}
  }
}

async function withTemporary<Result>(
  path: string,
  text: string,
  work: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = `${path}.${randomUUID()}`
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(temporary, text, { mode: OWNER_ONLY, flag: 'wx', flush: true })
    return await work(temporary)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined
      ? error
      : new CommandError(`The key file of the token issuer, ${path}, cannot be written: ${code}.`)
  } finally {
    await rm(temporary, { force: true })
  }
}

function notKeys(path: string): CommandError {
  return new CommandError(
    `${path} does not hold keys of 64 hex digits, one a line. Restore it from a backup, or move it away for a new key.`,
  )
}

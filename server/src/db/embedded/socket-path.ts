import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/**
 * Where the engine's thread listens for other processes: a Unix socket in a directory that only this user can
 * enter (mkdtemp makes it 0700), so that its own mode is never the only protection; a named pipe on Windows.
 * Not in the data folder: the path of a socket may have about 100 characters only.
 */
export function newSocketPath(): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\landpass-${randomBytes(16).toString('hex')}`
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-')), 'engine')
}

/** Not recursive: the path may come from the lock file of a process that died, and a file can say anything. */
export function removeSocketPath(socketPath: string): void {
  if (process.platform === 'win32') return
  try {
    fs.rmSync(socketPath, { force: true })
    fs.rmdirSync(path.dirname(socketPath))
  } catch {
    // Somebody cleaned the temporary folder before us
  }
}

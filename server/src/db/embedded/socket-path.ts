import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/**
 * The socket on which the engine's thread listens for other processes: a Unix socket in a directory that only this
 * user can enter (mkdtemp creates it with mode 0700), so that access does not depend on the socket's own mode; on
 * Windows a named pipe.
 * Not in the data folder: the path of a socket may have about 100 characters only.
 */
export function newSocketPath(): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\landpass-${randomBytes(16).toString('hex')}`
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-')), 'engine')
}

/** Not recursive: the path may come from a lock file of an ended process, whose content cannot be trusted. */
export function removeSocketPath(socketPath: string): void {
  if (process.platform === 'win32' || socketPath === '') return
  try {
    fs.rmSync(socketPath, { force: true })
    fs.rmdirSync(path.dirname(socketPath))
  } catch {
    // Already removed, for example by a clean-up of the temporary folder
  }
}

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A file system in memory that Linux has. */
const IN_MEMORY = '/dev/shm'
/** A run has 1 GB in it at its highest; the processes of the tests need the rest. */
const ROOM_BYTES = 4 * 1024 ** 3
const NAME = 'landpass-tests-'
/** Longer than a run that goes on leaves its folder as it is. */
const ABANDONED_MS = 60 * 60_000

/**
 * Makes the folder of one run of the tests, for all temporary files of its processes: in memory where there is room,
 * because the databases of a run are some thousand files on each engine, which take a disk several times the CPU time.
 */
export function makeTestFolder(): string {
  const parent = hasRoom() ? IN_MEMORY : os.tmpdir()
  removeAbandoned(parent)
  const folder = fs.mkdtempSync(path.join(parent, `${NAME}${process.pid}-`))
  fs.chmodSync(folder, 0o755) // PostgreSQL does not run as root, and has its data in it
  return folder
}

/** Removes the folders of runs that were killed, which would take memory until the machine restarts. */
function removeAbandoned(parent: string): void {
  for (const name of fs.readdirSync(parent)) {
    const [, pid] = new RegExp(`^${NAME}(\\d+)-`).exec(name) ?? []
    if (!pid || isRunning(Number(pid))) continue
    const folder = path.join(parent, name)
    try {
      // A container that shares the folder has processes that are not seen here
      if (Date.now() - fs.statSync(folder).mtimeMs < ABANDONED_MS) continue
      fs.rmSync(folder, { recursive: true, force: true })
    } catch {
      // It belongs to another user, or another run removes it
    }
  }
}

function hasRoom(): boolean {
  if (!fs.existsSync(IN_MEMORY)) return false
  const { bavail, bsize } = fs.statfsSync(IN_MEMORY)
  return Math.min(bavail * bsize, os.freemem()) >= ROOM_BYTES
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

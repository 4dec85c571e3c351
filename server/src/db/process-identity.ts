import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'

/**
 * Identifies the machine (since it booted) and the container in which a pid is valid. A pid from elsewhere does not
 * show whether that process is running.
 */
export function placeOfPids(): string {
  const boot = readOrEmpty(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = readOrEmpty(() => fs.readlinkSync('/proc/self/ns/pid'))
  return [os.hostname(), boot, namespace].join(' ')
}

/**
 * When the process with this pid started, as text of the operating system; undefined when there is no such process,
 * 'unknown' where the system does not say. The pid alone is not enough: after a crash another process may have it.
 */
export function startOfProcess(pid: number): string | undefined {
  if (!isProcess(pid)) return undefined
  if (process.platform === 'linux') return startFromProc(pid)
  if (process.platform === 'win32') return 'unknown'
  return (
    readOrEmpty(() =>
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim(),
    ) || 'unknown'
  )
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It runs, but belongs to another user
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function startFromProc(pid: number): string | undefined {
  const stat = readOrEmpty(() => fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // The second field is the program's name in parentheses and may hold anything, so count from its end
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const startTicks = fields[19]
  return state === 'Z' ? undefined : startTicks
}

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

import fs from 'node:fs'

/** PostgreSQL's processes outlive its main process for a while. Linux only; elsewhere only the main process is killed. */
export function childrenOf(pid: number): number[] {
  try {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself
  }
}

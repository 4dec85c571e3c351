import { readdirSync, readFileSync } from 'node:fs'
import { memoryMb, resetPeak } from '@landpass/server/test/support/processes/measured-processes'

const NS_PER_MS = 1e6

/** CPU time that a process has used since its start, in milliseconds, all threads together. Linux only. */
export function cpuMs(pid: number): number {
  let ns = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ', 1)[0])
    } catch {
      // The thread has ended since the folder was read.
    }
  }
  return ns / NS_PER_MS
}

/** The same for a process and those that it has started and that still run. Linux only. */
export function familyCpuMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.map(Number).reduce((sum, child) => sum + familyCpuMs(child), cpuMs(pid))
}

/** What a piece of work cost a process. */
export interface ProcessCost {
  readonly cpuMs: number
  /** How far the memory of the process grew above what it had before. */
  readonly memoryMb: number
}

/** Measures what a process spends while `work` runs; it must have nothing else to do meanwhile. */
export async function costOf(pid: number, work: () => Promise<void>): Promise<ProcessCost> {
  resetPeak(pid)
  const memoryBefore = memoryMb(pid, 'VmRSS')
  const cpuBefore = cpuMs(pid)
  await work()
  return {
    cpuMs: cpuMs(pid) - cpuBefore,
    memoryMb: Math.max(0, memoryMb(pid, 'VmHWM') - memoryBefore),
  }
}

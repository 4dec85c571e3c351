import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/**
 * Reads what a process writes to stdout until it ends.
 *
 * @returns its exit code; null where a signal ended it
 * @throws {Error} where it could not be started
 * @example
 * const code = await readLines(spawn('landpass', ['follow']), (line) => …)
 */
export async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<number | null> {
  // First: a process that cannot be started has no stdout, and says so by an event.
  const exited = once(child, 'exit')
  if (!child.stdout) return exitCodeOf(await exited)
  const closed = once(createInterface({ input: child.stdout }).on('line', onLine), 'close')
  const [exit] = await Promise.all([exited, closed])
  return exitCodeOf(exit)
}

function exitCodeOf([code]: unknown[]): number | null {
  return typeof code === 'number' ? code : null
}

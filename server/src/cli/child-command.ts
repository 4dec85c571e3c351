import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The program of the command line. */
export const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))

/** Starts a command in a process of its own. It stops when the channel closes, with this process at the latest. */
export function startCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeOptions, MAIN, ...args], {
    detached: true, // A process group of its own: Ctrl-C reaches this process alone.
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
}

/**
 * Reads what a process writes to stdout until it ends.
 *
 * @returns its exit code; null where a signal ended it
 * @throws {Error} where it could not be started
 */
export async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<number | null> {
  // Not the child's event 'close', which Node.js never emits after `disconnect`. A process that cannot be started has no
  // stdout, and says so by an event.
  const exited = once(child, 'exit')
  const closed = child.stdout && once(createInterface({ input: child.stdout }).on('line', onLine), 'close')
  const [[code]] = await Promise.all([exited, closed])
  return typeof code === 'number' ? code : null
}

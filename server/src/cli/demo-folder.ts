import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^landpass-demo-(\d+)-/

/**
 * Makes a temporary folder for a snapshot of the demo world, and removes those that killed processes have left behind.
 * A process has one at a time.
 *
 * @returns its path
 * @example
 * const folder = await makeDemoFolder() // '/tmp/landpass-demo-4711-x7Qp2a'
 */
export async function makeDemoFolder(): Promise<string> {
  const parent = tmpdir()
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid] = NAME.exec(name) ?? []
    // The folder of another user cannot be removed and stays.
    if (pid !== undefined && !isOtherProcess(Number(pid)))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
  return mkdtemp(join(parent, `landpass-demo-${process.pid}-`))
}

/** Removes a folder of {@link makeDemoFolder}. Where that fails it prints a warning: the world in it is imported or given up. */
export async function removeDemoFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    console.error(`landpass: The folder ${folder} could not be removed: ${(error as Error).message}`)
  }
}

/** Whether a process other than this one has the number. In a container a restarted process gets the same number again. */
function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

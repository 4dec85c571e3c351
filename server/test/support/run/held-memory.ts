import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects what nothing holds any more. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await setTimeout(5)
    collect()
  }
}

/** What `make` returns, and how many bytes of memory it holds. */
export async function heldBytes<T>(make: () => T | Promise<T>): Promise<{ held: T; bytes: number }> {
  await collectGarbage()
  const before = usedBytes()
  const held = await make()
  await collectGarbage()
  return { held, bytes: usedBytes() - before }
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

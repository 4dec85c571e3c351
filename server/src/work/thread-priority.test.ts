import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const FUNCTION = new URL('./thread-priority.js', import.meta.url)
const THREAD = `
  const { parentPort } = require('node:worker_threads')
  const { getPriority } = require('node:os')
  import(${JSON.stringify(FUNCTION.href)}).then(({ lowerThreadPriority }) => {
    const seen = [getPriority()]
    for (let call = 0; call < 5; call++) {
      lowerThreadPriority()
      seen.push(getPriority())
    }
    parentPort.postMessage(seen)
  })`

test.runIf(process.platform === 'linux')('only the thread that calls it gets a lower priority', async () => {
  const before = getPriority()
  const worker = new Worker(THREAD, { eval: true })
  const seen = await new Promise<readonly number[]>((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  )
  await worker.terminate()

  expect(seen[0]).toBe(before)
  expect(seen[1]).toBe(Math.min(before + 5, 19))
  expect(seen.at(-1), 'the lowest, and no error').toBe(19)
  expect(getPriority()).toBe(before)
})

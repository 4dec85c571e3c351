import { expect, test } from 'vitest'
import { MAINNET } from '../networks/known-networks.ts'
import { CallCounters } from '../rpc/call-counters.ts'
import { ThreadFetcher } from './thread-fetcher.ts'

/** A thread that starts, and ends at the first request. */
const ENDS = `import { parentPort } from 'node:worker_threads'
parentPort.postMessage({ kind: 'done', id: 0 })
parentPort.once('message', () => process.exit())`
/** A thread that refuses each request. */
const FAILS = `import { parentPort } from 'node:worker_threads'
parentPort.postMessage({ kind: 'done', id: 0 })
parentPort.on('message', ({ id, kind }) => {
  if (kind === 'close') parentPort.close()
  else parentPort.postMessage({ kind: 'failed', id, message: 'host: no', publicText: 'no', stack: 'of the thread' })
})`

const start = (program: string) =>
  ThreadFetcher.start({
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    task: {
      ...{ folder: '', name: '', firstBlock: 1, urls: [], network: MAINNET },
      ...{ maxRangeBlocks: 1, callsInFlight: 1, finality: undefined },
    },
    counters: new CallCounters(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onSuspectBlocks: () => undefined,
    onStored: () => undefined,
    onWaiting: () => undefined,
    log: () => undefined,
  })

test('where the thread has ended, requests fail, and none waits for ever', async () => {
  const fetcher = await start(ENDS)
  await expect(fetcher.fetchTo(7, false)).rejects.toThrow('has ended')
  await expect(fetcher.dropFrom(7)).rejects.toThrow('has ended')
  await fetcher.close()
})

test('a failure has the text for everyone, and the stack of the thread', async () => {
  const fetcher = await start(FAILS)
  const failure = await fetcher.fetchTo(7, false).catch((error: unknown) => error)
  expect(failure).toMatchObject({ message: 'host: no', publicText: 'no', stack: 'of the thread' })
  await fetcher.close()
})

import { parentPort, workerData } from 'node:worker_threads'
import { publicText } from '../follow/public-text.ts'
import { CallCounters } from '../rpc/call-counters.ts'
import { connectNodes, omissionText } from '../rpc/connect.ts'
import { REAL_TIMING } from '../rpc/timing.ts'
import { type FailedWork, type FetchTask, type FromThread, STARTED, type ToThread } from './fetch-messages.ts'
import { SpoolFetcher } from './log-fetcher.ts'
import { NodeHistory } from './node-history.ts'

/** Requests and stores logs, while the main thread applies those that are stored. */
const { urls, network, maxRangeBlocks, callsInFlight, finality, ...place } = workerData as FetchTask
const stopping = new AbortController()
const { signal } = stopping
const counters = new CallCounters()
const nodes = connectNodes({
  ...{ urls, network, signal, counters, finality, maxInFlight: 2 * callsInFlight },
  onOmission: (shown, block) => post({ kind: 'line', line: omissionText(shown, block) }),
})
const source = new NodeHistory({
  nodes,
  network,
  maxRangeBlocks,
  callsInFlight,
  timing: REAL_TIMING,
  signal,
  onFailure: (error) => post({ kind: 'waits', reason: nodes.withoutAddresses(publicText(error)) }),
})
const opening = SpoolFetcher.open({
  ...place,
  source,
  network,
  steadyMs: () => performance.now(),
  signal,
  onProgress: (progress) => {
    post({ kind: 'progress', progress })
    postCalls()
  },
  onSuspectBlocks: (blocks) => post({ kind: 'suspects', blocks }),
  onStored: (last) => post({ kind: 'stored', last }),
  log: (line) => post({ kind: 'line', line }),
})
void answer(STARTED, () => opening.then(() => false))
parentPort!.on('message', (message: ToThread) => void answer(message.id, () => work(message)))

/** @returns whether logs were missing, where they were requested again */
async function work(message: ToThread): Promise<boolean> {
  const fetcher = await opening
  if (message.kind === 'fetch') await fetcher.fetchTo(message.last, message.mayBeEmpty)
  else if (message.kind === 'again') return fetcher.readAgain(message.blocks)
  else if (message.kind === 'drop') await fetcher.dropFrom(message.from)
  else {
    stopping.abort()
    await fetcher.close()
    parentPort!.close()
  }
  return false
}

async function answer(id: number, working: () => Promise<boolean>): Promise<void> {
  try {
    const hasFound = await working()
    postCalls()
    post({ kind: 'done', id, hasFound })
  } catch (error) {
    postCalls()
    post({ kind: 'failed', id, ...failureOf(error) })
  }
}

function failureOf(error: unknown): FailedWork {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { message, stack, publicText: nodes.withoutAddresses(publicText(error)) }
}

function postCalls(): void {
  post({ kind: 'calls', calls: counters.take() })
}

function post(message: FromThread): void {
  parentPort!.postMessage(message)
}

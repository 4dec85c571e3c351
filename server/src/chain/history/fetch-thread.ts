import { parentPort, workerData } from 'node:worker_threads'
import type { ChainHead } from '../../config/config.ts'
import type { Network } from '../chain-types.ts'
import { NodeSource } from '../follow/node-source.ts'
import { filterAddresses } from '../logs/log-filter.ts'
import { connectNodes } from '../rpc/connect.ts'
import { fetchHistory, type HistoryProgress } from './fetch-history.ts'
import { NodeHistory } from './node-history.ts'
import { parcelTransfer } from './parcel-transfer.ts'
import { Spool } from './spool.ts'

/** What the thread is started with: see {@link HistoryFetcher}. */
export interface FetchTask {
  readonly urls: readonly string[]
  readonly network: Network
  readonly head: ChainHead
  readonly maxRangeBlocks: number
  readonly callsInFlight: number
  readonly folder: string
  readonly name: string
  readonly firstBlock: number
}

export type ToThread =
  /** Store all logs up to this block. */
  | { readonly kind: 'fetch'; readonly last: number }
  /** End all calls, close the file, and end. */
  | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'opened' }
  | { readonly kind: 'progress'; readonly progress: HistoryProgress }
  | { readonly kind: 'suspects'; readonly blocks: readonly number[] }
  | { readonly kind: 'fetched' }
  | { readonly kind: 'failed'; readonly message: string }

/** Requests and stores logs, while the main thread applies those that are stored. */
const { urls, network, head, maxRangeBlocks, callsInFlight, folder, name, firstBlock } =
  workerData as FetchTask
const stopping = new AbortController()
const { signal } = stopping
const nodes = connectNodes({ urls, network, signal, maxInFlight: 2 * callsInFlight })
const { headerByNumber } = new NodeSource({
  nodes,
  addresses: filterAddresses(network),
  head,
  readRange: () => Promise.reject(new Error('the head is not followed here')),
})
const { ranges, headersByHash, hasNoParcels } = new NodeHistory({
  nodes,
  network,
  maxRangeBlocks,
  callsInFlight,
})

let spool: Spool | undefined
let fetches = 0
let working: Promise<void> = open()
parentPort!.on('message', (message: ToThread) => {
  if (message.kind === 'close') stopping.abort()
  working = working.then(() => (message.kind === 'close' ? close() : fetch(message.last)))
})

async function open(): Promise<void> {
  try {
    spool = await Spool.open(folder, { name, firstBlock })
    post({ kind: 'opened' })
  } catch (error) {
    fail(error)
  }
}

async function fetch(last: number): Promise<void> {
  try {
    await fetchHistory({
      source: { ranges, headersByHash, hasNoParcels, headerByNumber },
      spool: spool!,
      blocks: { first: firstBlock, last },
      areApplied: fetches++ > 0,
      parcelTransfer: (log) => parcelTransfer(network, log),
      signal,
      steadyMs: () => performance.now(),
      onProgress: (progress) => post({ kind: 'progress', progress }),
      onSuspectBlocks: (blocks) => post({ kind: 'suspects', blocks }),
    })
    post({ kind: 'fetched' })
  } catch (error) {
    fail(error)
  }
}

async function close(): Promise<void> {
  await spool?.close()
  parentPort!.close()
}

function fail(error: unknown): void {
  post({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
}

function post(message: FromThread): void {
  parentPort!.postMessage(message)
}

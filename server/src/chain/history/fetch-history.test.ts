import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RawLog } from '../chain-types.ts'
import { type FetchOptions, fetchHistory, type HistoryProgress, type HistorySource } from './fetch-history.ts'
import { Spool } from './spool.ts'

const BLOCKS = { first: 100, last: 199 }
let folder: string
let spool: Spool
const openSpool = () => Spool.open(folder, { name: '1-abc', firstBlock: BLOCKS.first })
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'history-'))
  spool = await openSpool()
})
afterEach(async () => {
  await spool.close()
  await rm(folder, { recursive: true })
})

/** A node whose ranges have ten blocks, with one log each. */
class Node implements HistorySource {
  readonly asked: number[] = []
  /** Below this block it answers that there are no logs. */
  oldestBlock = 0
  supply = 1
  knowsTimes = true
  firstTransferAt = 100

  readonly ranges: HistorySource['ranges'] = async function* (
    this: Node,
    { first, last }: { first: number; last: number },
  ) {
    for (let at = first; at <= last; at += 10) {
      this.asked.push(at)
      yield { first: at, last: Math.min(at + 9, last), logs: at < this.oldestBlock ? [] : [this.logAt(at)] }
    }
  }.bind(this)

  readonly headersByHash = async (hashes: readonly string[]) =>
    hashes.map((hash) => ({ hash, number: Number(hash), parentHash: '', timeS: 12 * Number(hash) }))

  readonly hasNoParcels = async () => this.supply === 0

  private logAt(block: number): RawLog {
    return {
      address: 'land',
      topics: [block === this.firstTransferAt ? 'first' : 'later'],
      data: '0x',
      blockNumber: block,
      blockHash: String(block),
      txHash: '0x0c',
      txIndex: 0,
      logIndex: 0,
      blockTimeS: this.knowsTimes ? 12 * block : undefined,
    }
  }
}

const fetch = (source: HistorySource, options: Partial<FetchOptions> = {}) =>
  fetchHistory({
    source,
    spool,
    blocks: BLOCKS,
    parcelTransfer: ({ topics }) => topics[0] as 'first' | 'later',
    signal: new AbortController().signal,
    steadyMs: () => 0,
    onProgress: () => undefined,
    ...options,
  })

test('a process that was killed asks only for what is missing, and says how far it is', async () => {
  const node = new Node()
  const stop = new AbortController()
  const shown: HistoryProgress[] = []
  let nowMs = 0
  const onProgress = (progress: HistoryProgress) => {
    shown.push(progress)
    if (progress.block === 129) stop.abort(new Error('killed'))
  }
  const steadyMs = () => nowMs++ * 500
  await expect(fetch(node, { signal: stop.signal, onProgress, steadyMs })).rejects.toThrow('killed')
  await spool.close()
  spool = await openSpool()
  node.asked.length = 0
  await fetch(node)

  expect(node.asked).toEqual([130, 140, 150, 160, 170, 180, 190])
  expect(shown.at(-1)).toEqual({
    block: 129,
    last: 199,
    percent: 30,
    logs: 3,
    logsPerSecond: 2,
    secondsLeft: 4,
  })
  node.asked.length = 0
  await fetch(node)
  expect(node.asked).toEqual([])
})

test('times that the node does not give come from the headers', async () => {
  const node = new Node()
  node.knowsTimes = false
  await fetch(node)
  for await (const { logs } of spool.ranges())
    for (const log of logs) expect(log.blockTimeS).toBe(12 * log.blockNumber)
})

test('a node without the old blocks is recognised, and nothing of it stays', async () => {
  const node = new Node()
  node.oldestBlock = 150
  await expect(fetch(node)).rejects.toThrow('in block 150, is not of a new parcel')
  expect(spool.nextBlock).toBe(BLOCKS.first)

  node.oldestBlock = 1_000
  await expect(fetch(node)).rejects.toThrow('although the registry has parcels')
  await expect(fetch(node)).rejects.toThrow('needs a node that keeps all logs')
  expect(spool.nextBlock).toBe(BLOCKS.first)
})

test('an empty history is believed where the registry has no parcels', async () => {
  const node = new Node()
  node.oldestBlock = 1_000
  node.supply = 0
  await fetch(node)
  expect(spool.nextBlock).toBe(200)
})

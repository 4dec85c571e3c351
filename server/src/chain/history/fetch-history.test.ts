import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RawLog } from '../chain-types.ts'
import { ContradictionError } from '../follow/chain-source.ts'
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
  /** From this block on, it has the blocks of another branch. */
  otherFrom = Number.POSITIVE_INFINITY
  suspectBlocks: readonly number[] = []

  readonly ranges: HistorySource['ranges'] = async function* (
    this: Node,
    { first, last }: { first: number; last: number },
  ) {
    for (let at = first; at <= last; at += 10) {
      this.asked.push(at)
      const end = Math.min(at + 9, last)
      yield {
        first: at,
        last: end,
        lastHash: this.hashOf(end),
        logs: at < this.oldestBlock ? [] : [this.logAt(at)],
        suspectBlocks: this.suspectBlocks.filter((block) => block >= at && block <= end),
      }
    }
  }.bind(this)

  readonly headerByNumber = async (number: number) => {
    if (number > this.lastBlock) throw new ContradictionError(`no node has block ${number}`)
    return { number, hash: this.hashOf(number), parentHash: '', timeS: 12 * number }
  }
  lastBlock = 1_000

  readonly headersByHash = async (hashes: readonly string[]) =>
    hashes.map((hash) => ({ hash, number: Number(hash), parentHash: '', timeS: 12 * Number(hash) }))

  readonly hasNoParcels = async () => this.supply === 0

  private hashOf(block: number): string {
    return String(block + (block < this.otherFrom ? 0 : 10_000))
  }

  private logAt(block: number): RawLog {
    return {
      address: 'land',
      topics: [block === this.firstTransferAt ? 'first' : 'later'],
      data: '0x',
      blockNumber: block,
      blockHash: this.hashOf(block),
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
    onSuspectBlocks: () => undefined,
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

async function storedHashes(): Promise<string[]> {
  const hashes: string[] = []
  for await (const { logs } of spool.ranges()) for (const { blockHash } of logs) hashes.push(blockHash)
  return hashes
}

test.each([
  { otherFrom: 175, asked: [170, 180, 190] },
  { otherFrom: 100, asked: [100, 110, 120, 130, 140, 150, 160, 170, 180, 190] },
])(
  'after broken finality from block $otherFrom on, no log of the other branch stays',
  async ({ otherFrom, asked }) => {
    const node = new Node()
    await fetch(node)
    node.otherFrom = otherFrom
    node.asked.length = 0
    await fetch(node)

    expect(node.asked).toEqual(asked)
    const clean = asked.map((block) => String(block >= otherFrom ? block + 10_000 : block))
    expect((await storedHashes()).slice(-asked.length)).toEqual(clean)
    expect(spool.nextBlock).toBe(200)
  },
)

test('final blocks that are replaced while they are read make no mixture', async () => {
  const node = new Node()
  const onProgress = ({ block }: HistoryProgress) => {
    if (block === 159) node.otherFrom = 140
  }
  await expect(fetch(node, { onProgress })).rejects.toThrow('were replaced while the history was read')
  await fetch(node)
  expect((await storedHashes()).slice(3)).toEqual(
    [130, 10_140, 10_150, 10_160, 10_170, 10_180, 10_190].map(String),
  )
})

test('a node that does not have the stored blocks is not believed, and nothing is deleted', async () => {
  const node = new Node()
  await fetch(node)
  node.lastBlock = 150
  await expect(fetch(node)).rejects.toThrow('reach block 159, which the node does not have')
  expect(spool.nextBlock).toBe(200)
})

test('blocks whose logs may be incomplete are reported', async () => {
  const node = new Node()
  node.suspectBlocks = [117, 150]
  const suspects: number[] = []
  await fetch(node, { onSuspectBlocks: (blocks) => suspects.push(...blocks) })
  expect(suspects).toEqual([117, 150])
})

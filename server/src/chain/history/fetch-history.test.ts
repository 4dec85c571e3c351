import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BlockRef, RawLog } from '../chain-types.ts'
import { ContradictionError } from '../follow/chain-source.ts'
import { PackedLogs } from '../packed-logs.ts'
import {
  type FetchOptions,
  fetchHistory,
  type HistoryProgress,
  type HistorySource,
  type RangesRequest,
} from './fetch-history.ts'
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
  /** The blocks of the logs that nodes had to have. */
  readonly known: (number | undefined)[] = []
  /** Below this block it answers that there are no logs. */
  oldestBlock = 0
  supply: number | undefined = 1
  knowsTimes = true
  firstTransferAt = 100
  /** From this block on, it has the blocks of another branch. */
  otherFrom = Number.POSITIVE_INFINITY
  suspectBlocks: readonly number[] = []

  readonly ranges: HistorySource['ranges'] = async function* (
    this: Node,
    { blocks: { first, last }, known }: RangesRequest,
  ) {
    this.known.push(known?.blockNumber)
    for (let at = first; at <= last; at += 10) {
      this.asked.push(at)
      const end = Math.min(at + 9, last)
      yield {
        first: at,
        last: end,
        lastHash: this.hashOf(end),
        logs: PackedLogs.from(at < this.oldestBlock ? [] : [this.logAt(at)]),
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

  readonly avoidLastNode = () => undefined

  readonly parcelCount = async ({ number }: BlockRef) => (number < this.firstTransferAt ? 0 : this.supply)

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

/** Each look at the clock is a second later, so that each range is a frame of its own. */
function tickingClock(): () => number {
  let nowMs = 0
  return () => (nowMs += 1_000)
}

const fetch = (source: HistorySource, options: Partial<FetchOptions> = {}) =>
  fetchHistory({
    source,
    spool,
    blocks: BLOCKS,
    addresses: ['land'],
    parcelTransfer: ({ topics }) => topics[0] as 'first' | 'later',
    mayBeEmpty: false,
    areApplied: false,
    signal: new AbortController().signal,
    steadyMs: tickingClock(),
    onProgress: () => undefined,
    onSuspectBlocks: () => undefined,
    onStored: () => undefined,
    ...options,
  })

test('a process that was killed asks only for what is missing, and says how far it is', async () => {
  const node = new Node()
  const stop = new AbortController()
  const shown: HistoryProgress[] = []
  const onProgress = (progress: HistoryProgress) => {
    shown.push(progress)
    if (progress.block === 129) stop.abort(new Error('killed'))
  }
  await expect(fetch(node, { signal: stop.signal, onProgress })).rejects.toThrow('killed')
  await spool.close()
  spool = await openSpool()
  node.asked.length = 0
  await fetch(node)

  expect(node.asked).toEqual([130, 140, 150, 160, 170, 180, 190])
  // Where the first parcels are stored, a node need not have them any more
  expect(node.known).toEqual([undefined, 120])
  expect(shown.at(-1)).toEqual({
    block: 129,
    last: 199,
    percent: 30,
    logs: 3,
    logsPerSecond: expect.any(Number),
    secondsLeft: expect.any(Number),
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
  await expect(fetch(node)).rejects.toThrow('and the registry has 1 parcels')
  await expect(fetch(node)).rejects.toThrow('needs a node that keeps all logs')
  node.supply = undefined
  await expect(fetch(node)).rejects.toThrow('does not say how many parcels there are')
  expect(spool.nextBlock).toBe(BLOCKS.first)
})

test('ranges of a node without the old blocks that wait for their frame are not stored either', async () => {
  const node = new Node()
  node.oldestBlock = 150
  await expect(fetch(node, { steadyMs: () => 0 })).rejects.toThrow('is not of a new parcel')
  expect(spool.nextBlock).toBe(BLOCKS.first)
})

test('an empty history is believed where the registry has no parcels', async () => {
  const node = new Node()
  node.oldestBlock = 1_000
  node.supply = 0
  await fetch(node)
  expect(spool.nextBlock).toBe(200)
})

test.each([
  { state: 'that the node has', firstTransferAt: 500, supply: 1 },
  { state: 'that the node has dropped', firstTransferAt: 100, supply: undefined },
])(
  'a history that is to end before the first parcel is stored, at a state $state',
  async ({ firstTransferAt, supply }) => {
    const node = new Node()
    Object.assign(node, { oldestBlock: 500, firstTransferAt, supply })
    await fetch(node, { mayBeEmpty: true })
    expect(spool.nextBlock).toBe(200)
  },
)

test('ranges of a few blocks are joined, and progress is shown once a second at most', async () => {
  const node = new Node()
  const blocks = { first: 100, last: 6_999 }
  const shown: HistoryProgress[] = []
  node.lastBlock = 7_000
  await fetch(node, { blocks, steadyMs: () => 0, onProgress: (progress) => shown.push(progress) })

  const stored: { first: number; last: number; logs: number }[] = []
  for await (const { first, last, logs } of spool.ranges()) stored.push({ first, last, logs: logs.length })
  expect(stored).toEqual([
    { first: 100, last: 2_099, logs: 200 },
    { first: 2_100, last: 4_099, logs: 200 },
    { first: 4_100, last: 6_099, logs: 200 },
    { first: 6_100, last: 6_999, logs: 90 },
  ])
  expect(shown.map(({ block }) => block)).toEqual([2_099, 6_999])
})

test('what was read before a failure stays, also where it is no whole frame', async () => {
  const node = new Node()
  const read = node.ranges
  const ranges: HistorySource['ranges'] = async function* (request) {
    for await (const range of read(request)) {
      if (range.first >= 150) throw new Error('the node is gone')
      yield range
    }
  }
  const failing: HistorySource = { ...node, ranges }
  await expect(fetch(failing, { steadyMs: () => 0 })).rejects.toThrow('the node is gone')
  expect(spool.nextBlock).toBe(150)
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

test('after broken finality no range of the other branch stays, however many they are', async () => {
  const node = new Node()
  const blocks = { first: 100, last: 599 }
  await fetch(node, { blocks })
  node.otherFrom = 110
  await fetch(node, { blocks })

  expect(await storedHashes()).toEqual(['100', ...Array.from({ length: 49 }, (_, i) => `${10_110 + 10 * i}`)])
})

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

test('a range of another branch is found also where many ranges of the chain came after it', async () => {
  const node = new Node()
  const blocks = { first: 100, last: 599 }
  // Finality is broken while three ranges are read, and whole again long before the end.
  const onProgress = ({ block }: HistoryProgress) => {
    if (block === 119) node.otherFrom = 115
    if (block === 149) node.otherFrom = Number.POSITIVE_INFINITY
  }
  await expect(fetch(node, { blocks, onProgress })).rejects.toThrow(
    'were replaced while the history was read',
  )
  await fetch(node, { blocks })
  expect(await storedHashes()).toEqual(Array.from({ length: 50 }, (_, i) => String(100 + 10 * i)))
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

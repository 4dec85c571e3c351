import { expect } from 'vitest'
import type { BlockHeader, BlockRef, RawLog } from '../../../src/chain/chain-types.ts'
import type { BlockRange, ChainSource } from '../../../src/chain/follow/chain-source.ts'
import { Follower } from '../../../src/chain/follow/follower.ts'
import type { ChainPosition, ChainStep, LandWriter } from '../../../src/chain/follow/land-writer.ts'
import { PositionMovedError } from '../../../src/land/changes/chain-position.ts'
import type { LandEvent } from '../../../src/land/events/land-event.ts'

/**
 * A chain that branches, as a node shows it. The logs of a block are made from its hash, so every branch has its own.
 */
export class BranchingChain {
  blocks: BlockHeader[] = [headerOf(100, 'a', undefined)]
  finalized = 100
  /** Blocks whose logs the node does not show when they are new. */
  readonly swallowed = new Set<string>()
  /** Blocks of which it is not known yet whether a log is missing. */
  readonly unconfirmed = new Set<string>()
  /** Ranges are answered without the last log. */
  cutsRanges = false
  /** The nodes that answer the first and the second half of a range, where those are other ones. */
  otherNode: BranchingChain | undefined
  otherNodeEnds: BranchingChain | undefined
  /** What reading ranges fails with. */
  failsRanges: Error | undefined
  /** How often each range is tried. */
  triesOfRange = 1
  /** Blocks that another node has. */
  otherNodeHas: (block: BlockRef) => boolean = () => false
  readonly refutations: string[] = []
  readonly calls: string[] = []
  /** The node fails after so many calls. */
  failsAfter = Number.POSITIVE_INFINITY
  private readonly byHash = new Map<string, BlockHeader>(this.blocks.map((block) => [block.hash, block]))

  get head(): BlockHeader {
    return this.blocks.at(-1)!
  }

  grow(count: number, branch: string): void {
    for (let i = 0; i < count; i++) this.add(headerOf(this.head.number + 1, branch, this.head))
  }

  /** Replaces the newest blocks. */
  reorganise(depth: number, count: number, branch: string): void {
    this.blocks = this.blocks.slice(0, -depth)
    this.grow(count, branch)
  }

  private add(block: BlockHeader): void {
    this.blocks.push(block)
    this.byHash.set(block.hash, block)
  }

  at(number: number): BlockHeader {
    return this.blocks[number - this.blocks[0]!.number]!
  }

  source(): ChainSource {
    const answer =
      <Args extends unknown[], T>(name: string, work: (...args: Args) => T | Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if (this.calls.length >= this.failsAfter) throw new Error('the node is away')
        this.calls.push(name)
        return work(...args)
      }
    return {
      heads: answer('heads', () => ({
        latest: this.head,
        head: this.head,
        finalized: this.at(this.finalized),
      })),
      headerByHash: answer('headerByHash', (hash: string) => this.byHash.get(hash)!),
      headerByNumber: answer('headerByNumber', (number: number) => this.at(number)),
      hasBlock: answer(
        'hasBlock',
        (block: BlockRef) => this.at(block.number)?.hash === block.hash || this.otherNodeHas(block),
      ),
      refuteHead: (reason) => this.refutations.push(reason),
      logsOfBlock: answer('logsOfBlock', (block: BlockHeader) =>
        this.swallowed.has(block.hash) ? [] : logsOf(block),
      ),
      confirmedLogs: answer('logsOfBlock', (block: BlockHeader) =>
        this.unconfirmed.has(block.hash) ? undefined : this.swallowed.has(block.hash) ? [] : logsOf(block),
      ),
      logsOfRange: answer('logsOfRange', async (range: BlockRange, beforeEachTry?: () => Promise<void>) => {
        for (let tries = 0; tries < this.triesOfRange; tries++) await beforeEachTry?.()
        if (this.failsRanges) throw this.failsRanges
        const middle = range.first + Math.floor((range.last - range.first) / 2)
        const parts = [
          { chain: this.otherNode ?? this, first: range.first, last: middle },
          { chain: this.otherNodeEnds ?? this, first: middle + 1, last: range.last },
        ].filter(({ first, last }) => first <= last)
        const logs = parts.flatMap(({ chain, first, last }) =>
          chain.blocks.filter(({ number }) => number >= first && number <= last).flatMap(logsOf),
        )
        return {
          logs: logs.slice(0, this.cutsRanges ? -1 : undefined),
          ends: parts.map(({ chain, last }) => chain.at(last)),
        }
      }),
      provenLogs: answer('provenLogs', (block: BlockHeader) => logsOf(block)),
    }
  }
}

function headerOf(number: number, branch: string, parent: BlockHeader | undefined): BlockHeader {
  const hash = `${branch}${number}-${parent?.hash.length ?? 0}${parent?.hash.slice(0, 6) ?? ''}`
  return { number, hash, parentHash: parent?.hash ?? 'before', timeS: 1_000 + 12 * number }
}

/** One log in each block whose number is not divisible by 3. */
export function logsOf(block: BlockHeader): readonly RawLog[] {
  if (block.number % 3 === 0) return []
  const common = { address: '0xland', data: '0x', blockNumber: block.number, blockHash: block.hash }
  return [
    {
      ...common,
      topics: [block.hash],
      txHash: `tx of ${block.hash}`,
      txIndex: 0,
      logIndex: 7,
      blockTimeS: undefined,
    },
  ]
}

/** The tables in memory: rows are the hashes of the blocks that were applied, in their order. */
export class MemoryLand implements LandWriter {
  position: ChainPosition
  rows: readonly string[] = []
  readonly shown: (readonly string[])[] = []
  transactions = 0
  failsOnce = false

  constructor(start: BlockHeader) {
    this.position = { worldId: 1, epoch: 1, blocks: [{ ...start, logsDigest: '' }] }
  }

  lead: LandWriter['lead'] = async () => 'leads'
  readonly renew = () => this.lead()
  readonly readPosition = async () => this.position
  readonly readNewest = async () => this.position.blocks.at(-1)

  readonly commit = async (step: ChainStep): Promise<void> => {
    const { worldId, epoch, blocks } = this.position
    const isExpected =
      step.worldId === worldId && step.epoch === epoch && step.from.hash === blocks.at(-1)!.hash
    if (!isExpected) throw new PositionMovedError('another block', 'as a test')
    if (this.failsOnce) {
      this.failsOnce = false
      throw new Error('the connection was lost')
    }
    const { undoTo } = step
    if (undoTo && undoTo.number < blocks[0]!.number) expect.fail('a final block would be undone')
    const kept = undoTo ? blocks.filter(({ number }) => number <= undoTo.number) : blocks
    const isUndone = (row: string) =>
      blocks.some(({ hash }) => hash === row) && !kept.some(({ hash }) => hash === row)
    this.rows = [
      ...this.rows.filter((row) => !isUndone(row)),
      ...step.blocks.flatMap(({ events }) => events.map(({ at }) => at.txHash)),
    ]
    const all = [...kept, ...step.blocks]
    this.position = { worldId, epoch, blocks: all.filter(({ number }) => number >= step.finalized.number) }
    this.transactions++
    this.shown.push(this.rows)
  }
}

/** The event of a log says nothing but which block it was in. */
async function eventsOf(logs: readonly RawLog[], { number, timeS }: BlockHeader) {
  return logs.map(({ blockHash, logIndex }): LandEvent => {
    const at = { blockNumber: number, timeMs: timeS * 1_000, txHash: blockHash, logIndex }
    return { at, kind: 'rent-ended', asset: { type: 'parcel', id: '0,0' } }
  })
}

export function follow(chain: BranchingChain, land = new MemoryLand(chain.head)) {
  let nowMs = 0
  const follower = new Follower({
    source: chain.source(),
    writer: land,
    eventsOf,
    steadyMs: () => nowMs,
    maxRangeBlocks: 100,
  })
  const toEnd = async () => {
    nowMs += 10_000
    for (let steps = 0; steps < 200; steps++) if ((await follower.step()) !== 'again') return
    expect.fail('it never ends')
  }
  return { follower, land, toEnd, pass: (ms: number) => (nowMs += ms) }
}

export const rowsOf = (chain: BranchingChain) =>
  chain.blocks.slice(1).flatMap((block) => (logsOf(block).length > 0 ? [block.hash] : []))

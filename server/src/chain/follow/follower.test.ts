import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PositionMovedError } from '../../land/changes/chain-position.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import { type BlockRange, type ChainSource, ContradictionError } from './chain-source.ts'
import { Follower } from './follower.ts'
import type { ChainPosition, ChainStep, LandDoor } from './land-door.ts'

/**
 * A chain that branches, as a node shows it. The logs of a block are made from its hash, so every branch has its own.
 */
class BranchingChain {
  blocks: BlockHeader[] = [headerOf(100, 'a', undefined)]
  finalized = 100
  /** Blocks whose logs the node does not show when they are new. */
  readonly swallowed = new Set<string>()
  /** Ranges are answered without the last log. */
  cutsRanges = false
  /** The nodes that answer the first and the second half of a range, where those are other ones. */
  otherNode: BranchingChain | undefined
  otherNodeEnds: BranchingChain | undefined
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
      <Args extends unknown[], T>(name: string, work: (...args: Args) => T) =>
      async (...args: Args): Promise<T> => {
        if (this.calls.length >= this.failsAfter) throw new Error('the node is away')
        this.calls.push(name)
        return work(...args)
      }
    return {
      heads: answer('heads', () => ({ head: this.head, finalized: this.at(this.finalized) })),
      headerByHash: answer('headerByHash', (hash: string) => this.byHash.get(hash)!),
      headerByNumber: answer('headerByNumber', (number: number) => this.at(number)),
      logsOfBlock: answer('logsOfBlock', (block: BlockHeader) =>
        this.swallowed.has(block.hash) ? [] : logsOf(block),
      ),
      logsOfRange: answer('logsOfRange', (range: BlockRange) => {
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
function logsOf(block: BlockHeader): readonly RawLog[] {
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
class MemoryLand implements LandDoor {
  position: ChainPosition
  rows: readonly string[] = []
  readonly shown: (readonly string[])[] = []
  transactions = 0
  failsOnce = false

  constructor(start: BlockHeader) {
    this.position = { worldId: 1, epoch: 1, blocks: [{ ...start, logsDigest: '' }] }
  }

  readonly lead = async () => 'leads' as const
  readonly readPosition = async () => this.position

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

function follow(chain: BranchingChain, land = new MemoryLand(chain.head)) {
  let nowMs = 0
  const follower = new Follower({
    source: chain.source(),
    door: land,
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

const rowsOf = (chain: BranchingChain) =>
  chain.blocks.slice(1).flatMap((block) => (logsOf(block).length > 0 ? [block.hash] : []))

test('applies each new block once, and asks for nothing else', async () => {
  const chain = new BranchingChain()
  const { land, toEnd } = follow(chain)
  chain.grow(2, 'a')
  await toEnd()
  chain.calls.length = 0
  chain.grow(1, 'a')
  await toEnd()
  await toEnd()

  expect(land.rows).toEqual(rowsOf(chain))
  expect(chain.calls).toEqual(['heads', 'logsOfBlock', 'heads'])
})

test.each([1, 5, 64])(
  'a reorganisation of %i blocks is undone and redone in one transaction',
  async (depth) => {
    const chain = new BranchingChain()
    const { land, follower, toEnd } = follow(chain)
    chain.grow(70, 'a')
    await toEnd()
    const [before, transactions] = [land.rows, land.transactions]
    chain.reorganise(depth, depth + 1, 'b')
    await toEnd()

    expect(land.rows).toEqual(rowsOf(chain))
    expect(land.transactions).toBe(transactions + 1)
    expect(land.shown.at(-2)).toEqual(before)
    expect([...follower.counts.undone]).toEqual([[depth, 1]])
  },
)

test('a node that lags is no reorganisation, and a lower head on another branch is one', async () => {
  const chain = new BranchingChain()
  const { land, toEnd } = follow(chain)
  chain.grow(10, 'a')
  await toEnd()
  const { rows } = land
  const whole = chain.blocks
  chain.blocks = whole.slice(0, 6)
  await toEnd()
  expect(land.rows).toEqual(rows)

  chain.blocks = whole
  chain.reorganise(5, 2, 'b')
  await toEnd()
  expect(land.rows).toEqual(rowsOf(chain))
})

test('what was read before a call failed is not requested again, so a node that often fails is enough', async () => {
  const chain = new BranchingChain()
  const { follower, land } = follow(chain)
  chain.grow(60, 'a')
  chain.failsAfter = 20
  let failures = 0
  while (land.position.blocks.at(-1)!.number < 159 && failures < 20) {
    chain.calls.length = 0
    await follower.step().catch(() => failures++)
  }

  expect(failures).toBe(6) // 60 headers and 60 blocks in parts of 20 calls, of which one is for the head.
  expect(land.rows).toEqual(rowsOf(chain))
})

test('a branch that leaves below the final block stops the follower, until the node is right again', async () => {
  const chain = new BranchingChain()
  const { land, follower, toEnd } = follow(chain)
  chain.grow(20, 'a')
  chain.finalized = 110
  await toEnd()
  const [{ rows }, whole] = [land, chain.blocks]
  chain.reorganise(15, 30, 'b')

  expect(await follower.step()).toBe('stopped')
  expect(follower.reason).toContain('below block 110')
  expect(land.rows).toEqual(rows)

  chain.blocks = whole
  chain.grow(1, 'a')
  await toEnd()
  expect(follower.reason).toBeUndefined()
  expect(land.rows).toEqual(rowsOf(chain))
})

test('a log that a node swallowed is found when its block becomes final', async () => {
  const chain = new BranchingChain()
  const { land, follower, toEnd } = follow(chain)
  chain.grow(4, 'a')
  chain.swallowed.add(chain.head.hash)
  chain.grow(10, 'a')
  await toEnd()
  expect(land.rows).not.toEqual(rowsOf(chain))

  chain.finalized = 108
  await toEnd()
  expect(land.rows).toEqual(rowsOf(chain))
  expect(follower.counts.repaired).toBeGreaterThan(0)
  await toEnd()
  expect(land.position.blocks[0]!.number).toBe(108)
})

test('a range that lacks a log holds up finality, and not the head', async () => {
  const chain = new BranchingChain()
  const { land, follower, toEnd, pass } = follow(chain)
  chain.grow(10, 'a')
  chain.finalized = 107
  chain.cutsRanges = true
  await toEnd()
  chain.grow(1, 'a')
  await toEnd()
  expect(land.rows).toEqual(rowsOf(chain))
  expect(land.position.blocks[0]!.number).toBe(100)
  expect(follower.finalityProblem).toContain('were incomplete in a range')

  chain.cutsRanges = false
  pass(30_000)
  await toEnd()
  expect(land.position.blocks[0]!.number).toBe(107)
  expect(follower.finalityProblem).toBeUndefined()
  expect(follower.counts).toMatchObject({ failedLooks: 1, repaired: 0 })
})

test('final blocks that are missing are read by ranges', async () => {
  const chain = new BranchingChain()
  const { land, toEnd } = follow(chain)
  chain.grow(5, 'a')
  await toEnd()
  chain.grow(1_000, 'a')
  chain.finalized = 1_090
  chain.calls.length = 0
  await toEnd()

  expect(land.rows).toEqual(rowsOf(chain))
  expect(land.position.blocks[0]!.number).toBe(1_090)
  expect(chain.calls.filter((call) => call === 'logsOfBlock')).toHaveLength(15)
})

/** Another node's branch, which leaves the chain after its first block. */
function foreignBranchOf(chain: BranchingChain): BranchingChain {
  const foreign = new BranchingChain()
  foreign.grow(chain.blocks.length - 1, 'foreign')
  return foreign
}

test.each([
  { foreignPart: 'whole', halves: [true, true] },
  { foreignPart: 'first half', halves: [true, false] },
  { foreignPart: 'second half', halves: [false, true] },
])('a range whose $foreignPart is of another chain is not stored, and is read again', async ({ halves }) => {
  const chain = new BranchingChain()
  const { land, follower, toEnd } = follow(chain)
  chain.grow(200, 'a')
  chain.finalized = 200
  const foreign = foreignBranchOf(chain)
  if (halves[0]) chain.otherNode = foreign
  if (halves[1]) chain.otherNodeEnds = foreign

  await expect(follower.step()).rejects.toThrow(ContradictionError)
  await expect(follower.step()).rejects.toThrow('is of another chain')
  expect(land.rows).toEqual([])
  expect(land.position.blocks.at(-1)!.number).toBe(100)

  chain.otherNode = undefined
  chain.otherNodeEnds = undefined
  await toEnd()
  expect(land.rows).toEqual(rowsOf(chain))
})

test('logs of another chain in a range that ends with the right block are not stored', async () => {
  const chain = new BranchingChain()
  const { land, follower } = follow(chain)
  chain.grow(200, 'a')
  chain.finalized = 200
  const foreign = foreignBranchOf(chain)
  // The node's last blocks are the right ones, as behind a balancer.
  foreign.blocks = foreign.blocks.map((block) => (block.number % 50 === 0 ? chain.at(block.number) : block))
  chain.otherNode = foreign

  await expect(follower.step()).rejects.toThrow('the logs of another block')
  expect(land.rows).toEqual([])
})

test('a second look at another chain makes nothing final, although the logs are the same', async () => {
  const chain = new BranchingChain()
  const { land, follower, toEnd, pass } = follow(chain)
  chain.grow(3, 'a') // Block 102 has no log.
  chain.finalized = 102
  const foreign = foreignBranchOf(chain)
  chain.otherNodeEnds = foreign
  await toEnd()
  expect(land.rows).toEqual(rowsOf(chain))
  expect(land.position.blocks[0]!.number).toBe(100)
  expect(follower.finalityProblem).toContain('is of another chain')

  chain.otherNodeEnds = undefined
  pass(30_000)
  await toEnd()
  expect(land.position.blocks[0]!.number).toBe(102)
})

test('blocks that change nothing move the stored position only every few seconds', async () => {
  const chain = new BranchingChain()
  const { land, follower, pass } = follow(chain)
  chain.grow(1, 'a')
  await follower.step()
  chain.grow(1, 'a') // Block 102 has no log.
  await follower.step()
  expect(land.position.blocks.at(-1)!.number).toBe(101)
  pass(3_000)
  await follower.step()
  expect(land.position.blocks.at(-1)!.number).toBe(102)
})

test('after any reorganisations, failures and restarts the land is that of the final chain', async () => {
  const move = fc.record({
    depth: fc.nat(20),
    count: fc.integer({ min: 1, max: 70 }),
    finalizes: fc.boolean(),
    swallows: fc.boolean(),
    fails: fc.boolean(),
    restarts: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12 }), async (moves) => {
      const chain = new BranchingChain()
      let { land, follower, toEnd } = follow(chain)
      for (const [index, { depth, count, finalizes, swallows, fails, restarts }] of moves.entries()) {
        const undoable = Math.min(depth, chain.head.number - chain.finalized)
        if (undoable > 0) chain.reorganise(undoable, count, `branch${index}-`)
        else chain.grow(count, `branch${index}-`)
        if (swallows) chain.swallowed.add(chain.head.hash)
        if (finalizes) chain.finalized = Math.max(chain.finalized, chain.head.number - 20)
        if (restarts) ({ land, follower, toEnd } = follow(chain, land))
        land.failsOnce = fails
        await toEnd().catch((error: Error) => expect(error.message).toBe('the connection was lost'))
        land.failsOnce = false
        expect(follower.reason).toBeUndefined()
      }
      chain.grow(1, 'end')
      chain.finalized = chain.head.number
      await toEnd()
      await toEnd()
      await follower.storeWaiting()
      expect(land.rows).toEqual(rowsOf(chain))
      expect(land.position.blocks).toHaveLength(1)
    }),
    { numRuns: 60 },
  )
})

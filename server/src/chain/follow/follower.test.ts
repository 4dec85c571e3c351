import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BranchingChain, follow, rowsOf } from '../../../test/support/chain/branching-chain.ts'
import { ContradictionError } from './chain-source.ts'

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
  expect(follower.reason).toContain('Block 110 and all blocks before it were final')
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

test('a newest block that is not confirmed yet waits, and the ones before it do not', async () => {
  const chain = new BranchingChain()
  const { follower, land, toEnd } = follow(chain)
  chain.grow(3, 'a')
  chain.unconfirmed.add(chain.head.hash)
  await toEnd()
  expect(follower.block?.number).toBe(102)
  chain.grow(1, 'a')
  chain.unconfirmed.clear()
  await toEnd()
  expect(follower.block?.number).toBe(104)
  expect(land.rows).toEqual(rowsOf(chain))
})

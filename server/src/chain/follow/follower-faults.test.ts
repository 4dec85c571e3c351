import { expect, test } from 'vitest'
import { BranchingChain, follow, MemoryLand, rowsOf } from '../../../test/support/chain/branching-chain.ts'
import { NoNodeError } from '../rpc/no-node-error.ts'
import { REAL_TIMING } from '../rpc/timing.ts'
import { ContradictionError } from './chain-source.ts'
import { runFollower } from './run-follower.ts'

/** A land whose lease another process takes once `blocks` more blocks of the chain were asked for. */
class LostLand extends MemoryLand {
  leads = 0
  left = Number.POSITIVE_INFINITY
  override lead = async () => {
    this.leads += 1
    this.left -= 1
    return this.left >= 0 ? ('leads' as const) : ('waits' as const)
  }
}

test('a step renews its lease before each call, and stops where another process leads', async () => {
  const chain = new BranchingChain()
  const land = new LostLand(chain.head)
  const { follower } = follow(chain, land)
  chain.grow(60, 'a')
  await follower.step()
  expect(land.leads).toBe(chain.calls.length) // 59 headers, 60 blocks, and the heads at the beginning of the step

  chain.grow(60, 'a')
  chain.calls.length = 0
  land.left = 100
  const { transactions } = land
  expect([await follower.step(), await follower.step()]).toEqual(['again', 'waits'])
  expect(chain.calls).toHaveLength(100)
  expect(land.transactions).toBe(transactions)

  land.left = Number.POSITIVE_INFINITY
  await follower.step()
  expect(land.rows).toEqual(rowsOf(chain))
})

test('while ranges are read, too, the lease is renewed', async () => {
  const chain = new BranchingChain()
  const land = new LostLand(chain.head)
  chain.grow(80, 'a')
  chain.finalized = 180
  const { follower } = follow(chain, land)
  chain.triesOfRange = 50
  await follower.step()
  expect(land.leads).toBeGreaterThan(50)
  chain.grow(80, 'a')
  chain.finalized = 260
  land.left = 20
  const { transactions } = land
  expect([await follower.step(), await follower.step()]).toEqual(['again', 'waits'])
  expect(land.transactions).toBe(transactions)
})

test.each([
  ['near the head', 10, 107],
  ['far behind finality', 100, 190],
])(
  'a second look that no node answers holds up finality, and not the head: %s',
  async (_name, more, final) => {
    const chain = new BranchingChain()
    const { land, follower, toEnd, pass } = follow(chain)
    chain.grow(10, 'a')
    await toEnd()
    chain.grow(more, 'a')
    chain.finalized = final
    chain.failsRanges = new NoNodeError(['node1 is paused'])
    await toEnd()
    expect(land.rows).toEqual(rowsOf(chain))
    expect(land.position.blocks[0]!.number).toBe(100)
    expect(follower.finalityProblem).toContain('node1 is paused')
    expect(chain.calls.filter((call) => call === 'logsOfRange')).toHaveLength(1)

    chain.failsRanges = undefined
    pass(30_000)
    await toEnd()
    expect(land.position.blocks[0]!.number).toBe(final)
    expect(follower.finalityProblem).toBeUndefined()
  },
)

test('a branch below finality is not believed while a node has the final block', async () => {
  const chain = new BranchingChain()
  const { follower, toEnd } = follow(chain)
  chain.grow(20, 'a')
  chain.finalized = 110
  await toEnd()
  const truth = { ...chain, blocks: chain.blocks }
  chain.reorganise(15, 30, 'b')
  chain.otherNodeHas = ({ number, hash }) =>
    truth.blocks.some((each) => each.number === number && each.hash === hash)

  await expect(follower.step()).rejects.toThrow(ContradictionError)
  expect(chain.refutations).toEqual(['a branch without the final block 110 was announced'])
  expect(follower.reason).toBeUndefined()
})

test('while it is stopped, a poll costs two calls; the reason goes where it is over, or another process leads', async () => {
  const chain = new BranchingChain()
  const land = new LostLand(chain.head)
  const { follower, toEnd } = follow(chain, land)
  chain.grow(20, 'a')
  chain.finalized = 110
  await toEnd()
  const whole = chain.blocks
  chain.reorganise(15, 60, 'b')
  expect(await follower.step()).toBe('stopped')

  chain.calls.length = 0
  for (let poll = 0; poll < 3; poll++) expect(await follower.step()).toBe('stopped')
  expect(chain.calls).toEqual(['heads', 'hasBlock', 'heads', 'hasBlock', 'heads', 'hasBlock'])
  expect(follower.reason).toContain('Block 110 and all blocks before it were final')

  land.left = 0
  expect(await follower.step()).toBe('waits')
  expect(follower.reason).toBeUndefined()

  land.left = Number.POSITIVE_INFINITY
  expect(await follower.step()).toBe('stopped')
  chain.blocks = whole
  chain.grow(60, 'a')
  chain.finalized = 170
  expect(await follower.step()).toBe('again')
  expect(follower.reason).toBeUndefined()
})

test('only blocks with other logs count as repaired', async () => {
  const chain = new BranchingChain()
  const { land, follower, toEnd } = follow(chain)
  chain.grow(4, 'a')
  chain.swallowed.add(chain.head.hash)
  chain.grow(10, 'a')
  await toEnd()
  chain.finalized = 108
  await toEnd()

  expect(land.rows).toEqual(rowsOf(chain))
  expect(follower.counts.repaired).toBe(1)
})

test('following to a block ends where another process has followed to it', async () => {
  const chain = new BranchingChain()
  const land = new LostLand(chain.head)
  const { toEnd } = follow(chain, land)
  chain.grow(4, 'a')
  await toEnd()
  land.left = 0
  const { follower } = follow(chain, land)
  const run = (until: number) => {
    const stopping = new AbortController()
    let steps = 0
    return runFollower(follower, {
      until,
      signal: stopping.signal,
      pollMs: 1,
      pollsWhenDue: true,
      timing: REAL_TIMING,
      steadyMs: () => 0,
      endsWith: () => false,
      onStep: (result) => {
        expect(result).toBe('waits')
        steps += 1
        if (steps > 3) stopping.abort()
      },
      onFailure: (error) => expect.fail(String(error)),
    })
  }

  expect(await run(104)).toBe('reached')
  expect(await run(105)).toBeUndefined()
  expect(follower.block).toBeUndefined()
})

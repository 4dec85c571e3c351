import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '../../src/db/engine.ts'
import { readChainPosition } from '../../src/land/changes/chain-position.ts'
import { readLandHead } from '../../src/land/changes/land-head.ts'
import { describeOnBothEngines, emptyDir, freshDatabaseUrl, freshEngine } from '../support/engines.ts'
import { EVENT_TABLES, type FollowedLand, followLand, rowsOf } from '../support/followed-land.ts'
import { landpass, startLandpass } from '../support/landpass.ts'
import { type SimulatedChain, startSimulatedChain } from '../support/simulated-chain.ts'

/**
 * The land as a chain has it: history, following, reorganisations. After each story the tables are, row by row, those of a
 * clean run over the final chain.
 */

const WORLD = '-4,-4,4,4'
const openClean = freshEngine('postgres')
let clean: Db

beforeAll(async () => {
  clean = (await openClean()).db
})

/** A node of its own, for which every block is final, so that the history reaches the newest one. */
async function expectCleanRows(db: Db, simulated: SimulatedChain): Promise<void> {
  await simulated.change({ finalized_depth: 0 }, 'clean')
  const { chain } = await followLand(clean, simulated, { node: 'clean' })
  await chain.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
  const [followed, expected] = [await rowsOf(db), await rowsOf(clean)]
  for (const table of EVENT_TABLES) expect(followed[table], table).toEqual(expected[table])
}

describeOnBothEngines('a land that follows a chain', (open) => {
  let db: Db
  let simulated: SimulatedChain
  let land: FollowedLand

  beforeAll(async () => {
    db = (await open()).db
    simulated = await startSimulatedChain({ blocks: 200, world: WORLD })
    land = await followLand(db, simulated)
  })
  afterAll(() => simulated.stop())

  const revision = async () => (await readLandHead(db)).revision

  test('shows the history in one step, then each block', async () => {
    await land.readHistory()
    expect(await revision()).toBe(1)
    expect((await readChainPosition(db))!.blocks).toHaveLength(1)
    const { number } = await simulated.head()
    await land.followTo(number)
    await land.followTo((await simulated.mine(10)).number)

    await expectCleanRows(db, simulated)
    const rows = await rowsOf(db)
    for (const table of ['parcel', 'estate', 'publication', 'bid', 'land_right'] as const)
      expect(rows[table].length, table).toBeGreaterThan(0)
  })

  test.each([1, 5, 64])('undoes %i blocks and applies others in one revision', async (depth) => {
    const before = await revision()
    const { number } = await simulated.reorganise(depth)
    await land.followTo(number)

    expect(await revision()).toBeLessThanOrEqual(before + 1)
    await expectCleanRows(db, simulated)
  })

  test('finds logs that the node left out when their blocks become final', async () => {
    await simulated.change({ missing_log: true })
    await land.followTo((await simulated.mine(20)).number)
    await simulated.change({ missing_log: false })
    await land.followTo((await simulated.mine(70)).number)

    expect(land.chain.follower.counts.repaired).toBeGreaterThan(0)
    await expectCleanRows(db, simulated)
  })

  test('one of two processes follows, and the other one takes over', async () => {
    const other = await followLand(db, simulated)
    const { number } = await simulated.mine(5)
    const waiting = other.followTo(number)
    await land.followTo(number)
    expect(other.chain.block).toBeUndefined()
    await land.chain.close()
    await waiting
    await other.followTo((await simulated.reorganise(3)).number)
    await other.chain.close()

    await expectCleanRows(db, simulated)
  })

  test('stops where the chain changed below finality, and keeps the land', async () => {
    const before = await rowsOf(db)
    await simulated.reorganise(80)
    const { signal } = new AbortController()
    const run = land.chain.follow({ until: undefined, signal, endsAt: ['stopped'] })

    expect(await run).toBe('stopped')
    expect(land.chain.whyNot()).toContain('The land stays as it was')
    expect(await rowsOf(db)).toEqual(before)
  })
})

test('a process that is killed goes on where it was, and asks for no stored log again', async () => {
  const simulated = await startSimulatedChain({ blocks: 300, world: WORLD })
  const env = {
    ...simulated.env,
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
    CHAIN_RANGE_BLOCKS: '10',
    CHAIN_CALLS: '1',
  }
  await simulated.change({ delay_ms: 20 })
  const first = startLandpass(['follow', '--until', 'latest'], env)
  await first.said('"percent":4')
  first.child.kill('SIGKILL')
  await first.ended
  await simulated.change({ delay_ms: 0 })
  const { calls: before } = await simulated.calls()
  const second = await landpass(['follow', '--until', 'latest'], env)
  const { calls: after } = await simulated.calls()

  expect([second.code, second.stderr]).toEqual([0, second.stderr])
  const asked = (after.eth_getLogs ?? 0) - (before.eth_getLogs ?? 0)
  expect(asked).toBeLessThan((before.eth_getLogs ?? 0) + 100)
  simulated.stop()
})

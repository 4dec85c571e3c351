import { ASK_FINAL_EVERY_BLOCKS } from '@landpass/server/chain/follow/node-source'
import { StatusReader } from '@landpass/server/chain/follow/status-reader'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import {
  cleanRuns,
  expectSameRows,
  type FollowedLand,
  followLand,
  rowsOf,
} from '@landpass/server/test/support/chain/followed-land'
import { type SimulatedChain, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { beforeAll, expect, test } from 'vitest'

/**
 * The land as a chain has it: history, following, reorganisations. One chain is followed on both engines. After each story
 * the tables of both are, row by row, those of a clean run over the final chain.
 */

const openEngine = { embedded: freshEngine('embedded'), postgres: freshEngine('postgres') }
const cleanRows = cleanRuns()
let simulated: SimulatedChain
let lands: readonly { readonly db: Db; readonly land: FollowedLand }[]

beforeAll(async () => {
  simulated = await simulateChainHere({ blocks: 100, world: '-3,-3,3,3', transactions: 0.8 })
  const engines = [await openEngine.embedded(), await openEngine.postgres()]
  lands = await Promise.all(engines.map(async ({ db }) => ({ db, land: await followLand(db, simulated) })))
})

const revision = async (db: Db) => (await readLandHead(db)).revision

async function followTo(number: number): Promise<void> {
  for (const { land } of lands) await land.followTo(number)
}

async function expectCleanRows(): Promise<void> {
  const clean = await cleanRows(simulated)
  for (const { db } of lands) expectSameRows(await rowsOf(db), clean)
}

test('shows the history in one step, then each block', async () => {
  for (const { db, land } of lands) {
    await land.readHistory()
    expect(await revision(db)).toBe(1)
    expect((await readChainPosition(db))!.blocks).toHaveLength(1)
  }
  await followTo((await simulated.head()).number)
  await followTo((await simulated.mine(10)).number)

  await expectCleanRows()
  const rows = await rowsOf(lands[0]!.db)
  for (const table of ['parcel', 'estate', 'publication', 'bid', 'land_right'] as const)
    expect(rows[table].length, table).toBeGreaterThan(0)
  // What the registries themselves say
  const registered = (await simulated.truth('parcels')).map(
    ({ id, owner, operator, update_operator, estate_id }) =>
      JSON.stringify({ id, owner, operator, update_operator, estate_id }),
  )
  const shown = rows.parcel.map((row) => JSON.parse(row) as Record<string, string | null>)
  const owned = shown.filter(({ owner }) => owner !== null)
  expect(
    owned
      .map(({ x, y, owner, holder, operator, update_operator, estate_id }) =>
        JSON.stringify({ id: `${x},${y}`, owner: holder ?? owner, operator, update_operator, estate_id }),
      )
      .sort(),
  ).toEqual(registered.sort())
})

test.each([1, 5, 64])('undoes %i blocks and applies others in one revision', async (depth) => {
  const before = await Promise.all(lands.map(({ db }) => revision(db)))
  const { number } = await simulated.reorganise(depth)
  await followTo(number)

  for (const [at, { db }] of lands.entries()) expect(await revision(db)).toBeLessThanOrEqual(before[at]! + 1)
  await expectCleanRows()
})

test('finds logs that the node left out, by the receipts or when their blocks become final', async () => {
  await simulated.change({ missing_log: true })
  await followTo((await simulated.mine(4)).number)
  await expectCleanRows()

  await simulated.change({ block_receipts: 'null' })
  await simulated.mine(5)
  await followTo((await simulated.head()).number - 1)
  await simulated.change({ missing_log: false, finalized_depth: 4 })
  await followTo((await simulated.mine(ASK_FINAL_EVERY_BLOCKS)).number)

  for (const { land } of lands) expect(land.chain.follower.counts.repaired).toBeGreaterThan(0)
  await expectCleanRows()
})

test('one of two processes follows, and the other one takes over', async () => {
  const { number } = await simulated.mine(5)
  const others = await Promise.all(lands.map(({ db }) => followLand(db, simulated)))
  for (const [at, { land }] of lands.entries()) {
    const other = others[at]!
    const waiting = other.followTo(number)
    await land.followTo(number)
    expect(other.chain.block).toBeUndefined()
    await land.chain.close()
    await waiting
  }
  const { number: last } = await simulated.reorganise(3)
  for (const other of others) {
    await other.followTo(last)
    await other.chain.close()
  }

  await expectCleanRows()
})

test('stops where the chain changed below finality, and keeps the land', async () => {
  const before = await Promise.all(lands.map(({ db }) => rowsOf(db)))
  await simulated.reorganise(8)

  const { signal } = new AbortController()
  for (const [at, { db, land }] of lands.entries()) {
    expect(await land.chain.follow({ until: undefined, signal, endsAt: ['stopped'] })).toBe('stopped')
    expect(land.chain.whyNot()).toContain('The land stays as it was')
    expectSameRows(await rowsOf(db), before[at]!)
    await land.chain.close()
    const { read } = new StatusReader({ db, clock: SYSTEM_CLOCK })
    expect(await read()).toMatchObject({ state: 'stopped', reason: land.chain.whyNot() })
  }
})

test('a new world after broken finality has no log of the other branch, although it was stored; a process that stopped follows it', async () => {
  const dataDirs = lands.map(() => emptyDir())
  const replaceWorlds = async () => {
    for (const [at, { db }] of lands.entries())
      await (await followLand(db, simulated, { dataDir: dataDirs[at]! })).replaceWorld()
  }
  await replaceWorlds()
  const { number } = await simulated.reorganise(8)
  await replaceWorlds()
  await followTo(number)

  for (const { land } of lands) expect(land.chain.whyNot()).toBeUndefined()
  await expectCleanRows()
})

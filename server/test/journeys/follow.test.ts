import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StatusReader } from '../../src/chain/follow/status-reader.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import type { Db } from '../../src/db/engine.ts'
import { readChainPosition } from '../../src/land/changes/chain-position.ts'
import { EVENT_TABLES } from '../../src/land/changes/event-tables.ts'
import { readLandHead } from '../../src/land/changes/land-head.ts'
import { describeOnBothEngines, emptyDir, freshDatabaseUrl, freshEngine } from '../support/engines.ts'
import { type FollowedLand, followLand, rowsOf } from '../support/followed-land.ts'
import { eventually, landpass, serve, startLandpass } from '../support/landpass.ts'
import { type SimulatedChain, startSimulatedChain } from '../support/simulated-chain.ts'
import { tinyRecords, tinySnapshot } from '../support/tiny-world.ts'

/**
 * The land as a chain has it: history, following, reorganisations. After each story the tables are, row by row, those of a
 * clean run over the final chain.
 */

const WORLD = '-4,-4,4,4'
const openClean = freshEngine('postgres')
const openFollowed = freshEngine('postgres')
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

    await land.chain.close()
    const { read } = new StatusReader({ db, clock: SYSTEM_CLOCK })
    expect(await read()).toMatchObject({ state: 'stopped', reason: land.chain.whyNot() })
  })

  test('a new world after broken finality has no log of the other branch, although it was stored', async () => {
    const dataDir = emptyDir()
    const replaceWorld = async () => {
      const again = await followLand(db, simulated, { dataDir })
      await again.chain.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
      return again
    }
    await replaceWorld()
    const { number } = await simulated.reorganise(80)
    await land.chain.close()
    const again = await replaceWorld()
    await again.followTo(number)
    await again.chain.close()

    await expectCleanRows(db, simulated)
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
  await first.said('"phase":"history"')
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

test('a process that is killed while it shows the history or undoes blocks leaves no trace', async () => {
  const simulated = await startSimulatedChain({ blocks: 150, world: WORLD })
  const env = { ...simulated.env, DATABASE_URL: await freshDatabaseUrl(), DATA_DIR: emptyDir() }
  const { db } = await openFollowed({ databaseUrl: env.DATABASE_URL })
  const headersAsked = async () => (await simulated.calls()).calls.eth_getBlockByHash ?? 0
  const writing = startLandpass(['follow'], env)
  await writing.said('"phase":"write"')
  writing.child.kill('SIGKILL')
  await writing.ended

  for (const depth of [20, 30]) {
    const following = startLandpass(['follow'], env)
    const { number } = await simulated.head()
    const isAtHead = async () => (await readChainPosition(db))?.blocks.at(-1)?.number === number
    await eventually(isAtHead, (is) => is, 60_000)
    const before = await headersAsked()
    await simulated.reorganise(depth)
    await eventually(headersAsked, (asked) => asked >= before + depth / 2, 60_000)
    following.child.kill('SIGKILL')
    await following.ended
  }
  const last = await landpass(['follow', '--until', 'latest'], env)

  expect([last.code, last.stderr]).toEqual([0, last.stderr])
  await expectCleanRows(db, simulated)
  simulated.stop()
})

test('a server fills an empty database, follows, and says so; an import beside it stays', async () => {
  const simulated = await startSimulatedChain({ blocks: 120, world: WORLD })
  const env = { ...simulated.env, DATABASE_URL: await freshDatabaseUrl(), DATA_DIR: emptyDir() }
  const server = await serve(env, ['--only', 'land'])
  const read = async (path: string) =>
    (await (await fetch(server.origin + path)).json()) as { data: Record<string, unknown> }
  const isAt = (number: number) => async () => {
    const { data } = await read('/v2/chain')
    return (data.node as { head: number } | null)?.head === number && data.state === 'following' && data
  }
  const { number, hash } = await simulated.mine(3)
  const status = await eventually(isAt(number), (data) => data !== false, 60_000)

  expect(status).toMatchObject({
    network: 'simulated',
    chainId: 1337,
    block: { number, hash },
    finalized: { number: number - 64 },
    node: { head: number, lagBlocks: 0, lagSeconds: 0 },
    reason: null,
  })
  const ready = await eventually(
    () => read('/health/ready'),
    ({ data }) => data.chain !== undefined,
    10_000,
  )
  expect(ready.data.chain).toMatchObject({ block: number, state: 'following' })
  const metrics = await (await fetch(`${server.origin}/metrics`)).text()
  expect(metrics).toContain(`landpass_chain_block ${number}`)
  expect(metrics).toMatch(/landpass_chain_calls_total{node="node1",method="eth_getLogs",result="ok"} \d/)

  const exported = join(emptyDir(), 'world')
  expect((await landpass(['export', exported], env)).code).toBe(0)
  const imported = await landpass(['import', exported], env)
  expect([imported.code, imported.stdout]).toEqual([0, imported.stdout])
  const stopped = await eventually(
    () => read('/v2/chain'),
    ({ data }) => data.state === 'stopped',
    60_000,
  )
  expect(stopped.data).toMatchObject({ block: null, reason: expect.stringContaining('was imported') })
  expect((await read('/health/ready')).data.status).toBe('ready')

  await simulated.mine(70) // The block of the export is final now.
  const joined = await landpass(['follow', '--ground', exported, '--new-world', '--until', 'latest'], env)
  expect([joined.code, joined.stderr]).toEqual([0, joined.stderr])
  const { db } = await openFollowed({ databaseUrl: env.DATABASE_URL })
  const rows = await rowsOf(db)
  await simulated.change({ finalized_depth: 0 }, 'clean')
  const { chain } = await followLand(clean, simulated, { node: 'clean' })
  await chain.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
  expect(rows.parcel.map(ownerOf)).toEqual((await rowsOf(clean)).parcel.map(ownerOf))
  await server.stop()
  simulated.stop()
})

function ownerOf(row: string) {
  const { x, y, owner, estate_id, operator } = JSON.parse(row) as Record<string, unknown>
  return { x, y, owner, estate_id, operator }
}

test('a node without the old blocks is refused, and wrong use has its own exit code', async () => {
  const simulated = await startSimulatedChain({ blocks: 120, world: WORLD })
  await simulated.change({ pruned_below: 40, pruned_form: 'empty', capabilities: false })
  const env = { ...simulated.env, DATABASE_URL: await freshDatabaseUrl(), DATA_DIR: emptyDir() }
  const refused = await landpass(['follow', '--until', 'finalized'], env)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('old blocks')])
  expect((await landpass(['follow', '--until', 'soon'], env)).code).toBe(2)
  expect((await landpass(['follow'], { ...env, CHAIN_RPC_URLS: '' })).code).toBe(1)
  simulated.stop()
})

test('a snapshot is the ground: districts and contributions stay, owners come from the chain', async () => {
  const simulated = await startSimulatedChain({ blocks: 120, world: '-2,-2,2,2' })
  const records = { ...tinyRecords(), estates: [], publications: [], bids: [], mortgages: [] }
  const parcels = records.parcels.map((parcel) => ({
    ...parcel,
    owner: null,
    operator: null,
    update_operator: null,
    estate_id: null,
    last_transferred_at: null,
  }))
  const ground = tinySnapshot({ records: { ...records, parcels } })
  const { db } = await openFollowed({ databaseUrl: await freshDatabaseUrl() })
  const land = await followLand(db, simulated)
  await land.readHistory(ground)
  const { number } = await simulated.head()
  await land.followTo(number)

  expect(await db.selectFrom('district').select('id').execute()).toHaveLength(records.districts.length)
  expect(await db.selectFrom('contribution').select('address').execute()).toHaveLength(
    records.contributions.length,
  )
  const rows = await db.selectFrom('parcel').select(['x', 'y', 'owner', 'district_id']).execute()
  const districtOf = new Map(records.parcels.map(({ x, y, district_id }) => [`${x},${y}`, district_id]))
  for (const { x, y, district_id } of rows) expect(district_id).toBe(districtOf.get(`${x},${y}`))
  const { chain } = await followLand(clean, simulated, { node: 'clean' })
  await simulated.change({ finalized_depth: 0 }, 'clean')
  await chain.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
  expect((await rowsOf(db)).parcel.map(ownerOf)).toEqual((await rowsOf(clean)).parcel.map(ownerOf))

  const [before, { calls: asked }] = [await groundIn(db), await simulated.calls()]
  await land.chain.readHistory({ ground: undefined, until: undefined, replaces: true }, () => undefined)
  expect(await groundIn(db)).toEqual(before)
  expect(land.lines.join()).toContain(`there is no --ground: ${records.districts.length} districts`)
  const { calls: askedAgain } = await simulated.calls()
  // What contracts answered is stored; only the number of parcels is compared again.
  expect(asked.eth_call).toBeGreaterThan(2)
  expect(askedAgain.eth_call! - asked.eth_call!).toBe(1)
  simulated.stop()
})

/** What no log says, of the world that is shown. */
async function groundIn(db: Db) {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  const districts = await db.selectFrom('district').selectAll().where('world_id', '=', world_id!).execute()
  const contributions = await db
    .selectFrom('contribution')
    .selectAll()
    .where('world_id', '=', world_id!)
    .execute()
  const parcels = await db
    .selectFrom('parcel')
    .select(['x', 'y', 'district_id', 'district_position', 'plaza_district_id', 'plaza_distance'])
    .select(['road_district_id', 'road_distance', 'auction_price', 'auction_owner', 'created_at_ms'])
    .where('world_id', '=', world_id!)
    .execute()
  return [...districts, ...contributions, ...parcels]
    .map((row) => JSON.stringify({ ...row, world_id: 0 }))
    .sort()
}

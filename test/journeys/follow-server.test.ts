import { join } from 'node:path'
import { ASK_FINAL_EVERY_BLOCKS } from '@landpass/server/chain/follow/node-source'
import type { Db } from '@landpass/server/db/engine'
import { cleanRuns, followLand, rowsOf } from '@landpass/server/test/support/chain/followed-land'
import { type SimulatedChain, startSimulatedChain } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshDatabaseUrl, freshEngine } from '@landpass/server/test/support/database/engines'
import { tinyRecords, tinySnapshot } from '@landpass/server/test/support/land/tiny-world'
import { landpass, serve } from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { beforeAll, expect, test } from 'vitest'

/** What surrounds following a chain: a server, snapshots, the comparison with the contracts, wrong use. */

const open = freshEngine('postgres')
const cleanRows = cleanRuns()
/** Each poll costs CPU time. */
const SOON = { interval: 100 }
let simulated: SimulatedChain

beforeAll(async () => {
  simulated = await startSimulatedChain({ seed: 12, blocks: 120, world: '-2,-2,2,2' })
})

test('a server fills an empty database, follows, and says so; an import beside it stays', async () => {
  await simulated.change({ finalized_depth: 20 })
  const databaseUrl = await freshDatabaseUrl()
  const { db } = await open({ databaseUrl })
  const env = { ...simulated.env, DATABASE_URL: databaseUrl, DATA_DIR: emptyDir(), CHAIN_POLL_MS: '500' }
  const server = await serve(env, ['--only', 'land'])
  const read = async (path: string) =>
    ((await (await fetch(server.origin + path)).json()) as { data: Record<string, unknown> }).data
  const metrics = async () => (await fetch(`${server.origin}/metrics`)).text()
  const { number, hash } = await simulated.mine(ASK_FINAL_EVERY_BLOCKS)

  await expect
    .poll(() => read('/v2/chain'), SOON)
    .toMatchObject({
      network: 'simulated',
      chainId: 1337,
      block: { number, hash },
      finalized: { number: number - 20 },
      node: { head: number, lagBlocks: 0, lagSeconds: 0 },
      completeness: { state: 'unchecked', block: null, differing: 0, assets: [] },
      state: 'following',
      reason: null,
    })
  await expect
    .poll(() => read('/health/ready'), SOON)
    .toMatchObject({ chain: { block: number, state: 'following' } })
  expect(await metrics()).toContain(`landpass_chain_block ${number}`)
  expect(await metrics()).toMatch(
    /landpass_chain_calls_total\{node="node1",method="eth_getLogs",result="ok"\} \d/,
  )

  const right = await landpassHere(['chain', 'check'], env)
  expect([right.code, right.json.at(-1)]).toEqual([0, expect.objectContaining({ ok: true, block: number })])
  const exported = join(emptyDir(), 'world')
  expect((await landpassHere(['export', exported], env)).code).toBe(0)

  await plantDifference(db)
  expect((await landpassHere(['chain', 'check'], env)).code).toBe(1)

  const imported = await landpassHere(['import', exported], env)
  expect([imported.code, imported.stdout]).toEqual([0, imported.stdout])
  await simulated.mine(1) // Without a block, the server looks after half a minute.
  await expect
    .poll(() => read('/v2/chain'), SOON)
    .toMatchObject({ state: 'stopped', block: null, reason: expect.stringContaining('was imported') })
  expect((await read('/health/ready')).status).toBe('ready')
  await server.stop()

  await simulated.mine(25) // The block of the export is final now.
  const joined = await landpassHere(['follow', '--ground', exported, '--new-world', '--until', 'latest'], env)
  expect([joined.code, joined.stderr]).toEqual([0, joined.stderr])
  await expectCleanOwners(db)
})

/** A parcel with an owner whose data have another version than in the registry. */
async function plantDifference(db: Db): Promise<void> {
  const { x, y, world_id } = await db
    .selectFrom('parcel')
    .select(['x', 'y', 'world_id'])
    .where('name', 'is not', null)
    .executeTakeFirstOrThrow()
  await db
    .updateTable('parcel')
    .set({ data_version: 7 })
    .where('world_id', '=', world_id)
    .where('x', '=', x)
    .where('y', '=', y)
    .execute()
}

/** A world that began with a snapshot has no histories from before; what is owned is that of a clean run. */
async function expectCleanOwners(db: Db): Promise<void> {
  const [rows, clean] = [await rowsOf(db), await cleanRows(simulated)]
  expect(rows.parcel.map(ownerOf)).toEqual(clean.parcel.map(ownerOf))
}

function ownerOf(row: string) {
  const { x, y, owner, estate_id, operator } = JSON.parse(row) as Record<string, unknown>
  return { x, y, owner, estate_id, operator }
}

test('a node without the old blocks is refused, and wrong use has its own exit code', async () => {
  const [pruned, env] = [
    `${simulated.address}/nodes/pruned`,
    { ...simulated.env, DATABASE_URL: await freshDatabaseUrl(), DATA_DIR: emptyDir() },
  ]
  await simulated.change({ pruned_below: 40, pruned_form: 'empty', capabilities: false }, 'pruned')
  const refused = await landpassHere(['follow', '--until', 'finalized'], { ...env, CHAIN_RPC_URLS: pruned })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('old blocks')])
  expect((await landpass(['follow', '--until', 'soon'], env)).code).toBe(2)
  expect((await landpassHere(['follow'], { ...env, CHAIN_RPC_URLS: '' })).code).toBe(1)
})

test('a snapshot is the ground: districts and contributions stay, owners come from the chain', async () => {
  await simulated.reset()
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
  const { db } = await open({ databaseUrl: await freshDatabaseUrl() })
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
  await expectCleanOwners(db)

  const [before, { calls: asked }] = [await groundIn(db), await simulated.calls()]
  await land.replaceWorld()
  expect(await groundIn(db)).toEqual(before)
  expect(land.lines.join()).toContain(`there is no --ground: ${records.districts.length} districts`)
  const { calls: askedAgain } = await simulated.calls()
  // What contracts answered is stored; only the number of parcels is compared again.
  expect(asked.eth_call).toBeGreaterThan(2)
  expect(askedAgain.eth_call! - asked.eth_call!).toBe(1)
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

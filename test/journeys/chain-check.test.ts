import { join } from 'node:path'
import { coordText } from '@landpass/client/grid'
import { type CheckRequest, type CheckResult, checkLand } from '@landpass/server/chain/check/check-land'
import { countByField, type Difference } from '@landpass/server/chain/check/findings'
import { chainOf } from '@landpass/server/chain/history/network-part'
import type { Db } from '@landpass/server/db/engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { assetIndexKey } from '@landpass/server/land/events/trades'
import { exportSnapshot } from '@landpass/server/land/snapshot/export'
import { type FollowedLand, followLand, rowsOf } from '@landpass/server/test/support/chain/followed-land'
import { plantRights, plantRows, plantValues } from '@landpass/server/test/support/chain/planted-differences'
import {
  listingsIn,
  type PlantedListings,
  plantListings,
} from '@landpass/server/test/support/chain/planted-listings'
import { type SimulatedChain, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshDatabaseUrl, freshEngine } from '@landpass/server/test/support/database/engines'
import { landpass } from '@landpass/server/test/support/processes/landpass'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'

/** The tables of a followed land against the contracts of its chain. */

const open = freshEngine('postgres')
let databaseUrl: string
let db: Db
let simulated: SimulatedChain
let land: FollowedLand

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl()
  db = (await open({ databaseUrl })).db
  simulated = await simulateChainHere({ seed: 6, blocks: 600, world: '-5,-5,5,5', transactions: 3 })
  land = await followLand(db, simulated)
  await land.readHistory()
  await land.followTo((await simulated.mine(40)).number)
  await storeOffers()
})

/** Stores an offer for each signature that the logs name, and one to rent for each index of a parcel. */
async function storeOffers(): Promise<void> {
  const { worldId } = await readLandHead(db)
  const rentals = land.chain.network.contracts.Rentals!.address
  await sql`insert into listings_reading (name, lease_until_ms, is_shown, world_id, state)
    values ('listings', 0, false, ${worldId}, 'following'), ('rentals', 0, false, ${worldId}, 'following')`.execute(
    db,
  )
  const parcels = await db.selectFrom('parcel').select(['x', 'y']).where('world_id', '=', worldId!).execute()
  const keys = parcels.map((parcel) => assetIndexKey({ type: 'parcel', id: coordText(parcel) }))
  const { rows } = await sql<{ reading: string }>`
    insert into signed_trade select 'offer ' || row_number() over (), case when marketplace = ${rentals} then 'rentals' else 'listings' end,
      '', marketplace, signer, signature_key, signature_key, true, 'parcel', coalesce(named.id, '0,0'), 'mana', 1, '0x', '1', '0', '0',
      case when marketplace = ${rentals} then '0' end, null, 0, 0, 0, 0, 'expired', ''
    from (select distinct on (marketplace, signature_key) * from trade_signature where world_id = ${worldId}) as signature
      left join unnest(${keys}::text[], ${parcels.map(coordText)}::text[]) as named(key, id)
      on named.key = signature_key
    where marketplace <> ${rentals} or named.id is not null
    returning reading`.execute(db)
  expect(new Set(rows.map(({ reading }) => reading))).toEqual(new Set(['listings', 'rentals']))
}

/** Checks with pauses that end at once, from a node with a name of its own. */
async function check(
  request: CheckRequest = {},
  { node = '', onPause = async () => {} }: { node?: string; onPause?: () => Promise<void> } = {},
): Promise<CheckResult> {
  const { chain } = node === '' ? land : await followLand(db, simulated, { node })
  const { nodes, network } = chain
  const timing = { nowMs: () => performance.now(), pause: onPause }
  const { signal } = new AbortController()
  const known = chainOf(network)
  return checkLand({ db, nodes, network, known, callsInFlight: 2, timing, signal }, request)
}

const callsOf = async (node: string) => (await simulated.calls(node)).calls.eth_call ?? 0

describe('a land that is right', () => {
  test('is the same as the contracts after a history with every kind of event', async () => {
    const rows = await rowsOf(db)
    const progress: number[] = []
    const result = await check({ onProgress: ({ done, total }) => progress.push(done, total) })

    expect(result.differences).toEqual([])
    expect(result.assets).toBe(rows.parcel.length + rows.estate.length)
    expect(result.block).toEqual(await simulated.head().then(({ number, hash }) => ({ number, hash })))
    // Texts of parcels that are rented or under a mortgage.
    expect(Object.keys(result.notCompared)).toEqual(['data_text'])
    const offers = await db.selectFrom('signed_trade').select('id').execute()
    const total = result.assets + rows.mortgage.length + offers.length
    expect([progress[0], progress.at(-1)]).toEqual([0, total])
  })

  test('costs few requests: some hundred calls go through one call of Multicall3', async () => {
    await simulated.change({}, 'multi')
    const { calls } = await check({}, { node: 'multi' })

    expect(await callsOf('multi')).toBeLessThan(calls / 20)
  })

  test.each([
    ['without Multicall3', { multicall: false }],
    ['without EIP-1898', { calls_by_hash: false }],
    [
      'with small batches, and neither of the two',
      { multicall: false, calls_by_hash: false, batch_limit: 7 },
    ],
    ['with little gas for a call', { multicall_limit: 30 }],
  ])('is the same at a node %s', async (name, settings) => {
    const node = name
      .replaceAll(/[^a-z\d]+/gi, '-')
      .toLowerCase()
      .slice(0, 40)
    await simulated.change(settings, node)
    const { differences, calls } = await check({}, { node })

    expect(differences).toEqual([])
    const isSingle = 'multicall' in settings
    const sent = await callsOf(node)
    if (isSingle) expect(sent).toBeGreaterThanOrEqual(calls)
    else expect(sent).toBeLessThan(calls)
  })

  test('a sample is chosen by its seed, and shows what is rare', async () => {
    const sample = { size: 24, seed: 5 }
    const once = await check({ sample })

    expect([once.assets, once.differences]).toEqual([24, []])
    expect((await check({ sample })).calls).toBe(once.calls)
    expect((await check({ sample: { size: 24, seed: 7 } })).calls).not.toBe(once.calls)
  })
})

describe('a check that is not possible', () => {
  test('says which kind of node is needed where the state of the block is gone', async () => {
    await simulated.change({ state_pruned_below: 10_000 }, 'pruned')

    await expect(check({}, { node: 'pruned' })).rejects.toThrow(
      /state of the contracts at block 640.*archive node/,
    )
  })

  test('says where the land is, if that is another block', async () => {
    await expect(check({ block: 641 })).rejects.toThrow(
      'The land is at block 640, not at 641. landpass follow --until 641',
    )
    await expect(check({ block: 639 })).rejects.toThrow('It does not go back')
    expect((await check({ block: 640, sample: { size: 1, seed: 1 } })).differences).toEqual([])
  })

  test('ends after five attempts where nothing replaces a block that was removed', async () => {
    await simulated.change({ lag_blocks: 5 }, 'lagging')
    let pauses = 0
    const onPause = async () => {
      pauses += 1
    }

    await expect(check({}, { node: 'lagging', onPause })).rejects.toThrow(/No node has block 640 \(0x/)
    expect(pauses).toBe(4)
  })
})

test.each([true, false])(
  'a reorganisation in the middle: it begins again with the new block (EIP-1898: %s)',
  async (calls_by_hash) => {
    await simulated.change({ calls_by_hash }, `reorg-${calls_by_hash}`)
    let number = 0
    const removeBlock = async () => {
      if (number === 0) ({ number } = await simulated.reorganise(3))
    }
    const reorganising: Promise<void>[] = []
    const { block, differences } = await check(
      { onProgress: ({ done }) => void (done === 0 && reorganising.push(removeBlock())) },
      { node: `reorg-${calls_by_hash}`, onPause: () => land.followTo(number) },
    )

    expect([block.number, differences]).toEqual([number, []])
  },
)

describe('a snapshot that is joined at its block', () => {
  let folder: string
  let planted: PlantedListings
  let joined: Db

  beforeAll(async () => {
    folder = join(emptyDir(), 'snapshot')
    const tx = await db.startTransaction().execute()
    planted = await plantListings(tx)
    await exportSnapshot(tx, folder)
    await tx.rollback().execute()
    joined = (await open({ databaseUrl: await freshDatabaseUrl() })).db
  })

  test('has the offers that the marketplaces store then, and no others', async () => {
    await simulated.change({ finalized_depth: 0 }, 'joined')
    const other = await followLand(joined, simulated, { node: 'joined' })
    const steps: string[] = []
    await other.chain.readHistory({ ground: folder, until: undefined, replaces: false }, (step) => {
      if (step.phase === 'contracts') steps.push(`${step.done} of ${step.total}`)
    })

    const { restored, replaced } = planted
    expect(await listingsIn(joined, [...restored.keys()])).toEqual(restored)
    const settled = await listingsIn(joined, [...replaced.keys()])
    const { block_time_s: timeS } = await joined
      .selectFrom('chain_position')
      .select('block_time_s')
      .executeTakeFirstOrThrow()
    for (const [key, life] of settled)
      expect(life).toEqual({
        status: 'cancelled',
        closed_by: replaced.get(key),
        block_time_updated_at_ms: timeS * 1_000,
        closed_tx_hash: null,
      })
    expect(steps[0]).toMatch(/^0 of \d+$/)
    const total = steps[0]!.slice('0 of '.length)
    expect(steps.at(-1)).toBe(`${total} of ${total}`)
    expect(other.lines).toContainEqual(expect.stringMatching(/^4 offers of the snapshot were settled/))
    expect(await callsOf('joined')).toBeLessThan(10)
  })

  test('keeps its offers where no node has the state of the block, and a line says so', async () => {
    await simulated.change({ finalized_depth: 0, state_pruned_below: 10_000 }, 'pruned-join')
    const other = await followLand(joined, simulated, { node: 'pruned-join' })
    await other.chain.readHistory({ ground: folder, until: undefined, replaces: true }, () => undefined)

    const open = await listingsIn(joined, [...planted.replaced.keys()])
    expect([...open.values()].map(({ status }) => status)).toEqual(['open', 'open'])
    expect(other.lines).toContainEqual(
      expect.stringMatching(/^0 offers of the snapshot were settled.* No node has the state /),
    )
  })
})

describe('a land that is wrong', () => {
  const sorted = (differences: readonly Difference[]) =>
    differences.map((one) => JSON.stringify(Object.entries(one).sort())).sort()

  test('what ends signed offers, and is other than in the contracts', async () => {
    const { worldId } = await readLandHead(db)
    // No contract of this chain was paused, or has raised its index.
    await sql`insert into trade_index (world_id, marketplace, signer, value, is_paused)
      select distinct world_id, marketplace, '', '0', false from trade_signature where world_id = ${worldId}
      on conflict do nothing`.execute(db)
    const turn = async (by: number) => {
      await sql`update trade_signature set uses = uses + ${by}::integer, is_cancelled = not is_cancelled
        where world_id = ${worldId}`.execute(db)
      await sql`update trade_index set value = value::integer + ${by}::integer, is_paused = not is_paused
        where world_id = ${worldId}`.execute(db)
    }
    await turn(1)
    const { differences } = await check()
    await turn(-1)

    expect(Object.keys(countByField(differences))).toEqual(
      ['asset_index', 'contract_index', 'is_cancelled', 'is_paused', 'signer_index', 'uses'].map(
        (field) => `offer.${field}`,
      ),
    )
  })

  test('every planted difference is found, with both values, and nothing else', async () => {
    const { worldId } = await readLandHead(db)
    const planted = [
      ...(await plantValues(db, worldId!)),
      ...(await plantRights(db, worldId!)),
      ...(await plantRows(db, worldId!)),
    ]
    const { differences } = await check()

    expect(sorted(differences)).toEqual(sorted(planted))
  })
})

test('the command: exit code 1 for differences, 3 where the contracts cannot be asked, 2 for wrong use', async () => {
  const env = { ...simulated.env, DATABASE_URL: databaseUrl }
  const [found, unasked, wrong] = [
    await landpass(['chain', 'check'], env),
    await landpass(['chain', 'check', '--sample', '3'], { ...env, CHAIN_RPC_URLS: '' }),
    await landpass(['chain', 'check', '--sample', '0'], env),
  ]
  const lines = found.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

  expect([found.code, unasked.code, wrong.code]).toEqual([1, 3, 2])
  expect(lines.at(-1)).toMatchObject({ ok: false, block: (await simulated.head()).number })
  expect(lines.filter((line) => 'difference' in line)).toHaveLength(lines.at(-1).differences)
})

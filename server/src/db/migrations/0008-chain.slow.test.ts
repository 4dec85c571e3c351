import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { startPosition } from '../../land/changes/chain-position.ts'
import { exportSnapshot } from '../../land/snapshot/export.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { Loader } from '../../land/snapshot/loader.ts'
import { attachWorld, beginWorld, dropWorld, Lease } from '../../land/snapshot/worlds.ts'
import type { Db } from '../engine.ts'
import { up } from './0008-chain.ts'

const clock = { nowMs: () => Date.parse('2021-01-01T00:00:00.000Z') }
const importInto = (db: Db) => importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
const NEW_TABLES = [
  'land_right',
  'trade_signature',
  'trade_index',
  'chain_position',
  'chain_block',
  'chain_undo',
] as const

/** The tables as the version before this one made them. */
async function takeChainAway(db: Db): Promise<void> {
  for (const statement of [
    ...NEW_TABLES.map((table) => `drop table ${table}`),
    ...['parcel', 'estate'].map(
      (table) =>
        `alter table ${table} drop column data_text, drop column holder, drop column tenant, drop column rented_until_ms`,
    ),
    'alter table estate drop column fingerprint',
    'alter table publication drop column log_index, drop column closed_by',
    'alter table mortgage drop column log_index, drop column due_in_s',
    'alter table bid drop column closed_by',
    'drop index bid_by_id',
    'drop index parcel_by_estate',
    'alter table bid add unique (world_id, id)',
  ])
    await sql.raw(statement).execute(db)
}

/** Two equal bids of one bidder in one block have one id. @returns how many bids with it the table then has */
async function bidTwice(db: Db, worldId: number): Promise<number> {
  const [bid] = await db.selectFrom('bid').selectAll().where('world_id', '=', worldId).limit(1).execute()
  await db
    .insertInto('bid')
    .values({ ...bid!, key: 99, closed_by: 'replaced' })
    .execute()
  const equal = await db
    .selectFrom('bid')
    .select('key')
    .where('world_id', '=', worldId)
    .where('id', '=', bid!.id)
    .execute()
  await db.deleteFrom('bid').where('key', '=', 99).execute()
  return equal.length
}

describeOnBothEngines('what following the chain needs', (open, kind) => {
  test('comes to a world that is shown, which stays as it is', async () => {
    const { db } = await open()
    await takeChainAway(db)
    const { worldId } = await importInto(db)

    await db.transaction().execute((tx) => up(tx as never))

    expect(await bidTwice(db, worldId!)).toBe(2)
    const rows = await db.selectFrom('parcel').select(['data_text', 'holder', 'tenant']).execute()
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(
      new Set(['{"data_text":null,"holder":null,"tenant":null}']),
    )
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-chain-')), 'world')
    expect(await exportSnapshot(db, folder, { inOneTransaction: kind === 'postgres' })).toMatchObject({
      ok: true,
    })
  })

  test('comes to a world that the version before is loading, whose rows it goes on writing', async () => {
    const { db } = await open()
    await takeChainAway(db)
    const worldId = await beginWorld(db, clock)

    await db.transaction().execute((tx) => up(tx as never))

    const lease = new Lease(db, worldId, clock)
    const loader = new Loader(db, worldId, lease)
    const [bid] = await db.selectFrom('bid').selectAll().limit(1).execute()
    const { closed_by, ...older } = bid!
    await loader.add('bid', { ...older, world_id: worldId })
    await loader.finish()
    await attachWorld(db, worldId, lease)
    expect(await bidTwice(db, worldId)).toBe(2)
    const bids = await db
      .selectFrom('bid')
      .select(['id', 'closed_by'])
      .where('world_id', '=', worldId)
      .execute()
    expect(bids).toEqual([{ id: bid!.id, closed_by: null }])
    await dropWorld(db, worldId)
  })

  test('disappears with its world', async () => {
    const { db } = await open()
    const worldId = await beginWorld(db, clock)
    const lease = new Lease(db, worldId, clock)
    const loader = new Loader(db, worldId, lease)
    await loader.add('land_right', { kind: 'approval', registry: 'parcel', owner: '0xa', operator: '0xb' })
    await loader.finish()
    await attachWorld(db, worldId, lease)
    const block = { number: 7, hash: '0x7', parentHash: '0x6', timeS: 1, logsDigest: undefined }
    await db
      .transaction()
      .execute((tx) => startPosition(tx, worldId, { chainId: 1, contractsHash: '', rulesVersion: 1, block }))
    const rowsOf = async () => {
      const counts = await Promise.all(
        NEW_TABLES.map((table) =>
          sql`select from ${sql.table(table)} where world_id = ${worldId}`.execute(db),
        ),
      )
      return counts.map(({ rows }) => rows.length)
    }
    expect(await rowsOf()).toEqual([1, 0, 0, 1, 1, 0])

    await dropWorld(db, worldId)

    expect(await rowsOf()).toEqual([0, 0, 0, 0, 0, 0])
  })
})

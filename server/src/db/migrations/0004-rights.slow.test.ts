import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { exportSnapshot } from '../../land/snapshot/export.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { attachWorld, beginWorld, Lease } from '../../land/snapshot/worlds.ts'
import type { Db } from '../engine.ts'
import { up } from './0004-rights.ts'

const clock = { nowMs: () => Date.parse('2021-01-01T00:00:00.000Z') }
const importInto = (db: Db) => importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })

/** The tables as the version before this one made them. */
async function takeRightsAway(db: Db): Promise<void> {
  for (const table of ['parcel', 'estate'])
    await sql`alter table ${sql.table(table)} drop column approvals_for_all, drop column update_managers`.execute(
      db,
    )
}

describeOnBothEngines('the columns for rights', (open, kind) => {
  test('come to a world that is shown, which stays as it is', async () => {
    const { db } = await open()
    await takeRightsAway(db)
    await importInto(db)

    await db.transaction().execute((tx) => up(tx as never))

    const rows = await db.selectFrom('parcel').select(['approvals_for_all', 'update_managers']).execute()
    expect(rows).toHaveLength(25)
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(
      new Set(['{"approvals_for_all":null,"update_managers":null}']),
    )
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-rights-')), 'world')
    expect(await exportSnapshot(db, folder, { inOneTransaction: kind === 'postgres' })).toMatchObject({
      ok: true,
    })
  })

  test('come to a world that the version before is loading, whose rows it goes on writing', async () => {
    const { db } = await open()
    await takeRightsAway(db)
    const worldId = await beginWorld(db, clock)

    await db.transaction().execute((tx) => up(tx as never))

    const row = { world_id: worldId, id: '1', token_id: '1', tx_hash: '', owner: '', data_version: 0 }
    const times = { last_transferred_at_ms: 0, created_at_ms: 0, updated_at_ms: 0 }
    const partition = sql.table(`estate_w${worldId}`)
    const json = JSON.stringify([{ ...row, ...times }])
    await sql`insert into ${partition} select * from json_populate_recordset(null::${partition}, ${json}::json)`.execute(
      db,
    )
    await attachWorld(db, worldId, new Lease(db, worldId, clock))
    expect(await db.selectFrom('estate').selectAll().where('world_id', '=', worldId).execute()).toMatchObject(
      [{ id: '1', approvals_for_all: null, update_managers: null }],
    )
  })
})

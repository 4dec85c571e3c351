import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { Loader } from '../../land/snapshot/loader.ts'
import { attachWorld, beginWorld, Lease } from '../../land/snapshot/worlds.ts'
import { up } from './0010-closing-transactions.ts'

const clock = { nowMs: () => Date.parse('2021-01-01T00:00:00.000Z') }

describeOnBothEngines('transactions that closed offers and bids', (open) => {
  test('come to a world that is shown, and to one that the version before is loading', async () => {
    const { db } = await open()
    // The tables as the version before this one made them.
    for (const table of ['publication', 'bid'])
      await sql`alter table ${sql.table(table)} drop column closed_tx_hash`.execute(db)
    await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    const loading = await beginWorld(db, clock)

    await db.transaction().execute((tx) => up(tx as never))

    const { closed_tx_hash, ...older } = await db
      .selectFrom('bid')
      .selectAll()
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(closed_tx_hash).toBeNull()
    const lease = new Lease(db, loading, clock)
    const loader = new Loader(db, loading, lease)
    await loader.add('bid', { ...older, world_id: loading })
    await loader.finish()
    await attachWorld(db, loading, lease)
    const rows = await db.selectFrom('bid').select('closed_tx_hash').where('world_id', '=', loading).execute()
    expect(rows).toEqual([{ closed_tx_hash: null }])
  })
})

import { beforeEach, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/database/engines.ts'
import { applyLandChanges, type LandChange } from '../../../test/support/land/land-changes.ts'
import { estateRow, publicationRow } from '../../../test/support/land/land-rows.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import type { Db } from '../../db/engine.ts'
import { importSnapshot } from '../snapshot/import.ts'
import { readChangedRows } from './changed-rows.ts'
import { readLandHead } from './land-head.ts'

describeOnOneEngine('the rows that have changed since a revision', (open) => {
  let db: Db
  beforeEach(async () => {
    db = (await open()).db
    const clock = { nowMs: () => 1_000 }
    const report = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
  })

  const change = (...changes: LandChange[]) => applyLandChanges(db, changes, 2_000)

  async function hold() {
    const head = await readLandHead(db)
    return { ...head, worldId: head.worldId! }
  }

  test('are all read, however often the same few assets changed before the others', async () => {
    const held = await hold()
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'])
      await change(
        { kind: 'change-parcel', x: -1, y: 0, to: { name } },
        { kind: 'change-estate', id: '1', to: { name } },
        { kind: 'close-publication', key: 1, to: { status: 'sold', buyer: name, atMs: 5 } },
      )
    await change(
      { kind: 'change-parcel', x: 0, y: 0, to: { name: 'last' } },
      { kind: 'create-estate', estate: estateRow('7') },
      { kind: 'open-publication', publication: publicationRow('new', { asset_id: '2,0' }) },
    )

    const read = await readChangedRows(db, held, 6)

    expect(read?.parcels.map(({ x, y, name }) => [x, y, name]).sort()).toEqual([
      [-1, 0, 'eight'],
      [0, 0, 'last'],
    ])
    expect(read?.estates.map(({ id }) => id).sort()).toEqual(['1', '7'])
    expect(read?.publications.map(({ key }) => key).sort()).toEqual([1, 6])
    expect(read?.changed).toMatchObject({ estates: ['1', '7'], publications: [1, 6] })
    expect(await readChangedRows(db, held, 5)).toBeUndefined()
  })
})

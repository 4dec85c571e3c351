import { coordText } from '@landpass/client/grid'
import { beforeEach, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { applyLandChanges, type LandChange } from '../../../test/support/land/land-changes.ts'
import { bidRow, estateRow, publicationRow } from '../../../test/support/land/land-rows.ts'
import { MUSEUM, TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { importSnapshot } from '../snapshot/import.ts'
import { ChangedSubjects, KEPT_ROWS, readChangedAssets, revisionAt, writeJournal } from './change-journal.ts'
import { writeChange } from './changes.ts'
import { readLandHead } from './land-head.ts'
import { TableRows } from './table-rows.ts'

const NOTHING = { parcels: [], estates: [], publications: [] }

describeOnBothEngines('the journal of changes', (open) => {
  let db: Db
  beforeEach(async () => {
    db = (await open()).db
    await importTiny()
  })

  async function importTiny(): Promise<void> {
    const clock = { nowMs: () => 1_000 }
    const report = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
  }

  const change = (...changes: LandChange[]) => applyLandChanges(db, changes, 2_000)

  async function changedSince(afterRevision: number, worldId?: number) {
    const head = await readLandHead(db)
    return readChangedAssets(db, worldId ?? head.worldId!, { afterRevision, toRevision: head.revision })
  }

  async function revision(): Promise<number> {
    return (await readLandHead(db)).revision
  }

  test('names what changed since any revision that it reaches back to, each once', async () => {
    const start = await revision()
    await change({ kind: 'change-parcel', x: -1, y: 0, to: { name: 'one' } })
    const middle = await change(
      { kind: 'change-parcel', x: -1, y: 0, to: { name: 'two' } },
      { kind: 'change-estate', id: '1', to: { name: 'three' } },
      { kind: 'open-publication', publication: publicationRow('new', { asset_id: '2,0' }) },
    )
    await change(
      { kind: 'change-parcel', x: 0, y: 0, to: { name: 'four' } },
      { kind: 'close-publication', key: 1, to: { status: 'cancelled', buyer: null, atMs: 5 } },
      { kind: 'create-estate', estate: estateRow('7') },
    )

    expect(await changedSince(start)).toEqual({
      parcels: [
        { x: -1, y: 0 },
        { x: 0, y: 0 },
      ],
      estates: ['1', '7'],
      publications: [6, 1],
    })
    expect(await changedSince(middle)).toEqual({
      parcels: [{ x: 0, y: 0 }],
      estates: ['7'],
      publications: [1],
    })
    expect(await changedSince(middle + 1)).toEqual(NOTHING)
  })

  test('knows which revision there was at a time, as far as it reaches back', async () => {
    const { worldId } = await readLandHead(db)
    const atTimes = async (...timesMs: number[]) =>
      Promise.all(timesMs.map((timeMs) => revisionAt(db, worldId!, timeMs)))
    const bid = (name: string): LandChange => ({ kind: 'place-bid', bid: bidRow(name, {}) })
    const first = await applyLandChanges(db, [bid('first')], 10_000)
    const second = await applyLandChanges(db, [bid('second')], 20_000)

    expect(await atTimes(9_999, 10_000, 19_999, 20_000, 30_000)).toEqual([
      first - 1,
      first,
      first,
      second,
      second,
    ])
    expect(await atTimes(-1)).toEqual([undefined])
    expect(await revisionAt(db, worldId! + 1, 30_000)).toBeUndefined()

    const back = await applyLandChanges(db, [{ kind: 'change-estate', id: '1', to: { name: 'one' } }], 15_000)
    // At 15,000 the clock may have shown the time before `second` or after it.
    expect(await atTimes(9_999, 15_000, 19_999, 20_000)).toEqual([first - 1, first, first, back])
  })

  test('a parcel that moves changes the estate that it leaves and the one that it joins', async () => {
    const start = await revision()
    await change({ kind: 'change-parcel', x: 1, y: 1, to: { estate_id: '2', estate_position: 3 } })
    expect((await changedSince(start))?.estates).toEqual(['1', '2'])

    const joined = await change({ kind: 'change-parcel', x: -1, y: 0, to: { estate_id: '2' } })
    expect((await changedSince(joined - 1))?.estates).toEqual(['2'])

    const left = await change({ kind: 'change-parcel', x: -1, y: 0, to: { estate_id: null } })
    expect((await changedSince(left - 1))?.estates).toEqual(['2'])

    const moved = await change({ kind: 'change-parcel', x: 1, y: 1, to: { estate_position: 0 } })
    expect((await changedSince(moved - 1))?.estates).toEqual(['2'])
  })

  test('a publication that takes the key of another one changes the asset of that one', async () => {
    const { worldId, revision } = await readLandHead(db)
    const { asset_id, asset_type } = await db
      .selectFrom('publication')
      .select(['asset_id', 'asset_type'])
      .where('world_id', '=', worldId!)
      .where('key', '=', 1)
      .executeTakeFirstOrThrow()
    const other = { ...publicationRow('other', { asset_id: '0,0' }), key: 1 }
    await inTransaction(db, async (tx) => {
      const rows = new TableRows(tx, worldId!)
      await rows.readRows(new Map([['publication', [{ key: 1 }]]]))
      rows.put('publication', other)
      await writeChange(tx, rows, { revision, nowMs: 2_000 })
    })
    const changed = await changedSince(revision)
    const named = asset_type === 'estate' ? changed?.estates : changed?.parcels.map(coordText)
    expect([named, changed?.publications]).toEqual([[asset_id], [1]])
  })

  test('a change that the state does not show has a row and names no asset', async () => {
    const start = await revision()
    await change({ kind: 'place-bid', bid: bidRow('one', {}) })
    await change({ kind: 'close-bid', id: bidRow('one', {}).id, to: { status: 'sold', atMs: 5 } })
    await change({ kind: 'change-parcel', x: 99, y: 99, to: { name: 'no such parcel' } })

    expect(await changedSince(start)).toEqual(NOTHING)
  })

  test('cannot tell what it does not reach: other worlds, imports, the future, what it cannot name', async () => {
    const start = await revision()
    const { worldId } = await readLandHead(db)
    const named = await change({ kind: 'change-parcel', x: -1, y: 0, to: { name: 'one' } })
    expect(await changedSince(start, worldId! + 1)).toBeUndefined()
    expect(await changedSince(start - 1)).toBeUndefined()
    expect(await changedSince(named + 1)).toBeUndefined()
    expect(
      await readChangedAssets(db, worldId!, { afterRevision: start, toRevision: named + 1 }),
    ).toBeUndefined()

    const unnamed = await change({ kind: 'change-parcel', x: 2, y: 0, to: { road_district_id: MUSEUM } })
    expect(await changedSince(start)).toBeUndefined()
    expect(await changedSince(unnamed)).toEqual(NOTHING)

    // A revision without a row
    await db
      .updateTable('land_state')
      .set((eb) => ({ revision: eb('revision', '+', 1) }))
      .execute()
    const after = await change({ kind: 'change-parcel', x: -1, y: 0, to: { name: 'two' } })
    expect(await changedSince(unnamed)).toBeUndefined()
    expect(await changedSince(after - 1)).toMatchObject({ parcels: [{ x: -1, y: 0 }] })

    await importTiny()
    expect(await changedSince(after)).toBeUndefined()
    expect(await readChangedAssets(db, worldId!, { afterRevision: start, toRevision: named })).toBeUndefined()
    expect(await db.selectFrom('land_change').select('subject').execute()).toEqual([{ subject: 'anything' }])
    expect(await changedSince(after + 1)).toEqual(NOTHING)
  })

  test('deletes whole revisions, the oldest first', async () => {
    const { worldId, revision: start } = await readLandHead(db)
    const write = (revision: number, estates: number) =>
      inTransaction(db, async (tx) => {
        const subjects = new ChangedSubjects()
        for (let id = 0; id < estates; id++) subjects.add('estate', String(id))
        await writeJournal(tx, { worldId: worldId!, revision, changedAtMs: 1 }, subjects)
      })
    const half = KEPT_ROWS / 2
    await write(start + 1, half)
    await write(start + 2, half - 3)
    const asked = (afterRevision: number, toRevision: number) =>
      readChangedAssets(db, worldId!, {
        afterRevision: start + afterRevision,
        toRevision: start + toRevision,
      })

    expect((await asked(0, 2))?.estates).toHaveLength(half)
    await write(start + 3, 200)
    expect(await asked(0, 3)).toBeUndefined()
    expect((await asked(1, 3))?.estates).toHaveLength(half - 3)
    await write(start + 4, KEPT_ROWS)
    expect(await asked(3, 4)).toBeUndefined()
    expect(await asked(2, 3)).toMatchObject({ parcels: [], publications: [] })
  })
})

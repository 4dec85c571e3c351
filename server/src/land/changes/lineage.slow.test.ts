import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { importSnapshot } from '../snapshot/import.ts'
import { readChangedRows } from './changed-rows.ts'
import { readLandHead } from './land-head.ts'
import { renewLineage, renewLineageIfMoved } from './lineage.ts'

const clock = testClock()
const LATER_MS = clock.nowMs() + 1_000
const facts = { folder: undefined, nowMs: LATER_MS }

describeOnBothEngines('the lineage of a database', (open, kind) => {
  test('is new once for each location, however many processes start, and stays afterwards', async () => {
    const engines = [await open(), await open(), await open()]
    const [{ db }] = engines as [(typeof engines)[number]]
    await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    const first = await readLandHead(db)
    expect(first).toMatchObject({ location: 'new', folder: null })

    const renewals = (await Promise.all(engines.map((one) => renewLineageIfMoved(one.db, facts)))).filter(
      Boolean,
    )

    const located = await readLandHead(db)
    expect(renewals).toEqual([{ from: first.lineage, to: located.lineage, why: undefined }])
    // Nobody has seen a tag of this database: the revision and its time stay, and so does the copy on disk
    expect(located).toEqual({ ...first, lineage: expect.not.stringMatching(first.lineage), location: 'same' })
    expect(await renewLineageIfMoved(db, facts)).toBeUndefined()
  })

  test.each([
    ['cluster', '"7"', 'it was restored in another PostgreSQL cluster'],
    ['database', '7', 'it is a copy of another database of this cluster'],
    ['table', '7', 'its tables were restored from a dump'],
    ['timeline', '"00000009"', 'another server took over, or the cluster was restored to a point in time'],
  ])('is new, with a new revision of now, where it came from another %s', async (part, value, why) => {
    const { db } = await open()
    const before = await readLandHead(db)
    expect(before.location).toBe('same')
    await sql`update land_location set location = jsonb_set(location, ${[part]}, ${value}::jsonb)`.execute(db)
    expect((await readLandHead(db)).location).toBe('moved')

    const renewal = await renewLineageIfMoved(db, facts)

    const after = await readLandHead(db)
    expect(renewal).toEqual({ from: before.lineage, to: after.lineage, why })
    expect(after.lineage).toMatch(/^[0-9a-f]{12}$/)
    expect(after).toEqual({
      ...before,
      lineage: after.lineage,
      revision: before.revision + 1,
      changedAtMs: LATER_MS,
    })
    expect(await readChangedRows(db, { ...after, worldId: after.worldId! }, 1)).toMatchObject({ parcels: [] })
    expect(await readChangedRows(db, { ...before, worldId: before.worldId! }, 1)).toBeUndefined()
  })

  test('is new where the folder is another one, or the revision is behind one that was shown', async () => {
    const { db } = await open()
    const { lineage, revision } = await readLandHead(db)

    const behind = await renewLineageIfMoved(db, { ...facts, shown: { lineage, revision: revision + 1 } })
    const ofOthers = await renewLineageIfMoved(db, { ...facts, shown: { lineage, revision: revision + 9 } })
    const copied = await renewLineageIfMoved(db, { ...facts, folder: '1-2' })
    const again = await renewLineageIfMoved(db, { ...facts, folder: '1-2' })

    expect(behind?.why).toContain(`its revision is ${revision}, after ${revision + 1} was shown`)
    expect(copied?.why).toBe('its folder is a copy of another one')
    expect([ofOthers, again]).toEqual([undefined, undefined])
    expect((await readLandHead(db)).folder).toBe('1-2')
  })

  test('is new whenever the operator says so', async () => {
    const { db } = await open()
    const before = await readLandHead(db)

    const { from, to } = await renewLineage(db, facts)

    expect(from).toBe(before.lineage)
    expect(await readLandHead(db)).toMatchObject({ lineage: to, revision: before.revision + 1 })
  })

  if (kind === 'postgres')
    test('can be kept by a role without rights, because the location is read with those of the owner', async () => {
      const { db } = await open()
      await sql`revoke execute on function pg_control_system() from public`.execute(db)
      await db.transaction().execute(async (tx) => {
        await sql`set local role pg_read_all_data`.execute(tx)
        expect((await readLandHead(tx)).location).toBe('same')
      })
      await sql`grant execute on function pg_control_system() to public`.execute(db)
    })
})

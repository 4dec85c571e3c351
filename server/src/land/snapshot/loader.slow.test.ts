import { parseWorld } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { SYSTEM_CLOCK } from '../../clock.ts'
import { bareGround } from './ground.ts'
import type { Loader } from './loader.ts'
import { makeWorld } from './new-world.ts'

/** 2,500 parcels: some twenty statements, or five where several run at a time. */
const PARCELS = bareGround(parseWorld('0,0,49,49')!, 1_000).parcels

async function addAll(loader: Loader, rows: readonly object[]): Promise<boolean> {
  for (const row of rows) {
    const full = loader.add('parcel', row)
    if (full) await full
  }
  return true
}

describeOnBothEngines('rows that are written with several statements at a time', (open, kind) => {
  // The embedded engine has one session: where a statement fails makes less difference there
  const wrongRows =
    kind === 'embedded' ? [0, 1_900, 2_499] : [0, 1_200, 1_700, 1_900, 2_100, 2_200, 2_300, 2_400, 2_499]

  test.each([1, 2, 3])('are all there: %i', async (insertsAtOnce) => {
    const { db } = await open()
    const options = { clock: SYSTEM_CLOCK, insertsAtOnce }

    const shown = await makeWorld(db, options, { fill: (loader) => addAll(loader, PARCELS) })

    const rows = await db
      .selectFrom('parcel')
      .select(['x', 'y'])
      .where('world_id', '=', shown!.worldId)
      .execute()
    expect(new Set(rows.map(({ x, y }) => `${x},${y}`)).size).toBe(2_500)
    expect(rows).toHaveLength(2_500)
  })

  test.each([1, 2])('are not shown where one statement fails, wherever it is: %i', async (insertsAtOnce) => {
    const { db } = await open()
    const options = { clock: SYSTEM_CLOCK, insertsAtOnce }
    const shownWorld = () => db.selectFrom('land_state').select(['world_id', 'revision']).executeTakeFirst()
    const before = await shownWorld()

    for (const at of wrongRows) {
      const wrong = PARCELS.with(at, { ...PARCELS[at]!, x: null as unknown as number })
      await expect(makeWorld(db, options, { fill: (loader) => addAll(loader, wrong) })).rejects.toThrow()
    }

    expect(await shownWorld()).toEqual(before)
    await makeWorld(db, options, { fill: (loader) => addAll(loader, PARCELS) })
    expect(await shownWorld()).not.toEqual(before)
  })
})

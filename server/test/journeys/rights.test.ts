import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyLandChanges } from '../../src/land/changes/changes.ts'
import { exportSnapshot } from '../../src/land/snapshot/export.ts'
import { importSnapshot } from '../../src/land/snapshot/import.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { type LandServer, startLandServer, testClock } from '../support/land-server.ts'
import { ANN, BOB, CLEO, jsonLine, TINY_WORLD, tinyRecords, tinySnapshot } from '../support/tiny-world.ts'

const MANAGED = { approvals_for_all: [CLEO, ANN], update_managers: [BOB] }
const NOBODY = { approvals_for_all: [], update_managers: [] }

/** The tiny world, where others may act for the owners of parcel 2,-1 and estate 2. */
function recordsWithRights() {
  const records = tinyRecords()
  Object.assign(records.parcels.find(({ id }) => id === '2,-1')!, MANAGED)
  Object.assign(records.estates.find(({ id }) => id === '2')!, { update_managers: [CLEO] })
  return records
}

describeOnBothEngines('who else may act for an owner', (open, kind) => {
  let server: LandServer
  const clock = testClock(Date.parse('2019-06-01T00:00:00.000Z'))
  beforeAll(async () => {
    const { db } = await open()
    const folder = tinySnapshot({ records: recordsWithRights() })
    const report = await importSnapshot(db, folder, { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
    server = await startLandServer(await open(), clock, { WORLD: '-2,-2,2,2' })
  })
  afterAll(() => server.close())

  test('stands on every parcel and estate, just before its publication; empty where nobody is known', async () => {
    expect(await server.data('/parcels/2/-1')).toMatchObject(MANAGED)
    expect(await server.data('/parcels/2/0')).toMatchObject(NOBODY)
    expect(await server.data('/estates/2')).toMatchObject({ ...NOBODY, update_managers: [CLEO] })
    const { text } = await server.get('/v1/parcels/2/-1')
    expect(text).toContain(
      `"approvals_for_all":["${CLEO}","${ANN}"],"update_managers":["${BOB}"],"publication":null}`,
    )
  })

  test('is the same in the map, the lists and what belongs to an address', async () => {
    const one = await server.data('/parcels/2/-1')
    const { assets } = await server.data<{ assets: { parcels: { id: string }[]; estates: object[] } }>(
      '/map?nw=-2,2&se=2,-2',
    )
    const sold = await server.data<{ parcels: { id: string }[] }>('/parcels?status=sold')
    const owned = await server.data<{ id: string }[]>(`/addresses/${BOB}/parcels`)

    expect(assets.parcels.find(({ id }) => id === '2,-1')).toEqual(one)
    expect(assets.parcels).toHaveLength(25)
    for (const asset of [...assets.parcels, ...assets.estates])
      expect(asset).toMatchObject({
        approvals_for_all: expect.any(Array),
        update_managers: expect.any(Array),
      })
    expect(sold.parcels).toMatchObject([{ id: '2,-1', ...MANAGED }])
    expect(owned.find(({ id }) => id === '2,-1')).toEqual(one)
  })

  test('comes out of an export as it went in', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-rights-')), 'world')
    await exportSnapshot((await open()).db, folder, { inOneTransaction: kind === 'postgres' })

    for (const set of ['parcels', 'estates'] as const) {
      const text = gunzipSync(readFileSync(join(folder, `${set}.ndjson.gz`))).toString()
      expect(text).toBe(
        recordsWithRights()
          [set].map((record) => `${jsonLine(record)}\n`)
          .join(''),
      )
    }
  })

  test('changes with the next revision', async () => {
    const { db } = await open()
    await applyLandChanges(
      db,
      [
        { kind: 'change-parcel', x: 2, y: -1, to: { approvals_for_all: [], update_managers: [ANN, CLEO] } },
        { kind: 'change-estate', id: '2', to: { update_managers: null } },
      ],
      clock.nowMs(),
    )

    await expect
      .poll(() => server.data('/parcels/2/-1'))
      .toMatchObject({ approvals_for_all: [], update_managers: [ANN, CLEO] })
    await expect.poll(() => server.data('/estates/2')).toMatchObject(NOBODY)
  })
})

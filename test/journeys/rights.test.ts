import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { exportSnapshot } from '@landpass/server/land/snapshot/export'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import {
  ANN,
  address,
  BOB,
  CLEO,
  jsonLine,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '@landpass/server/test/support/land/tiny-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** How long before `from` `/tiles/new` begins to search. */
const MARGIN_MS = 60_000

const MANAGED = { approvals_for_all: [CLEO, ANN], update_managers: [BOB] }
const RIGHTS_OF_CLEO = {
  owns: ['10 owner'],
  operates: ['1 operator'],
  may_update: [`2,-1 approved by ${BOB}`, '1 operator', `2 update_manager of ${BOB}`],
  manages: [`2 update_manager of ${BOB}`],
  approved_for_all: [`2,-1 approved by ${BOB}`],
}
const NOBODY = { approvals_for_all: [], update_managers: [] }

/** The tiny world, where others may act for the owners of parcel 2,-1 and estate 2. */
function recordsWithRights() {
  const records = tinyRecords()
  Object.assign(records.parcels.find(({ id }) => id === '2,-1')!, MANAGED)
  Object.assign(records.estates.find(({ id }) => id === '2')!, { update_managers: [CLEO] })
  return records
}

describeOnOneEngine('who else may act for an owner', (open) => {
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

  test('is in every parcel and estate, just before its publication, and empty if no address is known', async () => {
    expect(await server.data('/parcels/2/-1')).toMatchObject(MANAGED)
    expect(await server.data('/parcels/2/0')).toMatchObject(NOBODY)
    expect(await server.data('/estates/2')).toMatchObject({ ...NOBODY, update_managers: [CLEO] })
    const { text } = await server.get('/v1/parcels/2/-1')
    expect(text).toContain(
      `"approvals_for_all":["${CLEO}","${ANN}"],"update_managers":["${BOB}"],"tenant":null,"rented_until":null,"publication":null}`,
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

  test('shows in the tiles of an address, as the older web client asks for them', async () => {
    const tilesOf = (who: string) => server.get(`/v1/tiles/${who}`)
    const typesOf = async (who: string) => {
      const tiles = await server.data<Record<string, { type: number }>>(
        `/tiles/${who.toUpperCase().replace('X', 'x')}`,
      )
      return Object.entries(tiles).map(([key, { type }]) => `${key} ${type}`)
    }

    expect((await tilesOf(CLEO)).text).toBe(
      '{"ok":true,"data":{"1,2":{"type":4,"x":1,"y":2,"name":"Estate 2","estate_id":"2"},' +
        '"1,1":{"type":4,"x":1,"y":1,"name":"Estate 1","estate_id":"1"},' +
        '"1,0":{"type":4,"x":1,"y":0,"top":1,"name":"Estate 1","estate_id":"1"},' +
        '"2,2":{"type":4,"x":2,"y":2,"left":1,"name":"Estate 2","estate_id":"2"},' +
        '"2,1":{"type":4,"x":2,"y":1,"top":1,"topLeft":1,"name":"Estate 2","estate_id":"2"},' +
        '"2,-1":{"type":4,"x":2,"y":-1}}}',
    )
    expect(await typesOf(ANN)).toEqual(['-2,-1 0', '-2,-2 0', '1,1 2', '1,0 2', '2,-1 4'])
    const bob = await typesOf(BOB)
    expect(bob.filter((tile) => !tile.endsWith(' 0'))).toEqual([
      '-2,-1 6',
      '-2,-2 6',
      '1,2 2',
      '2,2 2',
      '2,1 2',
      '2,0 1',
    ])
    expect(bob).toHaveLength(6 + 14)
    expect((await tilesOf(BOB)).text).toContain(
      '"-2,-2":{"type":6,"x":-2,"y":-2,"top":1,"name":"Museum\u2028of lines"}',
    )
    expect((await tilesOf(BOB)).text).toContain(
      '"2,0":{"type":1,"x":2,"y":0,"price":"16787.030000000000000003"}',
    )
    expect(await typesOf(address('9'))).toEqual([])
    expect(await server.get('/tiles/cleo')).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
  })

  test('such tiles have an ETag, which changes when they change', async () => {
    const path = `/v1/tiles/${BOB}`
    const { headers } = await server.get(path)
    const again = { headers: { 'if-none-match': headers.get('etag')! } }

    expect((await server.ask('GET', path, again)).status).toBe(304)
    clock.set(Date.parse('2020-06-01T00:00:00.000Z')) // when the offer for 2,0 has ended
    expect((await server.ask('GET', path, again)).status).toBe(200)
    expect((await server.get(path)).text).toContain('"2,0":{"type":0,')
    clock.set(Date.parse('2019-06-01T00:00:00.000Z'))
  })

  test('is answered for an address: what it has a right over, each with why', async () => {
    interface Right {
      readonly asset_id: string
      readonly why: string
    }
    const rights = async (who: string) => {
      const found = await server.data<Record<string, Right[]>>(`/v2/addresses/${who}/rights`)
      return Object.fromEntries(
        Object.entries(found)
          .filter(([, list]) => list.length > 0)
          .map(([name, list]) => [name, list.map(({ asset_id, why }) => `${asset_id} ${why}`)]),
      )
    }

    expect(await rights(CLEO)).toEqual(RIGHTS_OF_CLEO)
    expect((await rights(BOB)).manages).toEqual([`2,-1 update_manager of ${BOB}`])
    expect(await rights(address('9'))).toEqual({})
    // The update operator of 2,0 in the snapshot
    expect(await rights(address('0'))).toEqual({})
    expect(await server.data(`/v2/parcels/2/0/rights?address=${address('0')}`)).toMatchObject({
      who: [{ address: BOB, why: 'owner' }],
      may_update: false,
    })
    expect(await server.data(`/v2/land?may_update=${address('0')}`)).toMatchObject({ land: [], total: 0 })
    expect(await server.data(`/v1/tiles/${address('0')}`)).toEqual({})
    expect(await server.data('/parcels/2/0')).toMatchObject({ update_operator: address('0') })
  })

  test('is answered for places: who may deploy there, and why not another', async () => {
    const deployers = await server.data<{ who: object[] }>('/v2/parcels/2/-1/rights')
    const asked = (who: string, path: string) =>
      server.data(`/v2/${path}/rights?address=${who.toUpperCase().replace('X', 'x')}`)

    expect(deployers.who).toEqual([
      { address: BOB, why: 'owner' },
      { address: CLEO, why: `approved by ${BOB}` },
      { address: ANN, why: `approved by ${BOB}` },
      { address: BOB, why: `update_manager of ${BOB}` },
    ])
    expect(await asked(CLEO, 'parcels/2/-1')).toMatchObject({ may_update: true, why: `approved by ${BOB}` })
    // In an estate the rights over the estate count
    expect(await asked(CLEO, 'parcels/2/1')).toMatchObject({
      address: CLEO,
      may_update: true,
      why: `estate's update_manager of ${BOB}`,
    })
    expect(await asked(ANN, 'estates/2')).toMatchObject({
      may_update: false,
      why: `the owner is ${BOB}, who gave ${ANN} no right`,
    })

    const places = ['2,-1', '2,1', '0,0', '900,900']
    const { body } = await server.send('POST', '/v2/rights', { address: BOB, places })
    expect(body.data).toMatchObject({
      address: BOB,
      places: [
        { place: '2,-1', may_update: true, why: 'owner' },
        { place: '2,1', may_update: true, why: "estate's owner" },
        { place: '0,0', may_update: false },
        { place: '900,900', may_update: false, why: 'there is no parcel' },
      ],
    })
    const many = Array.from({ length: 501 }, () => '0,0')
    for (const refused of [{ address: BOB, places: many }, { address: BOB, places: ['east'] }, { places }])
      expect(await server.send('POST', '/v2/rights', refused)).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter' },
      })
    expect(await server.send('POST', '/v2/rights?adress=0x1', { address: BOB, places })).toMatchObject({
      ...{ status: 400, body: { data: { parameter: 'adress' } } },
    })
  })

  test('is exported as it was imported', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-rights-')), 'world')
    await exportSnapshot((await open()).db, folder, { inOneTransaction: true })

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

  test('and so do the tiles that are new since a time', async () => {
    const { db } = await open()
    const newTiles = async (fromMs: number) => {
      const tiles = await server.data<Record<string, object>>(`/v1/tiles/new?from=${fromMs}`)
      const all = await server.data<Record<string, object>>('/v1/tiles')
      for (const [key, tile] of Object.entries(tiles)) expect(tile).toEqual(all[key])
      return Object.keys(tiles)
    }
    // Times are rounded down to 10 s, and the search begins a minute before.
    const startMs = clock.nowMs() + MARGIN_MS
    expect(await newTiles(startMs + 10_000)).toEqual([])
    clock.set(startMs)
    const change = async (x: number, y: number, name: string) => {
      clock.set(clock.nowMs() + 100_000)
      await applyLandChanges(db, [{ kind: 'change-parcel', x, y, to: { name } }], clock.nowMs())
      await server.app.keeper.refresh()
    }
    await change(-1, 2, 'first')
    // A client may have read the tiles just before this process showed the revision, seconds after its commit.
    for (const laterMs of [0, 3_000, MARGIN_MS - 1])
      expect(await newTiles(clock.nowMs() + laterMs)).toEqual(['-1,2', '-1,1', '0,2', '0,1'])
    const tag = (await server.get(`/tiles/new?from=${startMs}`)).headers.get('etag')!
    const again = () => server.ask('GET', `/tiles/new?from=${startMs}`, { headers: { 'if-none-match': tag } })
    expect((await again()).status).toBe(304)
    await change(2, -2, 'second')

    expect((await again()).status).toBe(200)
    // Each with the neighbours that it may join.
    expect(await newTiles(startMs)).toEqual(['-1,2', '-1,1', '0,2', '0,1', '2,-2'])
    const secondMs = clock.nowMs()
    expect(await newTiles(secondMs - 0.5)).toEqual(['2,-2'])
    expect(await newTiles(secondMs + MARGIN_MS - 1)).toEqual(['2,-2'])
    expect(await newTiles(secondMs + MARGIN_MS + 10_000)).toEqual([])
    for (const longAgo of [0, -1, 1.5, -1e15]) expect(await newTiles(longAgo)).toHaveLength(25)

    const endMs = Date.parse('2019-03-01T00:00:00.000Z') + 365 * 86_400_000
    clock.set(endMs + 5)
    expect(await newTiles(endMs - 1)).toEqual(['2,0'])
    expect(await newTiles(endMs + MARGIN_MS + 10_000)).toEqual([])
    for (const query of ['', '?from=', '?from=yesterday', '?from=1e999'])
      expect(await server.get(`/v1/tiles/new${query}`)).toMatchObject({ status: 400 })
  })

  test('a random parcel without an owner, and the number of such parcels', async () => {
    const { db } = await open()
    expect(await server.get('/v1/parcels/available')).toMatchObject({
      status: 404,
      body: { code: 'parcel_not_found' },
    })
    expect(await server.data('/parcels/availableCount')).toBe(0) // the road has no owner, but is not to be had

    const free = ['-1,1', '-1,2']
    for (const y of [1, 2])
      await applyLandChanges(db, [{ kind: 'change-parcel', x: -1, y, to: { owner: null } }], clock.nowMs())
    await server.app.keeper.refresh()

    expect(await server.data('/v1/parcels/availableCount')).toBe(2)
    const seen = new Set<string>()
    for (let tries = 0; tries < 100 && seen.size < free.length; tries++) {
      const { headers, body } = await server.get('/parcels/available')
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
      const parcel = body.data as { id: string }
      expect(parcel).toEqual(await server.data(`/parcels/${parcel.id.replace(',', '/')}`))
      seen.add(parcel.id)
    }
    expect([...seen].sort()).toEqual(free)
  })
})

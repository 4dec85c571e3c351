import { join } from 'node:path'
import { FeedGrid, readFeed } from '@landpass/client/feed'
import { encodeTokenId, tokenIdHex } from '@landpass/client/grid'
import type { Db } from '@landpass/server/db/engine'
import { inTransaction } from '@landpass/server/db/transaction'
import { exportSnapshot } from '@landpass/server/land/snapshot/export'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { describeOnOneEngine, emptyDir } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { applyLandChanges, changeLand } from '@landpass/server/test/support/land/land-changes'
import { ESTATE_REGISTRY, LAND_REGISTRY } from '@landpass/server/test/support/land/registries'
import {
  address,
  BOB,
  CLEO,
  hash,
  type Records,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '@landpass/server/test/support/land/tiny-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Parcels that a chain names outside of the setting WORLD: they belong to owners and estates, and to no map. */

/** Beside the world: its neighbour 2,0 must not join it. */
const BESIDE = { x: 3, y: 0 }
const FAR = { x: 40, y: -70 }
const ERIN = address('9')

/** The tiny world, and besides: 3,0 of Erin, for sale, 3,1 in estate 1, and estate 11, all of whose parcels are far away. */
function recordsWithOutside(): Records {
  const records = tinyRecords()
  const model = records.parcels.find(({ id }) => id === '2,0')!
  const parcel = ({ x, y }: typeof FAR, change: object) =>
    records.parcels.push({
      ...model,
      x,
      y,
      id: `${x},${y}`,
      token_id: encodeTokenId({ x, y }).toString(),
      ...change,
    })
  const inEstate = (estate_id: string) => ({ estate_id, owner: ESTATE_REGISTRY })
  parcel(BESIDE, { owner: ERIN, update_operator: CLEO, data: { version: 0, name: 'Beside the wall' } })
  parcel({ x: 3, y: 1 }, inEstate('1'))
  parcel(FAR, inEstate('11'))
  const [first] = records.estates
  first!.data.parcels.push({ x: 3, y: 1 })
  const farData = { version: 0, name: 'Far away', parcels: [FAR] }
  records.estates.push({ ...first!, id: '11', token_id: '11', owner: ERIN, data: farData })
  const offer = records.publications.at(-1)!
  const createdMs = offer.block_time_created_at
  records.publications.push(
    { ...offer, tx_hash: hash(0x901), owner: ERIN, asset_id: '3,0', asset_type: 'parcel', price: 77 },
    {
      ...offer,
      tx_hash: hash(0x902),
      owner: ERIN,
      asset_id: '11',
      asset_type: 'estate',
      block_time_created_at: createdMs,
    },
  )
  const token_id = encodeTokenId(BESIDE).toString()
  records.bids.push({ ...records.bids[0]!, id: hash(0x903), seller: ERIN, asset_id: '3,0', token_id })
  records.mortgages.push({ ...records.mortgages[0]!, asset_id: '3,0', mortgage_id: 90, loan_id: 90 })
  return records
}

describeOnOneEngine('parcels outside of WORLD', (open) => {
  let server: LandServer
  const clock = testClock(Date.parse('2019-06-01T00:00:00.000Z'))

  beforeAll(async () => {
    const { db } = await open()
    const folder = tinySnapshot({
      records: recordsWithOutside(),
      manifest: (manifest) => Object.assign(manifest, { from_chain: true }),
    })
    const report = await importSnapshot(db, folder, { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
    await roundTrip(db)
    server = await startLandServer(await open(), clock, { WORLD: '-2,-2,2,2' })
  })
  afterAll(() => server.close())

  /** The export of a world that was imported and not followed says that it is from a chain: it could not be imported otherwise. */
  async function roundTrip(db: Db): Promise<void> {
    const folder = join(emptyDir(), 'exported')
    await exportSnapshot(db, folder, { world: TINY_WORLD, inOneTransaction: true })
    const report = await importSnapshot(db, folder, { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
  }

  interface Asset {
    readonly id: string
    readonly data: { readonly parcels?: readonly object[] }
    readonly publication: { readonly price: number } | null
  }
  const idsOf = (assets: readonly { readonly id: string }[]) => assets.map(({ id }) => id)

  test('answer by their coordinates and token ids', async () => {
    const parcel = await server.data<Asset>('/parcels/3/0')

    expect(parcel).toMatchObject({ id: '3,0', owner: ERIN, publication: { price: 77 } })
    for (const path of [
      '/parcels/3,0',
      `/parcels/${encodeTokenId(BESIDE)}`,
      `/v1/parcels/${tokenIdHex(BESIDE)}`,
    ])
      expect(await server.data(path), path).toEqual(parcel)
    expect(await server.data('/parcels/3/0/encodedId')).toEqual({ encoded_id: tokenIdHex(BESIDE) })
    for (const at of ['3/0', '3,0']) {
      expect(await server.data(`/parcels/${at}/publications`)).toMatchObject([{ tx_hash: hash(0x901) }])
      expect(await server.data(`/parcels/${at}/bids?status=open`)).toMatchObject([{ id: hash(0x903) }])
      expect(await server.data(`/parcels/${at}/mortgages`)).toMatchObject([{ mortgage_id: 90 }])
    }
    for (const path of ['/v2/parcels/3/0', `/v2/contracts/${LAND_REGISTRY}/tokens/${encodeTokenId(BESIDE)}`])
      expect((await server.get(path)).body).toMatchObject({ name: 'Beside the wall' })
  })

  test('where there is none, coordinates are refused as always', async () => {
    for (const rest of ['', '/bids', '/publications', '/mortgages', '/encodedId'])
      expect(await server.get(`/parcels/4/0${rest}`), rest).toMatchObject({
        status: 400,
        body: {
          error: 'x is 4, but must be a whole number from -2 to 2.',
          data: { parameter: 'x', value: '4', allowed: 'a whole number from -2 to 2' },
        },
      })
    expect((await server.get('/v2/parcels/0/-3')).body.error).toBe(
      'y is -3, but must be a whole number from -2 to 2.',
    )
    expect((await server.get('/parcels/4,0')).status).toBe(400)
    expect((await server.get(`/parcels/${encodeTokenId({ x: 4, y: 0 })}`)).status).toBe(404)
    expect((await server.get('/parcels/x/0')).status).toBe(400)
  })

  test('are in the lists of their owner, of what is for sale, and of their estates', async () => {
    expect(idsOf(await server.data(`/addresses/${ERIN}/parcels`))).toEqual(['3,0'])
    expect(idsOf(await server.data(`/addresses/${ERIN}/estates`))).toEqual(['11'])
    expect(idsOf(await server.data(`/bids/${CLEO}/assets`))).toContain('3,0')
    expect(idsOf(await server.data(`/mortgages/${BOB}/parcels`))).toContain('3,0')
    const { parcels } = await server.data<{ parcels: Asset[] }>('/parcels')
    const { estates } = await server.data<{ estates: Asset[] }>('/estates')
    expect(idsOf(parcels)).toContain('3,0')
    expect(idsOf(estates)).toContain('11')
    expect((await server.data<Asset>('/estates/11')).data.parcels).toEqual([FAR])
    expect((await server.data<Asset>('/estates/1')).data.parcels).toHaveLength(3)
  })

  test('are in no map, tile, file, search or list of prices', async () => {
    const inWorld = (key: string) => key.split(',').every((number) => Math.abs(Number(number)) <= 2)
    for (const path of [
      '/v2/tiles',
      '/v1/tiles',
      '/v1/tiles/new?from=0',
      `/v1/tiles/${ERIN}`,
      `/v1/tiles/${CLEO}`,
    ]) {
      const { body } = await server.get(path)
      expect(
        Object.keys(body.data as object).filter((key) => !inWorld(key)),
        path,
      ).toEqual([])
    }
    expect(Object.keys(await server.data<object>('/v2/tiles'))).toHaveLength(25)
    const map = await server.data<{ assets: { parcels: Asset[]; estates: Asset[] } }>('/map?nw=-2,2&se=2,-2')
    expect(map.assets.parcels).toHaveLength(25)
    expect(idsOf(map.assets.estates)).toEqual(['1', '2'])
    expect((await server.data<{ parcels: Asset[] }>('/parcels?nw=-2,2&se=2,-2')).parcels).toHaveLength(25)
    const lines = (await server.get('/v2/export/parcels.ndjson')).text.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as Asset).id).filter((id) => !inWorld(id))).toEqual([])
    const offers = await server.data<{ parcels: { x: number[] }; estates: { id: string[] } }>('/v2/offers')
    expect(offers).toMatchObject({ total: 1, parcels: { x: [2] }, estates: { id: [] } })
    for (const typed of ['3,0', 'beside', 'far away', '#11', String(encodeTokenId(BESIDE))])
      expect(await server.data(`/v2/search?q=${encodeURIComponent(typed)}`), typed).toMatchObject({
        results: [],
      })
    expect(await server.data(`/v2/search?q=${ERIN}`)).toMatchObject({
      results: [{ type: 'address', parcels: 1, estates: 1, x: null, y: null }],
    })
    expect(await server.data('/v2/search?q=%231')).toMatchObject({ results: [{ id: '1', x: 1 }] })
  })

  test('have images, which show the ground', async () => {
    for (const path of [
      '/parcels/3/0/map.png',
      '/parcels/40,-70/map.png',
      '/parcels/4/0/map.png',
      '/v2/parcels/4/0/map.png',
      '/estates/11/map.png',
      '/estates/1/map.png',
    ])
      expect((await server.ask('GET', path)).status, path).toBe(200)
  })

  test('change like others, and change no cell', async () => {
    const { db } = await open()
    const feed = async () => {
      const grid = new FeedGrid(readFeed((await server.ask('GET', '/v2/feed')).bytes))
      const ids = Object.keys(await server.data<object>('/v2/tiles'))
      return new Map(ids.map((id) => [id, grid.tileAt(...(id.split(',').map(Number) as [number, number]))]))
    }
    const before = await feed()
    await applyLandChanges(
      db,
      [{ kind: 'change-parcel', ...BESIDE, to: { name: 'Renamed', owner: BOB, update_operator: null } }],
      clock.nowMs(),
    )
    await server.app.keeper.refresh()

    expect(await server.data('/parcels/3/0')).toMatchObject({ owner: BOB, data: { name: 'Renamed' } })
    expect(await server.data(`/addresses/${ERIN}/parcels`)).toEqual([])
    const owned = idsOf(await server.data(`/addresses/${BOB}/parcels`))
    expect(owned.slice(-4)).toEqual(['2,-2', '2,-1', '2,0', '3,0'])
    const after = await feed()
    expect(after).toEqual(before)
    expect(after.size).toBe(25)
  })

  test('lie outside also between the rectangles of WORLD', async () => {
    const gap = await startLandServer(await open(), clock, { WORLD: '-2,-2,2,2;3,1,3,1' })
    const { assets } = await gap.data<{ assets: { parcels: Asset[] } }>('/map?nw=-2,2&se=3,1')

    expect(idsOf(assets.parcels).slice(-2)).toEqual(['2,1', '3,1'])
    expect(await gap.data('/parcels/3/0')).toMatchObject({ owner: BOB })
    expect((await gap.get('/parcels/3/2')).body.error).toContain(
      'inside the world: -2,-2 to 2,2 or 3,1 to 3,1',
    )
    const tiles = Object.keys(await gap.data<object>('/v2/tiles'))
    expect([tiles.length, tiles.includes('3,1'), tiles.includes('3,0')]).toEqual([26, true, false])
    await gap.close()
  })

  test('can come and go', async () => {
    const { db } = await open()
    const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
    const row = await db
      .selectFrom('parcel')
      .selectAll()
      .where('world_id', '=', world_id!)
      .where('x', '=', 3)
      .where('y', '=', 0)
      .executeTakeFirstOrThrow()
    await db
      .insertInto('parcel')
      .values({ ...row, x: -9, y: 4 })
      .execute()
    const touch = async (y: number) => {
      await applyLandChanges(db, [{ kind: 'change-parcel', x: -9, y, to: { name: 'New' } }], clock.nowMs())
      await server.app.keeper.refresh()
    }
    await touch(4)
    expect(await server.data('/parcels/-9/4')).toMatchObject({ owner: BOB, data: { name: 'New' } })
    expect(await server.data('/parcels/3/0')).toMatchObject({ id: '3,0' })

    await inTransaction(db, (tx) =>
      changeLand(tx, clock.nowMs(), async (rows) =>
        rows.remove('parcel', (await rows.parcel({ x: -9, y: 4 }))!),
      ),
    )
    await server.app.keeper.refresh()
    expect((await server.get('/parcels/-9/4')).status).toBe(400)
    expect(idsOf(await server.data(`/addresses/${BOB}/parcels`))).not.toContain('-9,4')
    expect(await server.data('/parcels/3/0')).toMatchObject({ id: '3,0' })
  })
})

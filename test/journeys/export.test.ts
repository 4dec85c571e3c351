import { HOUR_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { publicationRow } from '@landpass/server/test/support/land/land-rows'
import { type ReferenceTile, referenceTiles } from '@landpass/server/test/support/land/reference-tiles'
import { exactly, inDigits } from '@landpass/server/test/support/run/exact-values'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RADIUS = 10
const GEOJSON = '/v2/export/parcels.geojson'
const NDJSON = '/v2/export/parcels.ndjson'

type Position = readonly [lon: number, lat: number]

interface Feature {
  readonly type: string
  readonly id: string
  readonly geometry: { readonly type: string; readonly coordinates: readonly (readonly Position[])[] }
  readonly properties: Readonly<Record<string, unknown>>
}

/** No number that JavaScript knows. */
const PRICE = '123456789012345678.000000000000000001'

/** A parcel's properties: what it does not have is not there. */
function propertiesOf({ joins, ...tile }: ReferenceTile): Record<string, unknown> {
  return Object.fromEntries(Object.entries(tile).filter(([, value]) => value !== undefined))
}

describeOnOneEngine('an export', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS, emptyAreas: '20,20,21,21' })
  })
  afterAll(() => land.server.close())

  async function read(path: string, contentType: string): Promise<string> {
    const { status, headers, bytes } = await land.server.ask('GET', path)
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      contentType,
      `attachment; filename="${path.split('/').at(-1)}"`,
    ])
    return bytes.toString()
  }

  const geojson = () => read(GEOJSON, 'application/geo+json')

  async function features(): Promise<readonly Feature[]> {
    return (JSON.parse(await geojson()) as { features: Feature[] }).features
  }

  async function lines(): Promise<string[]> {
    const text = await read(NDJSON, 'application/x-ndjson')
    expect(text.endsWith('}\n')).toBe(true)
    return text.slice(0, -1).split('\n')
  }

  test('the outlines of districts enclose their parcels, and no others', async () => {
    const cornersOf = (geometry: { type: string; coordinates: unknown }) =>
      (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as [number, number][][][]
    const [columns, lines] = [new Map<number, number>(), new Map<number, number>()]
    const sizes = new Map<string, number>()
    for (const { geometry, properties } of await features()) {
      const { x, y, district_id } = properties as { x: number; y: number; district_id?: string }
      const [[west, south] = [], , [east, north] = []] = cornersOf(geometry as never)[0]![0]!
      columns.set(west!, x).set(east!, x + 1)
      lines.set(south!, y).set(north!, y + 1)
      if (district_id) sizes.set(district_id, (sizes.get(district_id) ?? 0) + 1)
    }
    const districts = await land.server.data<{ id: string }[]>('/v1/districts')

    const outlines = JSON.parse(await read('/v2/districts.geojson', 'application/geo+json')) as {
      features: { id: string; properties: { id: string }; geometry: never }[]
    }

    const withParcels = districts.filter(({ id }) => sizes.has(id))
    expect(outlines.features.map(({ id, properties }) => [id, properties])).toEqual(
      withParcels.map((district) => [district.id, district]),
    )
    for (const { id, geometry } of outlines.features) {
      let twice = 0
      for (const ring of cornersOf(geometry).flat())
        for (const [i, [lon, lat]] of ring.slice(1).entries()) {
          const [fromLon, fromLat] = ring[i]!
          twice += columns.get(fromLon)! * lines.get(lat)! - columns.get(lon)! * lines.get(fromLat)!
        }
      expect(twice / 2, id).toBe(sizes.get(id))
    }
  })

  test('has every parcel once, with the values of its records, digit by digit', async () => {
    const expected = referenceTiles(land.reference, land.nowMs()).map(propertiesOf)
    const collection = exactly(await geojson()) as { type: string; features: Feature[] }

    expect(collection.type).toBe('FeatureCollection')
    expect(collection.features.map(({ geometry, ...feature }) => feature)).toEqual(
      expected.map((properties) => ({
        type: 'Feature',
        id: `${properties.x},${properties.y}`,
        properties: { ...(inDigits(properties) as object), id: `${properties.x},${properties.y}` },
      })),
    )
    expect((await lines()).map(exactly)).toEqual(
      expected.map((properties) => ({
        ...(inDigits(properties) as object),
        id: `${properties.x},${properties.y}`,
        updatedAt: expect.stringMatching(/^number \d+$/),
      })),
    )
  })

  test('has no line end within a line, whatever programs take for one', async () => {
    const name = 'a\u2028b\u2029c\u0085d'
    await land.change({ kind: 'change-parcel', x: 3, y: 3, to: { name } })

    const text = await read(NDJSON, 'application/x-ndjson')
    expect(text).not.toMatch(/[\u0085\u2028\u2029]/)
    const named = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id: string; name?: string })
      .find(({ id }) => id === '3,3')
    expect(named?.name).toBe(name)
  })

  test('has the time of the last change of a parcel or its estate', async () => {
    const { parcels, estates } = demoWorld(1, { radius: RADIUS })
    const wholeSeconds = (time: string) => 1000 * Math.floor(Date.parse(time) / 1000)
    const estateTimes = new Map(estates.map(({ id, updated_at }) => [id, wholeSeconds(updated_at)]))
    const expected = new Map(
      [...parcels].map(({ id, estate_id, updated_at }) => [
        id,
        Math.max(wholeSeconds(updated_at), estateTimes.get(estate_id ?? '') ?? 0),
      ]),
    )

    for (const line of await lines()) {
      const { id, updatedAt } = JSON.parse(line) as { id: string; updatedAt: number }
      expect([id, updatedAt]).toEqual([id, expected.get(id)])
    }
  })

  test('outlines each parcel counter-clockwise, and neighbours share their corners exactly', async () => {
    const cornerOf = new Map<string, string>()
    for (const { id, geometry } of await features()) {
      const [x = 0, y = 0] = id.split(',').map(Number)
      const [ring = [], ...holes] = geometry.coordinates
      expect([geometry.type, ring.length, holes]).toEqual(['Polygon', 5, []])
      expect(ring[4]).toEqual(ring[0])
      expect(signedArea(ring)).toBeGreaterThan(0)
      // South-west, south-east, north-east, north-west: each has the same coordinates in all parcels that share it.
      for (const [i, [dx, dy]] of [
        [0, 0] as const,
        [1, 0] as const,
        [1, 1] as const,
        [0, 1] as const,
      ].entries()) {
        const corner = `${x + dx},${y + dy}`
        const place = JSON.stringify(ring[i])
        expect([corner, cornerOf.get(corner) ?? place]).toEqual([corner, place])
        cornerOf.set(corner, place)
      }
    }
    // No two corners fell together.
    expect(new Set(cornerOf.values()).size).toBe(cornerOf.size)
  })

  test('fits over the image tiles: its corners are those of Web Mercator', async () => {
    const half = 32 // parcels from the middle to the edge: the world reaches to 22

    for (const { id, geometry } of await features()) {
      const [x = 0, y = 0] = id.split(',').map(Number)
      const [lon, lat] = geometry.coordinates[0]![0]!
      const inSquare = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / Math.PI
      expect(lon).toBeCloseTo((180 * x) / half, 8)
      expect(inSquare).toBeCloseTo(y / half, 8)
    }
  })

  test('is confirmed until something changes or an offer expires', async () => {
    const expiresAtMs = land.nowMs() + HOUR_MS
    await land.change({
      kind: 'open-publication',
      publication: publicationRow('short', {
        asset_id: '5,5',
        expires_at_ms: expiresAtMs,
        price: PRICE,
      }),
    })
    expect((await lines()).find((line) => line.includes('"id":"5,5"'))).toContain(
      `"price":${PRICE},"expiresAt":${Math.floor(expiresAtMs / 1000)}`,
    )
    for (const path of [GEOJSON, NDJSON]) {
      const { etag } = (await land.server.ask('GET', path)).headers
      const status = async () =>
        (await land.server.ask('GET', path, { headers: { 'if-none-match': etag! } })).status
      expect(await status()).toBe(304)
      land.clock.set(expiresAtMs - 1)
      expect(await status()).toBe(304)
      land.clock.set(expiresAtMs)
      expect(await status()).toBe(200)
      land.clock.set(expiresAtMs - HOUR_MS)
    }
    const { etag } = (await land.server.ask('GET', GEOJSON)).headers
    await land.change({ kind: 'change-parcel', x: 0, y: 0, to: { name: 'changed' } })
    expect((await land.server.ask('GET', GEOJSON, { headers: { 'if-none-match': etag! } })).status).toBe(200)
  })

  test('answers HEAD with its headers alone', async () => {
    for (const path of [GEOJSON, NDJSON]) {
      const { status, headers, bytes } = await land.server.ask('HEAD', path)
      expect([status, bytes.length]).toEqual([200, 0])
      expect(headers.etag).toBe((await land.server.ask('GET', path)).headers.etag)
    }
  })
})

/** Twice the area of a ring; greater than 0 where it runs counter-clockwise. */
function signedArea(ring: readonly Position[]): number {
  let sum = 0
  for (const [i, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(i + 1) % ring.length]!
    sum += x * nextY - nextX * y
  }
  return sum
}

import { INKS } from '@landpass/server/map/palette'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import {
  type LandServer,
  REFERENCE_TIME_MS,
  startLandServer,
  testClock,
} from '@landpass/server/test/support/http/land-server'
import { fullDemo } from '@landpass/server/test/support/land/demo-snapshots'
import { WORLD_REQUESTS } from '@landpass/server/test/support/land/world-requests'
import { type DecodedPng, decode } from 'fast-png'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Read once for all tests. */
const WHOLE_WORLD = '/v2/tiles'

interface Tile {
  readonly x: number
  readonly y: number
  readonly type: keyof typeof INKS
  readonly top: boolean
  readonly left: boolean
  readonly topLeft: boolean
  readonly estateId?: string
  readonly district_id?: string
  readonly owner?: string
}

describe('the world’s own clients', () => {
  const open = freshEngine('postgres')
  let server: LandServer
  let tiles: ReadonlyMap<string, Tile>
  beforeAll(async () => {
    const { DATABASE_URL, DATA_DIR } = await fullDemo()
    const engine = await open({ databaseUrl: DATABASE_URL })
    server = await startLandServer(engine, testClock(REFERENCE_TIME_MS), { DATA_DIR })
    tiles = new Map(Object.entries(await dataAt<Record<string, Tile>>(WHOLE_WORLD)))
  })
  afterAll(() => server.close())

  /** The data of a large answer, which takes seconds to compare with openapi.json. */
  const dataAt = async <Data>(path: string) => {
    const { status, bytes } = await server.ask('GET', path)
    expect(status, `${path} answered ${bytes.subarray(0, 300)}`).toBe(200)
    return (JSON.parse(bytes.toString()) as { data: Data }).data
  }
  const pictureAt = async (path: string) => {
    const { status, headers, bytes } = await server.ask('GET', path)
    expect([status, headers['content-type']], `${path} answered ${bytes.subarray(0, 300)}`).toEqual([
      200,
      'image/png',
    ])
    return { headers, png: decode(bytes, { checkCrc: true }) }
  }

  test.each(WORLD_REQUESTS.map((one) => [one.from, one] as const))(
    'get what they ask for: %s',
    async (_from, { path, gets }) => {
      if ('picture' in gets) {
        const { headers, png } = await pictureAt(path)
        expect([png.width, png.height]).toEqual(gets.picture)
        expect(headers['x-drawn']).toBe(gets.drawn)
        return
      }
      if ('tiles' in gets) {
        const found = path === WHOLE_WORLD ? [...tiles.values()] : Object.values(await dataAt<object>(path))
        expect(found).toHaveLength(gets.tiles)
        if (gets.fields) expect(Object.keys(found[0]!)).toEqual(gets.fields)
        return
      }
      const { status, text, body } = await server.get(path)
      expect(status, text.slice(0, 300)).toBe(200)
      if ('text' in gets) return expect(text).toBe(gets.text)
      if ('token' in gets)
        return expect(body).toMatchObject({ name: gets.token, attributes: expect.anything() })
      const [first = body] = (body as { data?: object[] }).data ?? []
      expect(Object.keys(first)).toEqual(expect.arrayContaining([...gets.has]))
    },
  )

  test('the 49 images of the desktop client show each parcel, and the ground around the world', async () => {
    const seen = new Set<string>()
    for (const centerX of [-150, -99, -48, 3, 54, 105, 156]) {
      for (const centerY of [-150, -99, -48, 3, 54, 105, 156]) {
        const path = `/v1/map.png?center=${centerX},${centerY}&width=1020&height=1020&size=20`
        const { png } = await pictureAt(path)
        for (let dx = -25; dx <= 25; dx++) {
          for (let dy = -25; dy <= 25; dy++) {
            const key = `${centerX + dx},${centerY + dy}`
            const ink = inkAt(png, 510 + 20 * dx, 510 - 20 * dy)
            if (ink !== INKS[tiles.get(key)?.type ?? 'outside']) expect.fail(`${path}: ${key}`)
            if (tiles.has(key)) seen.add(key)
          }
        }
      }
    }
    expect(seen.size).toBe(tiles.size)
  })

  test('the two data images are the tiles, pixel by pixel', async () => {
    const estates = [...new Set([...tiles.values()].flatMap(({ estateId }) => estateId ?? []))]
    const [minimap, estateMap] = await Promise.all(
      ['/v1/minimap.png', '/v1/estatemap.png'].map(async (path) => (await pictureAt(path)).png),
    )
    for (const { depth, channels } of [minimap!, estateMap!]) expect([depth, channels]).toEqual([8, 4])
    const at = ({ data }: typeof minimap & object, column: number, row: number) =>
      data.subarray(4 * (512 * row + column), 4 * (512 * row + column) + 4).join()
    const green: Partial<Record<Tile['type'], number>> = { district: 32, road: 64, owned: 128 }
    const numbers = new Map<string, number>()
    for (let column = 0; column < 512; column++) {
      for (let row = 0; row < 512; row++) {
        const tile = tiles.get(`${column - 256},${256 - row}`)
        const joins = tile && (tile.top ? 8 : 0) + (tile.left ? 16 : 0) + (tile.topLeft ? 32 : 0)
        const expected = tile ? `${joins},${green[tile.type] ?? 0},0,255` : '0,0,0,0'
        if (at(minimap!, column, row) !== expected) expect.fail(`minimap: ${column},${row}`)
        const [red = 0, middle = 0, blue = 0, opacity] = at(estateMap!, column, row).split(',').map(Number)
        const number = (red << 16) | (middle << 8) | blue
        if (opacity !== (tile ? 255 : 0) || number > 0 !== (tile?.estateId !== undefined))
          expect.fail(`estatemap: ${column},${row}`)
        if (tile?.estateId === undefined) continue
        // Every parcel of an estate has its number, and no other estate has it
        if ((numbers.get(tile.estateId) ?? number) !== number) expect.fail(`estate ${tile.estateId}`)
        numbers.set(tile.estateId, number)
      }
    }
    const byId = estates.sort((a, b) => Number(a) - Number(b)).map((id) => numbers.get(id)!)
    expect(byId).toEqual([...new Set(byId)].sort((a, b) => a - b))
    expect(byId[0]).toBeGreaterThanOrEqual(1)
  })

  describe('images below /v2', () => {
    const FRAME = 'width=100&height=100&size=10'
    const bytesAt = async (path: string) => {
      const { status, headers, bytes } = await server.ask('GET', path)
      expect([status, headers['content-type']], `${path} answered ${bytes.subarray(0, 300)}`).toEqual([
        200,
        'image/png',
      ])
      return bytes
    }

    test.each(['/map.png', '/parcels/20/30/map.png', '/estates/327/map.png'])(
      'take the nearest allowed number, or the default for what is no number: %s',
      async (route) => {
        for (const [asked, drawn, said] of [
          ['', 'width=1024&height=1024&size=20', undefined],
          ['width=100px&height=1e2', 'width=100&height=100', 'height=100'],
          ['width=wide&height=&size=NaN', 'width=1024&height=1024&size=20', undefined],
          ['width=99&height=-5', 'width=100&height=100', 'width=100,height=100'],
          ['width=4097&height=200', 'width=4096&height=200', 'width=4096'],
          ['width=200&width=300&height=200', 'width=200&height=200', undefined],
          ['width=128.9&height=128', 'width=128&height=128', undefined],
          [`${FRAME}&size=20`, FRAME, undefined],
          ['width=300&height=300&size=7.9', 'width=300&height=300&size=7', undefined],
          ['width=300&height=300&size=4', 'width=300&height=300&size=5', 'size=5'],
          ['width=300&height=300&size=51', 'width=300&height=300&size=50', 'size=50'],
          [`${FRAME}&publications=true&theme=light&colour=red`, FRAME, undefined],
          [`${FRAME}&on-sale=1`, FRAME, undefined],
          [`${FRAME}&listed-for-rent=true`, FRAME, undefined],
        ] as const) {
          const { status, headers, bytes } = await server.ask('GET', `/v2${route}?${asked}`)
          const expected = await bytesAt(`/v2${route}?${drawn}`)
          expect([status, bytes.equals(expected)], `${route}?${asked}`).toEqual([200, true])
          if (!asked.includes('1e2')) expect(headers['x-drawn'], asked).toBe(said)
        }
        expect(
          (await bytesAt(`/v2${route}?${FRAME}&on-sale=true`)).equals(
            await bytesAt(`/v1${route}?${FRAME}&publications=true`),
          ),
        ).toBe(true)
        expect((await bytesAt(`/v2${route}?${FRAME}`)).equals(await bytesAt(`/v1${route}?${FRAME}`))).toBe(
          true,
        )
      },
    )

    test('a center that cannot be read is the ground, places that cannot be read are not selected', async () => {
      const at = (query: string) => bytesAt(`/v2/map.png?${FRAME}&${query}`)
      const middle = await at('center=0,0')
      for (const center of ['9999,0', 'a,b', '5', 'NaN,0', '1e999,0'])
        expect(coloursOf(await at(`center=${center}`)), center).toEqual([INKS.outside])
      for (const query of [
        '',
        'center=',
        'center=0,0,7',
        'selected=',
        'selected=x;;1',
        'selected=151,0;-300,2',
      ])
        expect((await at(query)).equals(middle), query).toBe(true)
      expect((await at('center=0.5,0')).equals(middle)).toBe(false)
      expect((await at('selected=%201,%202%20;;a,b;3.7,1')).equals(await at('selected=1,2;3,1'))).toBe(true)
      const many = Array.from({ length: 2000 }, (_, i) => `${i % 40},${Math.floor(i / 40)}`).join(';')
      expect((await at(`center=3,3&selected=${many}`)).equals(await at('center=3,3'))).toBe(false)
    })

    test('coordinates in the path are read like there: what is no number is 0, and there is land nowhere else', async () => {
      const at = (place: string) => bytesAt(`/v2/parcels/${place}/map.png?${FRAME}`)
      expect((await at('0.9/abc')).equals(await at('0/0'))).toBe(true)
      expect((await at('160/155')).equals(await at('9999/-9999'))).toBe(true)
      expect((await at('20x/30')).equals(await at('20/30'))).toBe(true)
    })

    test('an unknown estate is not found, a dissolved one is the ground', async () => {
      const { status, headers } = await server.ask('GET', '/v2/estates/999999/map.png')
      expect([status, headers['x-error-code']]).toEqual([404, 'estate_not_found'])
      expect(coloursOf(await bytesAt(`/v2/estates/39/map.png?${FRAME}`))).toEqual([INKS.outside])
    })
  })

  describe('tiles', () => {
    const keysAt = async (query: string) => Object.keys(await server.data<object>(`/v2/tiles?${query}`))

    test('of an owner or of some types are those that have it, in the same order, also of an area', async () => {
      const all = [...tiles]
      const [[, someone]] = all.filter(([, { estateId }]) => estateId !== undefined) as [[string, Tile]]
      const owner = someone.owner!
      const kept = (keep: (tile: Tile) => boolean) => all.filter(([, tile]) => keep(tile)).map(([key]) => key)
      const isNear = ({ x, y }: Tile) => x >= -20 && x <= 30 && y >= -40 && y <= 10
      const area = 'x1=30&y1=-40&x2=-20&y2=10'

      expect(await keysAt(`owner=${owner}`)).toEqual(kept((tile) => tile.owner === owner))
      expect(await keysAt(`owner=${owner}&type=road`)).toEqual([])
      expect(await keysAt('type=road,plaza&include=x')).toEqual(
        kept(({ type }) => type === 'road' || type === 'plaza'),
      )
      expect(await keysAt(`type=unowned&${area}`)).toEqual(
        kept((tile) => tile.type === 'unowned' && isNear(tile)),
      )
      expect(await keysAt(`owner=${owner}&${area}`)).toEqual(
        kept((tile) => tile.owner === owner && isNear(tile)),
      )
      expect(await keysAt(`owner=0x${'0'.repeat(39)}1`)).toEqual([])
      const whole = await server.data<object>(`/v1/tiles?owner=${owner}`)
      expect(Object.keys(whole)).toEqual(kept((tile) => tile.owner === owner))
      const { status, body } = await server.get('/v2/tiles?type=roads')
      expect([status, body.code]).toEqual([400, 'invalid_parameter'])
    })
  })

  test('the districts below /v2 have the parcels that the tiles have', async () => {
    const districts =
      await server.data<{ id: string; parcels: string[]; totalParcels: number; parcel_count: string }[]>(
        '/v2/districts',
      )
    const older = await server.data<{ id: string }[]>('/districts')
    expect(districts).toMatchObject(older)
    const ofTiles = new Map<string, string[]>()
    for (const [key, { district_id = '' }] of tiles) {
      const known = ofTiles.get(district_id)
      if (known) known.push(key)
      else ofTiles.set(district_id, [key])
    }
    for (const { id, parcels, totalParcels, parcel_count } of districts) {
      expect(parcels).toEqual(ofTiles.get(id) ?? [])
      expect([totalParcels, Number(parcel_count)]).toEqual([parcels.length, parcels.length])
    }
    expect(await server.data(`/v2/districts/${districts[0]!.id}`)).toEqual(districts[0])
  })
})

/** The number of the colour of a pixel of a picture with a palette, which has two pixels in a byte. */
function inkAt({ data, width }: DecodedPng, x: number, y: number): number {
  const byte = data[y * Math.ceil(width / 2) + (x >> 1)]!
  return x % 2 === 0 ? byte >> 4 : byte & 15
}

function coloursOf(file: Buffer): number[] {
  const png = decode(file)
  const colours = new Set<number>()
  for (let x = 0; x < png.width; x++) for (let y = 0; y < png.height; y++) colours.add(inkAt(png, x, y))
  return [...colours]
}

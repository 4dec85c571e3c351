import { encodeTokenId, tokenIdHex } from '@landpass/client/grid'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { ESTATE_REGISTRY, LAND_REGISTRY } from '@landpass/server/test/support/land/registries'
import {
  ANN,
  MUSEUM,
  ROAD,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '@landpass/server/test/support/land/tiny-world'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const WORLD = '-2,-2,2,2'
const CORNER_ID = String(encodeTokenId({ x: -1, y: 0 }))

describeOnOneEngine('tokens and the newer addresses', (open) => {
  let server: LandServer
  const start = async (env: Record<string, string> = {}) =>
    startLandServer(await open(), testClock(), { WORLD, ...env })
  beforeAll(async () => {
    const { db } = await open()
    const records = tinyRecords()
    for (const parcel of records.parcels) {
      // Estate 2: its parcels know different distances, one of them none
      if (parcel.id === '2,1') parcel.tags = { proximity: { road: { district_id: ROAD, distance: 4 } } }
      if (parcel.id === '2,2')
        parcel.tags = {
          proximity: {
            plaza: { district_id: MUSEUM, distance: 7 },
            road: { district_id: ROAD, distance: 2 },
          },
        }
    }
    const folder = tinySnapshot({ records })
    const report = await importSnapshot(db, folder, { world: TINY_WORLD, clock: testClock(), dryRun: false })
    expect(report.errors).toEqual([])
    server = await start()
  })
  afterAll(() => server.close())

  const token = async (path: string) => {
    const answer = await server.get(path)
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.stringContaining('"id":')])
    return answer.body as unknown as Record<string, unknown>
  }

  describe('the metadata', () => {
    test('of a parcel has what its owner wrote, and numbers', async () => {
      expect(await token('/v2/parcels/-1/0')).toEqual({
        id: CORNER_ID,
        name: '__proto__',
        description: '"\\<b>\u2028\u2029\u0085\u0007 👩‍🚀 العربية',
        image: `${server.origin}/v1/parcels/-1/0/map.png?size=24&width=1024&height=1024`,
        external_url: `${server.origin}/v2/contracts/${LAND_REGISTRY}/tokens/${CORNER_ID}`,
        attributes: [
          { trait_type: 'X', value: -1, display_type: 'number' },
          { trait_type: 'Y', value: 0, display_type: 'number' },
          { trait_type: 'Distance to Plaza', value: 9, display_type: 'number' },
          { trait_type: 'Distance to Road', value: 0, display_type: 'number' },
        ],
        background_color: '000000',
      })
    })

    test('of a parcel without a name has a default name', async () => {
      expect(await token('/v2/parcels/2/-2')).toMatchObject({
        id: String(encodeTokenId({ x: 2, y: -2 })),
        name: 'Parcel 2,-2',
        description: '',
        attributes: [
          { trait_type: 'X', value: 2 },
          { trait_type: 'Y', value: -2 },
        ],
      })
    })

    test('of an estate has its middle, its size and the smallest distances', async () => {
      expect(await token('/v2/estates/2')).toEqual({
        id: '2',
        name: 'Estate 2',
        description: '',
        image: `${server.origin}/v1/estates/2/map.png?size=24&width=1024&height=1024`,
        external_url: `${server.origin}/v2/contracts/${ESTATE_REGISTRY}/tokens/2`,
        attributes: [
          { trait_type: 'X', value: 2, display_type: 'number' },
          { trait_type: 'Y', value: 2, display_type: 'number' },
          { trait_type: 'Size', value: 3, display_type: 'number' },
          { trait_type: 'Distance to Plaza', value: 7, display_type: 'number' },
          { trait_type: 'Distance to Road', value: 2, display_type: 'number' },
        ],
        background_color: '000000',
      })
    })

    test('of a dissolved estate has size 0', async () => {
      expect(await token('/v2/estates/10')).toMatchObject({
        id: '10',
        attributes: [{ trait_type: 'Size', value: 0, display_type: 'number' }],
      })
    })

    test('is the same by contract, whatever the letter case, the number decimal or hex', async () => {
      const parcel = await token('/v2/parcels/-1/0')
      const estate = await token('/v2/estates/10')
      const upper = `0X${LAND_REGISTRY.slice(2).toUpperCase()}`

      for (const contract of [LAND_REGISTRY, upper])
        for (const id of [CORNER_ID, tokenIdHex({ x: -1, y: 0 })])
          expect(await token(`/v2/contracts/${contract}/tokens/${id}`)).toEqual(parcel)
      for (const id of ['10', '0xa', '0XA', '010'])
        expect(await token(`/v2/contracts/${ESTATE_REGISTRY}/tokens/${id}`)).toEqual(estate)
      expect(await token(`/v2/contracts/${LAND_REGISTRY}/tokens/0`)).toEqual(await token('/v2/parcels/0/0'))
    })

    test('has the addresses of the settings, and images are asked for each time where one says so', async () => {
      const elsewhere = await start({
        PUBLIC_URL: 'https://land.example.org/api/',
        EXTERNAL_BASE_URL: 'https://market.example.org/',
        MAP_MAX_AGE_MS: '0',
      })
      const { body } = await elsewhere.get('/v2/estates/1')
      const [image, tiles] = await Promise.all(
        ['/v2/map.png', '/v2/tiles'].map((path) => elsewhere.get(path)),
      )
      await elsewhere.close()

      expect(body).toMatchObject({
        image: 'https://land.example.org/api/v1/estates/1/map.png?size=24&width=1024&height=1024',
        external_url: `https://market.example.org/contracts/${ESTATE_REGISTRY}/tokens/1`,
      })
      for (const { headers } of [image!, tiles!])
        expect(headers.get('cache-control')).toBe('public, no-cache')
    })

    test('has the protocol that a trusted proxy names, and nothing else of its headers', async () => {
      const headers = {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'elsewhere.example',
        'x-forwarded-prefix': '/land',
        forwarded: 'for=192.0.2.1;proto=https;host=elsewhere.example',
      }
      const behindProxy = await start({ TRUSTED_PROXIES: '127.0.0.1' })
      const image = async (server: LandServer) =>
        ((await server.get('/v2/estates/1', headers)).body as unknown as { image: string }).image
      const [trusted, others] = [await image(behindProxy), await image(server)]
      await behindProxy.close()

      expect(trusted).toMatch(`${behindProxy.origin.replace('http:', 'https:')}/v1/estates/1/map.png`)
      expect(others).toMatch(`${server.origin}/v1/estates/1/map.png`)
    })

    test('names the contracts of the network', async () => {
      const registries = { land: `0x${'1a'.repeat(20)}`, estate: `0x${'e5'.repeat(20)}` }
      const elsewhere = await startLandServer(await open(), testClock(), { WORLD }, { registries })
      const parcel = await elsewhere.get(`/v2/contracts/${registries.land}/tokens/0`)
      const estate = await elsewhere.get(`/v2/contracts/${registries.estate}/tokens/1`)
      const mainnet = await elsewhere.get(`/v2/contracts/${LAND_REGISTRY}/tokens/0`)
      await elsewhere.close()

      const tokens = `${elsewhere.origin}/v2/contracts`
      expect(parcel.body).toMatchObject({ external_url: `${tokens}/${registries.land}/tokens/0` })
      expect(estate.body).toMatchObject({ external_url: `${tokens}/${registries.estate}/tokens/1` })
      expect(mainnet.body).toMatchObject({
        code: 'contract_not_found',
        error: `This contract has no land; parcels are in ${registries.land}, estates in ${registries.estate}.`,
      })
    })

    test('has the host of the request, or else the address of the server', async () => {
      const imageFor = async (host: string) => {
        const { bytes } = await server.ask('GET', '/v2/parcels/0/0', { headers: { host } })
        return (JSON.parse(bytes.toString()) as { image: string }).image.split('/v1/')[0]
      }

      expect(await imageFor('land.example.org:8080')).toBe('http://land.example.org:8080')
      expect(await imageFor('evil.example/path?"')).toBe(`http://localhost:${new URL(server.origin).port}`)
    })

    test('has the validators of all land answers', async () => {
      const { headers } = await server.ask('GET', '/v2/parcels/0/0')
      const again = await server.ask('GET', '/v2/parcels/0/0', {
        headers: { 'if-none-match': headers.etag! },
      })

      expect(headers['last-modified']).toBe(new Date(testClock().nowMs()).toUTCString())
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    })

    test.each([
      ['/v2/parcels/3/0', 400, 'invalid_parameter'],
      ['/v2/parcels/a/0', 400, 'invalid_parameter'],
      ['/v2/estates/99', 404, 'estate_not_found'],
      ['/v2/estates/a', 404, 'estate_not_found'],
      [`/v2/contracts/${LAND_REGISTRY}/tokens/ten`, 400, 'invalid_parameter'],
      [`/v2/contracts/${LAND_REGISTRY}/tokens/-1`, 400, 'invalid_parameter'],
      [`/v2/contracts/${LAND_REGISTRY}/tokens/${2n ** 256n}`, 400, 'invalid_parameter'],
      [`/v2/contracts/${LAND_REGISTRY}/tokens/3`, 404, 'parcel_not_found'],
      [`/v2/contracts/${LAND_REGISTRY}/tokens/${2n ** 200n}`, 404, 'parcel_not_found'],
      [`/v2/contracts/${ESTATE_REGISTRY}/tokens/0`, 404, 'estate_not_found'],
      [`/v2/contracts/${ANN}/tokens/1`, 404, 'contract_not_found'],
      ['/v2/contracts/0x1/tokens/1', 400, 'invalid_parameter'],
      ['/v2/contracts/land/tokens/1', 400, 'invalid_parameter'],
    ])('of what is not there is refused: %s', async (path, status, code) => {
      const answer = await server.get(path)

      expect(answer.status).toBe(status)
      expect(answer.body).toEqual({
        ok: false,
        error: expect.stringMatching(/\.$/),
        code,
        data: expect.anything(),
      })
      expect(answer.headers.get('etag')).toBeNull()
    })
  })

  describe('the districts', () => {
    test('are listed in every version', async () => {
      const districts = await server.data<{ name: string }[]>('/districts')

      expect(districts.map(({ name }) => name)).toEqual(['Museum\u2028of lines', 'Road'])
      expect(await server.data('/v1/districts')).toEqual(districts)
      const newer = await server.data<object[]>('/v2/districts')
      expect(newer).toMatchObject(districts)
      expect(newer).toMatchObject([
        { parcels: ['-2,-1', '-2,-2'], totalParcels: 2 },
        { parcels: ['0,0', '0,-1', '0,-2'], totalParcels: 3 },
      ])
    })

    test('are answered one by one with their parcels, from west to east and north to south', async () => {
      const [museum] = await server.data<object[]>('/districts')

      for (const version of ['', '/v1', '/v2']) {
        expect(await server.data(`${version}/districts/${MUSEUM}`)).toEqual({
          ...museum,
          parcels: ['-2,-1', '-2,-2'],
          totalParcels: 2,
        })
        expect(await server.data(`${version}/districts/${ROAD}`)).toMatchObject({
          parcel_count: '3',
          parcels: ['0,0', '0,-1', '0,-2'],
        })
        expect(await server.data(`${version}/districts/${MUSEUM.toUpperCase()}`)).toEqual(
          await server.data(`${version}/districts/${MUSEUM}`),
        )
        const unknown = await server.get(`${version}/districts/none`)
        expect([unknown.status, unknown.body.code]).toEqual([404, 'district_not_found'])
      }
    })
  })

  test.each([
    '/estates/:id',
    '/estates/:id/bids',
    '/estates/:id/publications',
    '/assets/:id/bids',
    '/assets/:id/publications?asset_type=estate',
    '/v2/estates/:id',
    '/estates/:id/map.png',
    '/v2/estates/:id/map.png',
  ])('%s finds an estate by its id in hex', async (path) => {
    const decimal = await server.get(path.replace(':id', '1'))
    expect(decimal.status).toBe(200)
    for (const hex of ['0x1', '0X1', `0x${'1'.padStart(64, '0')}`]) {
      const { status, text } = await server.get(path.replace(':id', hex))
      expect([status, text]).toEqual([200, decimal.text])
    }
    for (const none of ['0x', '0x1g', `0x1${'0'.repeat(64)}`]) {
      const { status, text } = await server.get(path.replace(':id', none))
      expect(status === 404 || text === '{"ok":true,"data":[]}').toBe(true)
    }
  })

  test('the contributions of an address are the same in every version, below /v2 with newer names too', async () => {
    const sums = [{ address: ANN, district_id: MUSEUM, land_count: '4' }]

    for (const version of ['', '/v1'])
      expect(await server.data(`${version}/addresses/${ANN}/contributions`)).toEqual(sums)
    expect(await server.data(`/v2/addresses/${ANN}/contributions`)).toEqual([
      { ...sums[0], districtId: MUSEUM, totalParcels: 4 },
    ])
  })
})

import { describeOnOneEngine, freshEngine } from '@landpass/server/test/support/database/engines'
import { startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { pictureAt, readPicture } from '@landpass/server/test/support/images/pictures'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The world reaches from -10 to 10: a square of 32 x 32 parcels, and 64 pixels a parcel at zoom 3. */
const RADIUS = 10
const MAX_ZOOM = 3

interface TileJson {
  readonly tiles: readonly string[]
  readonly minzoom: number
  readonly maxzoom: number
  readonly bounds: readonly number[]
}

describeOnOneEngine('the pyramid for map viewers', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
  })
  afterAll(() => land.server.close())

  const tileAt = async (address: string) => readPicture(await pictureAt(land.server, `/tiles/${address}`))

  test('is made of tiles of 256 pixels, and of 512 for screens that have more', async () => {
    for (const [address, sidePx] of [
      ['0/0/0.png', 256],
      ['0/0/0@2x.png', 512],
      ['3/7/0.png', 256],
      ['3/4/4@2x.png', 512],
      ['2/1/2%402x.png', 512],
    ] as const) {
      const { widthPx, heightPx } = await tileAt(address)
      expect([widthPx, heightPx], address).toEqual([sidePx, sidePx])
      const bytes = await pictureAt(land.server, `/v1/tiles/${address}`)
      expect(bytes.equals(await pictureAt(land.server, `/tiles/${address}`))).toBe(true)
    }
  })

  test('a tile shows the ground that an image shows which is centred there', async () => {
    // At zoom 2 a parcel has 32 pixels: tile 2/2/1 is the ground from 0,0 to 8,8.
    const tile = await tileAt('2/2/1.png')
    // An image of 256 pixels centred on 4,4 begins at 112 pixels left of it: 16 pixels before parcel 1, 16 below 8.
    const image = readPicture(
      await pictureAt(land.server, '/map.png?width=256&height=256&size=32&center=4,4'),
    )
    let compared = 0
    for (let x = 0; x < 240; x += 3) {
      for (let y = 16; y < 256; y += 3) {
        compared += 1
        if (tile.rgb(x + 16, y - 16) !== image.rgb(x, y)) expect.fail(`they differ at ${x},${y}`)
      }
    }
    expect(compared).toBe(80 * 80)
  })

  test('four tiles of a zoom are the tile above them at twice the size', async () => {
    for (const [z, x, y] of [
      [0, 0, 0],
      [1, 1, 0],
      [2, 1, 2],
    ] as const) {
      const above = await tileAt(`${z}/${x}/${y}@2x.png`)
      for (const [dx, dy] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const below = await tileAt(`${z + 1}/${2 * x + dx}/${2 * y + dy}.png`)
        for (let xPx = 0; xPx < 256; xPx += 5) {
          for (let yPx = 0; yPx < 256; yPx += 5) {
            if (below.rgb(xPx, yPx) !== above.rgb(256 * dx + xPx, 256 * dy + yPx))
              expect.fail(`${z}/${x}/${y}: ${xPx},${yPx} of its tile ${dx},${dy} differs`)
          }
        }
      }
    }
  })

  test('tiles have the style that is asked for', async () => {
    const plain = await pictureAt(land.server, '/tiles/1/0/0.png')
    for (const style of ['theme=light', 'publications=true', 'on-sale=true'])
      expect((await pictureAt(land.server, `/tiles/1/0/0.png?${style}`)).equals(plain), style).toBe(false)
    expect((await land.refusal('/tiles/1/0/0.png?theme=blue', 400, 'invalid_parameter')).data.parameter).toBe(
      'theme',
    )
    expect(
      (await land.refusal('/tiles/1/0/0.png?publications=1', 400, 'invalid_parameter')).data.parameter,
    ).toBe('publications')
  })

  test('what is not a number is named in the refusal', async () => {
    for (const [address, parameter] of [
      ['a/0/0.png', 'z'],
      ['1.5/0/0.png', 'z'],
      ['0/b/0.png', 'x'],
      ['0/0x0/0.png', 'x'],
      ['0/0/c.png', 'y'],
      ['0/0/0@3x.png', 'y'],
      ['0/0/@2x.png', 'y'],
      ['0/0/00.png', 'y'],
      ['0/0/0@2x@2x.png', 'y'],
      ['0/0/1e1.png', 'y'],
    ])
      expect(
        (await land.refusal(`/tiles/${address}`, 400, 'invalid_parameter')).data.parameter,
        address,
      ).toBe(parameter)
  })

  test('tiles that do not exist are not found', async () => {
    for (const [z, x, y] of [
      [0, 1, 0],
      [0, 0, 1],
      [0, 0, -1],
      [2, 4, 0],
      [2, -1, 0],
      [2, 0, 999_999_999_999],
      [MAX_ZOOM + 1, 0, 0],
      [-1, 0, 0],
      [999_999_999_999, 0, 0],
    ])
      expect((await land.refusal(`/tiles/${z}/${x}/${y}.png`, 404, 'tile_not_found')).data).toEqual({
        z,
        x,
        y,
        max_zoom: MAX_ZOOM,
      })
    for (const address of ['0/0/0', '0/0/0.jpg', '0/0.png', '0/0/0.png/1'])
      await land.refusal(`/tiles/${address}`, 404, 'not_found')
  })

  test('the TileJSON names tiles that are there, at the host that was asked', async () => {
    for (const path of ['/tiles.json', '/v1/tiles.json']) {
      const { headers, text } = await land.server.get(path)
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      const { tiles, minzoom, maxzoom, bounds } = JSON.parse(text) as TileJson
      expect([tiles.length, minzoom, maxzoom, bounds.length]).toEqual([1, 0, MAX_ZOOM, 4])
      expect(tiles[0]!.startsWith(`${land.server.origin}${path.replace('tiles.json', 'tiles/')}`)).toBe(true)
      const first = tiles[0]!.replace('{z}', '0').replace('{x}', '0').replace('{y}', '0')
      const response = await fetch(first)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    }
  })

  test('the TileJSON passes on the style, and refuses one that there is not', async () => {
    const { text } = await land.server.get('/tiles.json?theme=light&on-sale=true')
    expect((JSON.parse(text) as TileJson).tiles[0]).toBe(
      `${land.server.origin}/tiles/{z}/{x}/{y}.png?theme=light&publications=true`,
    )
    expect((await land.refusal('/tiles.json?theme=blue', 400, 'invalid_parameter')).data.parameter).toBe(
      'theme',
    )
  })

  test('the TileJSON has its own ETag, which confirms it', async () => {
    const { headers, bytes } = await land.server.ask('GET', '/tiles.json')
    const again = (path: string) =>
      land.server.ask('GET', path, { headers: { 'if-none-match': headers.etag! } })
    expect((await again('/tiles.json')).status).toBe(304)
    expect((await again('/tiles.json?theme=light')).status).toBe(200)
    const head = await land.server.ask('HEAD', '/tiles.json')
    expect([head.status, head.headers['content-length']]).toEqual([200, String(bytes.length)])
  })

  test('an invalid host is used in no address', async () => {
    for (const host of [
      '<script>',
      'a b',
      'land.example/path',
      'user@land.example',
      'land.example:port',
      'a"b',
    ]) {
      const { bytes } = await land.server.ask('GET', '/tiles.json', { headers: { host } })
      expect(bytes.toString(), host).toMatch(/"tiles":\["http:\/\/localhost:\d+\/tiles\//)
    }
    for (const host of ['land.example', 'land.example:8080', '[::1]:3000', '127.0.0.1']) {
      const { bytes } = await land.server.ask('GET', '/tiles.json', { headers: { host } })
      expect(bytes.toString()).toContain(`"tiles":["http://${host}/tiles/`)
    }
  })
})

describe('behind another address', () => {
  const open = freshEngine('postgres')

  test('the TileJSON names the public one, without a world as well', async () => {
    const server = await startLandServer(await open(), testClock(), {
      PUBLIC_URL: 'https://land.example/here/',
    })
    for (const prefix of ['', '/v1']) {
      const { text } = await server.get(`${prefix}/tiles.json`)
      expect((JSON.parse(text) as TileJson).tiles).toEqual([
        `https://land.example/here${prefix}/tiles/{z}/{x}/{y}.png`,
      ])
    }
    for (const path of ['/map.png', '/parcels/0/0/map.png', '/estates/1/map.png', '/tiles/0/0/0.png'])
      expect((await server.get(path)).body.code, path).toBe('world_not_loaded')
    await server.close()
  })
})

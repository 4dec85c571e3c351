import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { pictureAt, type ReadPicture, readPicture } from '@landpass/server/test/support/images/pictures'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf } from '@landpass/server/test/support/land/land-rows'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RADIUS = 10
const TOO_MANY = (parcels: number) =>
  `Too many parcels. You are trying to render ${parcels} parcels and the maximum allowed is 15000.`

describeOnOneEngine('map images', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
  })
  afterAll(() => land.server.close())

  const bytesAt = (path: string) => pictureAt(land.server, path)
  const pictureOf = async (path: string) => readPicture(await bytesAt(path))
  const tooMany = async (path: string, parcels: number) => {
    const { status, headers, bytes } = await land.server.ask('GET', path)
    expect([status, headers['content-type'], bytes.toString()], path).toEqual([
      500,
      'text/plain; charset=utf-8',
      TOO_MANY(parcels),
    ])
  }

  test('are 500 x 500 pixels unless asked otherwise, and the same below /v1', async () => {
    for (const path of ['/map.png', '/parcels/1/2/map.png', '/parcels/1,2/map.png', '/estates/2/map.png']) {
      const bytes = await bytesAt(path)
      const { widthPx, heightPx } = readPicture(bytes)
      expect([widthPx, heightPx], path).toEqual([500, 500])
      expect((await bytesAt(`/v1${path}`)).equals(bytes), path).toBe(true)
    }
  })

  test('have the width and height that are asked for, each for itself', async () => {
    for (const path of ['/map.png', '/parcels/1/2/map.png', '/estates/2/map.png']) {
      for (const [width, height] of [
        [32, 2048],
        [2048, 32],
        [77, 133],
      ]) {
        const { widthPx, heightPx } = await pictureOf(`${path}?width=${width}&height=${height}&size=40`)
        expect([widthPx, heightPx], path).toEqual([width, height])
      }
    }
  })

  test('the center is moved to by whole parcels: east is right, north is up', async () => {
    const at = (center: string) => pictureOf(`/map.png?width=96&height=75&size=9&center=${center}`)
    const [middle, eastward, northward] = [await at('0,0'), await at('2,0'), await at('0,3')]

    expect(isShifted(middle, eastward, { xPx: 2 * 9, yPx: 0 })).toBe(true)
    expect(isShifted(middle, northward, { xPx: 0, yPx: -3 * 9 })).toBe(true)
    expect(isShifted(middle, northward, { xPx: 0, yPx: 3 * 9 })).toBe(false)
  })

  test('the parcel in the middle begins at half of what it leaves over, rounded down', async () => {
    for (const [width, height, size] of [
      [64, 65, 10],
      [65, 64, 11],
      [100, 91, 40],
    ] as const) {
      const frame = `width=${width}&height=${height}&size=${size}`
      const plain = await pictureOf(`/map.png?${frame}`)
      const selected = await pictureOf(`/map.png?${frame}&selected=0,0`)
      const [west, north] = [Math.floor((width - size) / 2), Math.floor((height - size) / 2)]
      const changed = changedArea(plain, selected)
      // The outline may lie a little outside of the parcel, the same on every side
      const outlinePx = west - changed.west
      expect(outlinePx).toBeGreaterThanOrEqual(-1)
      expect(outlinePx).toBeLessThanOrEqual(5)
      expect(changed.north, frame).toBe(north - outlinePx)
      expect(Math.abs(changed.east - (west + size - 1 + outlinePx)), frame).toBeLessThanOrEqual(3)
      expect(Math.abs(changed.south - (north + size - 1 + outlinePx)), frame).toBeLessThanOrEqual(3)
    }
  })

  test('selected parcels stand out, in any order and however often they are named', async () => {
    const frame = '/map.png?width=100&height=100'
    const [none, some] = [await bytesAt(frame), await bytesAt(`${frame}&selected=1,1;2,1;-3,-2`)]
    expect(some.equals(none)).toBe(false)
    for (const selected of ['-3,-2;2,1;1,1', '2,1;2,1;1,1;-3,-2', '1%2C1%3B2%2C1%3B-3%2C-2'])
      expect((await bytesAt(`${frame}&selected=${selected}`)).equals(some), selected).toBe(true)
    expect((await bytesAt(`${frame}&selected=`)).equals(none)).toBe(true)
  })

  test('what is on sale stands out only where it is asked for, under either name', async () => {
    const paths = ['/map.png?', '/parcels/0/0/map.png?', '/estates/2/map.png?']
    for (const path of paths) {
      const plain = await bytesAt(path)
      const onSale = await bytesAt(`${path}publications=true`)
      expect(onSale.equals(plain), path).toBe(false)
      expect((await bytesAt(`${path}on-sale=true`)).equals(onSale), path).toBe(true)
      expect((await bytesAt(`${path}on-sale=true&publications=false`)).equals(onSale), path).toBe(true)
      expect((await bytesAt(`${path}publications=false`)).equals(plain), path).toBe(true)
    }
  })

  test('are dark, or light for a light page', async () => {
    for (const path of ['/map.png', '/parcels/0/0/map.png', '/estates/2/map.png']) {
      const [usual, dark, light] = await Promise.all(
        ['', '?theme=dark', '?theme=light'].map((theme) => bytesAt(path + theme)),
      )
      expect(dark!.equals(usual!), path).toBe(true)
      expect(light!.equals(usual!), path).toBe(false)
    }
  })

  test('a parcel is in the middle of its image, and selected', async () => {
    for (const { x, y } of [
      { x: 3, y: -4 },
      { x: -RADIUS, y: RADIUS },
    ]) {
      const frame = 'width=200&height=150&size=12&publications=true&theme=light'
      const expected = await bytesAt(`/map.png?${frame}&center=${x},${y}&selected=${x},${y}`)
      expect((await bytesAt(`/parcels/${x}/${y}/map.png?${frame}`)).equals(expected)).toBe(true)
      expect((await bytesAt(`/parcels/${x},${y}/map.png?${frame}`)).equals(expected)).toBe(true)
    }
  })

  test('an estate is in the middle of its image, selected, as large as it fits', async () => {
    const shapes = [
      { parcels: ['4,3', '5,2', '5,3', '5,4', '6,3'], center: '5,3', size: 30 },
      { parcels: ['-9,0', '-8,0', '-7,0', '-6,0', '-5,0'], center: '-7,0', size: 18 },
      { parcels: ['-10,8', '-10,10'], center: '-10,9', size: 30 },
      { parcels: ['10,-10'], center: '10,-10', size: 40 },
    ]
    for (const { parcels, center, size } of shapes) {
      await reshape('2', parcels)
      const frame = 'width=90&height=90&publications=true'
      const around = `/map.png?${frame}&size=${size}&center=${center}&selected=${parcels.join(';')}`
      const image = await bytesAt(`/estates/2/map.png?${frame}&size=40`)
      expect(image.equals(await bytesAt(around)), `around ${center}`).toBe(true)
    }
  })

  /** Makes an estate of these parcels and no others. */
  async function reshape(id: string, parcels: readonly string[]): Promise<void> {
    const left = land.reference.parcels.filter(({ estate_id }) => estate_id === id)
    await land.change(
      ...left.map(({ x, y }) => ({
        kind: 'change-parcel' as const,
        x,
        y,
        to: { estate_id: null, estate_position: null },
      })),
      ...parcels.map((parcel, i) => {
        const [x = 0, y = 0] = parcel.split(',').map(Number)
        return { kind: 'change-parcel' as const, x, y, to: { estate_id: id, estate_position: i } }
      }),
    )
  }

  test('an estate is zoomed out for, below 5 pixels a parcel if need be, and never in', async () => {
    await reshape(
      '2',
      Array.from({ length: 2 * RADIUS + 1 }, (_, i) => `0,${i - RADIUS}`),
    )
    // 21 rows in 64 pixels are 3 pixels each: the world of 21 x 21 is 63 pixels wide then
    const { rgb } = await pictureOf('/estates/2/map.png?width=300&height=64&size=40')
    const outside = rgb(0, 0)
    const row = Array.from({ length: 300 }, (_, xPx) => rgb(xPx, 32))
    expect(row.findLastIndex((one) => one !== outside) - row.findIndex((one) => one !== outside)).toBe(62)
    // Where it fits, it stays at the size that was asked for: the world is 21 x 5 pixels high, less the gap above it
    const small = await pictureOf('/estates/2/map.png?width=300&height=300&size=5')
    const column = Array.from({ length: 300 }, (_, yPx) => small.rgb(170, yPx))
    const ground = small.rgb(0, 0)
    const high = column.findLastIndex((one) => one !== ground) - column.findIndex((one) => one !== ground) + 1
    expect(high).toBe(104)

    // The limit holds for the size that is asked for: at 1 pixel a parcel this image shows 69,700
    expect((await pictureOf('/estates/2/map.png?width=2048&height=32&size=40')).widthPx).toBe(2048)
  })

  test('an estate without parcels is an image of the ground, an unknown one is not found', async () => {
    const { widthPx, heightPx, rgb } = await pictureOf('/estates/5/map.png?width=64&height=48')
    expect([widthPx, heightPx]).toEqual([64, 48])
    const colours = new Set<string>()
    for (let x = 0; x < widthPx; x++) for (let y = 0; y < heightPx; y++) colours.add(rgb(x, y))
    expect([...colours]).toEqual([(await pictureOf('/map.png')).rgb(0, 0)])

    for (const id of ['0', 'x', '999999999'])
      expect((await land.refusal(`/estates/${id}/map.png`, 404, 'estate_not_found')).data).toEqual({ id })
  })

  test('more than 15000 parcels are always refused with the same text', async () => {
    for (const path of [
      '/map.png',
      '/v1/map.png',
      '/parcels/0/0/map.png',
      '/parcels/0,0/map.png',
      '/estates/2/map.png',
    ]) {
      await tooMany(`${path}?width=2048&height=2048&size=10`, 42_436)
      const head = await land.server.ask('HEAD', `${path}?width=2048&height=2048`)
      expect([head.status, head.bytes.length]).toEqual([500, 0])
    }
    await tooMany('/estates/5/map.png?width=2048&height=2048&size=10', 42_436)
    await tooMany('/map.png?width=1220&height=1200&size=10', 124 * 122)
    expect(readPicture(await bytesAt('/map.png?width=1200&height=1200&size=10')).widthPx).toBe(1200)
    const refused = await land.server.ask('GET', '/map.png?width=2048&height=2048', {
      headers: { 'if-none-match': '*' },
    })
    expect([refused.status, refused.headers['cache-control'], refused.headers.etag]).toEqual([
      500,
      'no-store',
      undefined,
    ])
  })

  test('a number beyond its range becomes the nearest allowed one, which the answer says', async () => {
    for (const route of [
      '/map.png',
      '/v1/map.png',
      '/parcels/1/2/map.png',
      '/parcels/1,2/map.png',
      '/estates/2/map.png',
    ]) {
      for (const [asked, drawn, said] of [
        ['width=31', 'width=32', 'width=32'],
        ['width=4096&size=40', 'width=2048&size=40', 'width=2048'],
        ['width=-500', 'width=32', 'width=32'],
        ['width=100.5', 'width=100', 'width=100'],
        ['width=1e2', 'width=100', undefined],
        ['height=1', 'height=32', 'height=32'],
        ['height=99999999999999999999&size=40', 'height=2048&size=40', 'height=2048'],
        ['size=1', 'size=5', 'size=5'],
        ['size=41', 'size=40', 'size=40'],
        ['width=2049&height=0&size=100', 'width=2048&height=32&size=40', 'width=2048,height=32,size=40'],
      ] as const) {
        // The second answer comes from memory
        for (let round = 0; round < 2; round++) {
          const { status, headers, bytes } = await land.server.ask('GET', `${route}?${asked}`)
          expect([status, headers['x-drawn']], `${route} ${asked}`).toEqual([200, said])
          expect(bytes.equals(await bytesAt(`${route}?${drawn}`)), `${route} ${asked}`).toBe(true)
        }
      }
    }
  })

  test('a parameter that is malformed is named in the refusal, with its range', async () => {
    const pixels = 'a number from 32 to 2048'
    const size = 'a number from 5 to 40'
    const truth = 'true or false'
    const wrong: [string, string, string][] = [
      ...['wide', '0x40', '1e400', '5px'].map((text): [string, string, string] => ['width', text, pixels]),
      ['height', 'NaN', pixels],
      ...['ten', '1,5'].map((text): [string, string, string] => ['size', text, size]),
      ...['1', 'yes', 'TRUE'].map((text): [string, string, string] => ['publications', text, truth]),
      ['on-sale', 'maybe', truth],
      ['theme', 'blue', 'one of dark, light'],
    ]
    for (const route of ['/map.png', '/parcels/1/2/map.png', '/parcels/1,2/map.png', '/estates/2/map.png']) {
      for (const [parameter, text, allowed] of wrong) {
        const { data, error } = await land.refusal(`${route}?${parameter}=${text}`, 400, 'invalid_parameter')
        expect(data, `${route} ${parameter}=${text}`).toMatchObject({ parameter, allowed })
        expect(error).toContain(`but must be ${allowed}.`)
      }
      for (const [parameter] of wrong) {
        const twice = await land.refusal(`${route}?${parameter}=1&${parameter}=1`, 400, 'invalid_parameter')
        expect(twice.data.parameter).toBe(parameter)
      }
    }
  })

  test('a center anywhere is drawn: the land moves, and around it is the ground', async () => {
    const frame = 'width=90&height=70&size=10'
    const at = (center: string) => pictureOf(`/map.png?${frame}&center=${encodeURIComponent(center)}`)
    const [middle, ground] = [await at('8,0'), (await at('999,0')).rgb(0, 0)]

    expect(isShifted(middle, await at('12,-3'), { xPx: 40, yPx: 30 })).toBe(true)
    expect(isShifted(middle, await at('8.5,0'), { xPx: 5, yPx: 0 })).toBe(true)
    expect(isShifted(middle, await at('8,0.4'), { xPx: 0, yPx: -4 })).toBe(true)
    expect(
      (await bytesAt(`/map.png?${frame}&center=8,%200`)).equals(
        await bytesAt(`/map.png?${frame}&center=8,0`),
      ),
    ).toBe(true)
    for (const far of ['11000,0', '0,-1e9', '-1e300,1e300']) {
      const { widthPx, heightPx, rgb } = await at(far)
      for (let x = 0; x < widthPx; x++)
        for (let y = 0; y < heightPx; y++) if (rgb(x, y) !== ground) expect.fail(far)
    }
    for (const text of ['1', 'a,b', '1,2;3,4'])
      expect((await land.refusal(`/map.png?center=${text}`, 400, 'invalid_parameter')).data.parameter).toBe(
        'center',
      )
  })

  test('selected parcels outside of the world are ignored, but a parcel outside has its image', async () => {
    const frame = 'width=90&height=70&size=10'
    const plain = await bytesAt(`/map.png?${frame}&center=10,10`)
    expect(
      (await bytesAt(`/map.png?${frame}&center=10,10&selected=11,0;-999999,3;%2012,%2012`)).equals(plain),
    ).toBe(true)
    for (const text of ['0,0;;', '0,0;x', '1;2'])
      expect((await land.refusal(`/map.png?selected=${text}`, 400, 'invalid_parameter')).data.parameter).toBe(
        'selected',
      )

    const selected = (await pictureOf('/parcels/0/0/map.png')).rgb(250, 250)
    for (const path of [
      '/v1/parcels/160/155/map.png',
      '/parcels/11,0/map.png',
      '/parcels/9007199254740991/0/map.png',
    ]) {
      const { rgb } = await pictureOf(path)
      expect(rgb(250, 250), path).toBe(selected)
    }
    for (const [path, parameter] of [
      ['/parcels/0/one/map.png', 'y'],
      ['/parcels/1.5/0/map.png', 'x'],
      ['/parcels/nowhere/map.png', 'x,y'],
    ])
      expect((await land.refusal(path!, 400, 'invalid_parameter')).data.parameter).toBe(parameter)
    // Other routes know where their middle is: there these are parameters like any unknown one
    for (const path of ['/parcels/1/2/map.png', '/estates/2/map.png'])
      expect((await bytesAt(`${path}?center=x&selected=y`)).equals(await bytesAt(path))).toBe(true)
  })

  test('parcels may have a fraction of a pixel: twenty of them on 512 pixels', async () => {
    // Parcel x begins at the rounded 25.6 * x, as in a satellite picture of the same ground
    const { rgb } = await pictureOf('/map.png?width=512&height=512&size=25.6&center=-0.5,0.5&selected=0,0')
    const whole = await pictureOf('/map.png?width=520&height=520&size=26&center=-0.5,0.5&selected=0,0')
    const [middle, between] = [(n: number) => Math.round(25.6 * (n + 0.5)), (n: number) => 26 * n + 13]
    for (let column = 0; column < 20; column++)
      for (let row = 0; row < 20; row++)
        expect(rgb(middle(column), middle(row)), `${column},${row}`).toBe(
          whole.rgb(between(column), between(row)),
        )
  })

  test('a thousand parcels can be selected, not one more, and addresses end at 16 KiB', async () => {
    const some = Array.from({ length: 441 }, (_, i) => `${(i % 21) - 10},${Math.floor(i / 21) - 10}`)
    const selected = (count: number) =>
      Array.from({ length: count }, (_, i) => some[i % some.length]).join(';')
    expect(
      (await bytesAt(`/map.png?selected=${selected(1000)}`)).equals(
        await bytesAt(`/map.png?selected=${selected(441)}`),
      ),
    ).toBe(true)
    const { data, error } = await land.refusal(
      `/map.png?selected=${selected(1001)}`,
      400,
      'invalid_parameter',
    )
    expect(data.parameter).toBe('selected')
    expect(error).toContain('at most 1000 coordinates')
    const tooLong = await land.server.ask('GET', `/map.png?selected=${selected(4000)}`)
    expect([tooLong.status, JSON.parse(tooLong.bytes.toString()).code]).toEqual([431, 'header_too_large'])
  })

  test('are never compressed, and do not vary by compression', async () => {
    for (let round = 0; round < 2; round++) {
      const { headers, bytes } = await land.server.ask('GET', '/map.png?width=600', {
        headers: { 'accept-encoding': 'br, gzip' },
      })
      expect(headers).not.toHaveProperty('content-encoding')
      expect(headers).not.toHaveProperty('vary')
      expect(bytes.length).toBe(Number(headers['content-length']))
    }
  })

  test('accept GET and HEAD, and list them for other methods', async () => {
    for (const path of ['/map.png', '/parcels/0/0/map.png', '/parcels/0,0/map.png', '/estates/2/map.png']) {
      const refused = await land.server.ask('POST', path, { body: '{}' })
      expect([refused.status, refused.headers.allow], path).toEqual([405, 'GET, HEAD, OPTIONS'])
      expect((await land.server.ask('OPTIONS', path)).status).toBe(204)
    }
  })

  test('show a change of the land as soon as it is there', async () => {
    const path = '/map.png?width=50&height=50&size=40'
    const before = await pictureOf(path)
    const { owner } = await land.server.data<{ owner: string | null }>('/parcels/0/0')
    const facts = { district_id: null, estate_id: null, estate_position: null }
    await land.change({ kind: 'change-parcel', x: 0, y: 0, to: { ...facts, owner: null } })
    const unowned = await pictureOf(path)
    await land.change({ kind: 'change-parcel', x: 0, y: 0, to: { ...facts, owner: addressOf('new owner') } })
    const owned = await pictureOf(path)

    expect(owned.rgb(25, 25)).not.toBe(unowned.rgb(25, 25))
    if (owner === null) expect(before.rgb(25, 25)).not.toBe(owned.rgb(25, 25))
  })
})

/** Whether what both pictures show is the same, the second being moved by so many pixels. */
function isShifted(first: ReadPicture, second: ReadPicture, by: { xPx: number; yPx: number }): boolean {
  for (let x = Math.max(0, by.xPx); x < Math.min(first.widthPx, first.widthPx + by.xPx); x++) {
    for (let y = Math.max(0, by.yPx); y < Math.min(first.heightPx, first.heightPx + by.yPx); y++) {
      if (first.rgb(x, y) !== second.rgb(x - by.xPx, y - by.yPx)) return false
    }
  }
  return true
}

/** The smallest rectangle with all pixels in which two pictures differ. */
function changedArea(first: ReadPicture, second: ReadPicture) {
  const area = { west: Infinity, north: Infinity, east: -1, south: -1 }
  for (let x = 0; x < first.widthPx; x++) {
    for (let y = 0; y < first.heightPx; y++) {
      if (first.rgb(x, y) === second.rgb(x, y)) continue
      area.west = Math.min(area.west, x)
      area.east = Math.max(area.east, x)
      area.north = Math.min(area.north, y)
      area.south = Math.max(area.south, y)
    }
  }
  return area
}

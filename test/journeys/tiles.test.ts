import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { TILE_FIELDS } from '@landpass/server/api/tile-data/tile-forms'
import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { type ReferenceTile, ReferenceTiles } from '@landpass/server/test/support/land/tiles-of-tables'
import { exactly, inDigits } from '@landpass/server/test/support/run/exact-values'
import { expectSame } from '@landpass/server/test/support/run/expect-same'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** 4,489 parcels: more than are answered in one piece. */
const RADIUS = 33

describeOnOneEngine('tiles', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    // A second area without parcels: the box around the world is larger than the world
    land = await startDemoLand(await open(), { radius: RADIUS, emptyAreas: '60,50,70,60' })
  })
  afterAll(() => land.server.close())

  const reference = async () => (await ReferenceTiles.read(land.engine.db)).at(land.nowMs())
  const read = async (path: string) => {
    const { status, text } = await land.server.get(path)
    expect(status, `${path} answered ${text.slice(0, 300)}`).toBe(200)
    return text
  }
  const ask = (path: string, headers: Record<string, string> = {}) =>
    land.server.ask('GET', path, { headers })

  describe('of the whole world', () => {
    test('are those of the tables, digit for digit and in order', async () => {
      const tiles = await reference()
      const text = await read('/v2/tiles')

      expectSame(exactly(text), inDigits({ ok: true, data: Object.fromEntries(tiles) }))
      expect(keysOf(text)).toEqual([...tiles.keys()])
      expect(tiles.size).toBe((2 * RADIUS + 1) ** 2)
      for (const kind of ['owned', 'unowned', 'plaza', 'road', 'district'])
        expect(text, kind).toContain(`"type":"${kind}"`)
      for (const field of TILE_FIELDS) expect(text, field).toContain(`"${field}":`)
    })

    test('have numbers in the older form', async () => {
      const tiles = (await ReferenceTiles.read(land.engine.db)).legacyAt(land.nowMs())

      expectSame(exactly(await read('/v1/tiles')), inDigits({ ok: true, data: Object.fromEntries(tiles) }))
      const area = '/tiles?x1=0&y1=0&x2=1&y2=1'
      expect(await read(area)).toBe(await read(`/v1${area}`))
    })

    test.each(['/v2/tiles', '/v1/tiles', '/v2/tiles?exclude=price,expiresAt,tokenId'])(
      'are the same compressed as not, while that is made and afterwards: %s',
      async (path) => {
        await land.change({ kind: 'change-parcel', x: 1, y: 1, to: { name: `before ${path}` } })
        const plain = await ask(path)
        const unpack = { br: brotliDecompressSync, gzip: gunzipSync }

        for (const compression of ['br', 'gzip'] as const) {
          const answers = await Promise.all(
            Array.from({ length: 4 }, () => ask(path, { 'accept-encoding': compression })),
          )
          answers.push(await ask(path, { 'accept-encoding': compression }))
          for (const { status, headers, bytes } of answers) {
            expect([status, headers['content-encoding']]).toEqual([200, compression])
            expect(headers.etag).toBe(plain.headers.etag?.replace(/"$/, `;${compression}"`))
            expect(headers.vary).toMatch(/accept-encoding/i)
            expect(unpack[compression](bytes).equals(plain.bytes)).toBe(true)
          }
        }
        expect(plain.headers['content-encoding']).toBeUndefined()
      },
    )

    test('come with their length once they are kept', async () => {
      const headers = { 'accept-encoding': 'br' }
      const first = await ask('/v2/tiles', headers)
      const second = await ask('/v2/tiles', headers)

      expect(second.headers['content-length']).toBe(String(second.bytes.length))
      expect(second.bytes.equals(first.bytes)).toBe(true)
    })

    test.each([
      ['/v2/tiles', 'br'],
      ['/v1/tiles', 'gzip'],
      ['/v2/tiles', 'identity'],
      ['/v2/tiles?x1=0&y1=0&x2=5&y2=5', 'identity'],
      ['/v2/tiles/info', 'identity'],
    ])('have the same headers for HEAD, without a body: %s, %s', async (path, compression) => {
      const headers = { 'accept-encoding': compression }
      const head = await land.server.ask('HEAD', path, { headers })
      const get = await ask(path, headers)

      expect([head.status, head.bytes.length]).toEqual([200, 0])
      for (const name of ['etag', 'content-type', 'content-encoding', 'last-modified', 'cache-control'])
        expect(head.headers[name], name).toBe(get.headers[name])
    })
  })

  describe('of an area', () => {
    test('are those of the whole world that lie in it, whichever corners are named', async () => {
      const tiles = await reference()
      const place = fc.integer({ min: -RADIUS - 30, max: RADIUS + 30 })
      await fc.assert(
        fc.asyncProperty(place, place, place, place, async (x1, y1, x2, y2) => {
          const text = await read(`/v2/tiles?x1=${x1}&y1=${y1}&x2=${x2}&y2=${y2}`)
          const inside = within(tiles, [x1, x2], [y1, y2])
          expectSame(exactly(text), inDigits({ ok: true, data: Object.fromEntries(inside) }))
          expect(keysOf(text)).toEqual(inside.map(([key]) => key))
        }),
        {
          numRuns: 8,
          examples: [
            [3, 3, 3, 3],
            [-70, -70, 70, 70],
            [50, 50, 70, 70],
          ],
        },
      )
    })

    test('put together are the whole world', async () => {
      let members: string[] = []
      for (let x = -RADIUS; x <= RADIUS; x += 27) {
        const text = await read(`/v2/tiles?x1=${x}&y1=999999&x2=${x + 26}&y2=-999999`)
        members.push(text.slice('{"ok":true,"data":{'.length, -2))
      }
      members = members.filter((text) => text !== '')

      expect(members).toHaveLength(3)
      expect(`{"ok":true,"data":{${members.join(',')}}}`).toBe(await read('/v2/tiles'))
    })

    test('have the fields that were asked for', async () => {
      const tables = await ReferenceTiles.read(land.engine.db)
      const tiles = within(tables.at(land.nowMs()), [-9, 9], [-9, 9])
      const subset = fc.subarray([...TILE_FIELDS], { minLength: 1 })
      const [shownFields, leftOut] = [new Set<string>(), new Set<string>()]
      await fc.assert(
        fc.asyncProperty(subset, fc.boolean(), async (fields, isExcluding) => {
          const kept = TILE_FIELDS.filter((field) => fields.includes(field) !== isExcluding)
          for (const field of TILE_FIELDS) (kept.includes(field) ? shownFields : leftOut).add(field)
          const query = `${isExcluding ? 'exclude' : 'include'}=${fields.join(',')}`
          const area = 'x1=-9&y1=-9&x2=9&y2=9'
          const shown = tiles.map(([key, tile]) => [key, only(tile, kept)])
          expectSame(
            exactly(await read(`/v2/tiles?${area}&${query}`)),
            inDigits({ ok: true, data: Object.fromEntries(shown) }),
          )
          const legacy = tables.legacyAt(land.nowMs(), kept)
          const older = tiles.map(([key]) => [key, legacy.get(key)])
          expectSame(
            exactly(await read(`/v1/tiles?${area}&${query}`)),
            inDigits({ ok: true, data: Object.fromEntries(older) }),
          )
        }),
        { numRuns: 6 },
      )
      for (const fields of [shownFields, leftOut]) expect(fields.size).toBe(TILE_FIELDS.length)
    })

    test('that is not well described is refused, with what is wrong', async () => {
      for (const path of ['/v2/tiles', '/v1/tiles']) {
        const { error, data } = await land.refusal(`${path}?x1=1&y1=2&y2=3`, 400, 'invalid_parameter')
        expect([error, data.parameter]).toEqual([
          'x2 is missing, but must be given, as x1, y1, x2 and y2 belong together.',
          'x2',
        ])
        await land.refusal(`${path}?x1=1&y1=2&x2=3&y2=4.5`, 400, 'invalid_parameter')
        for (const filter of ['owner=me', 'type=roads', 'type=owned&type=road'])
          await land.refusal(`${path}?${filter}`, 400, 'invalid_parameter')
      }
    })

    test('of which only unknown fields are asked for are there, and empty', async () => {
      const area = 'x1=0&y1=0&x2=1&y2=0'
      for (const path of ['/v2/tiles', '/v1/tiles'])
        expect(await land.server.data(`${path}?${area}&include=colour,rentalListing`)).toEqual({
          '0,0': {},
          '1,0': {},
        })
    })

    test('may be used for minutes without asking, unlike what programs poll', async () => {
      const cacheControl = async (path: string) => (await ask(path)).headers['cache-control']
      const address = `0x${'1'.repeat(40)}`

      for (const path of ['/v2/tiles', '/v1/tiles?x1=0&y1=0&x2=1&y2=1', '/v2/tiles?type=road'])
        expect(await cacheControl(path), path).toBe('public, max-age=120, stale-while-revalidate=180')
      for (const path of ['/v2/tiles/info', '/v1/tiles/new?from=0', `/v1/tiles/${address}`, '/v2/districts'])
        expect(await cacheControl(path), path).toBe('public, no-cache')
    })
  })

  test('what changes in the land changes in the tiles, and nothing else does', async () => {
    await read('/v2/tiles?x1=-30&y1=-30&x2=30&y2=30')
    const before = await reference()
    const [inEstate] = [...before.values()].filter(({ estateId }) => estateId !== undefined)
    const id = String(inEstate!.estateId)
    const owner = addressOf('buyer')

    const updated_at_ms = land.nowMs()
    await land.change(
      { kind: 'change-parcel', x: 5, y: 5, to: { owner, name: 'new', updated_at_ms } },
      { kind: 'change-estate', id, to: { owner, name: 'A new estate', updated_at_ms } },
      {
        kind: 'open-publication',
        publication: publicationRow('tile', { asset_id: '6,6', price: '1.000000000000000001' }),
      },
    )

    const after = await reference()
    const changed = [...after].filter(([key, tile]) => !isSame(tile, before.get(key)!)).map(([key]) => key)
    const ofEstate = [...after].filter(([, { estateId }]) => estateId === id).map(([key]) => key)
    expect(changed.sort()).toEqual([...new Set([...ofEstate, '5,5', '6,6'])].sort())
    expectSame(exactly(await read('/v2/tiles')), inDigits({ ok: true, data: Object.fromEntries(after) }))
    const near = within(after, [-30, 30], [-30, 30])
    expectSame(
      exactly(await read('/v2/tiles?x1=-30&y1=-30&x2=30&y2=30')),
      inDigits({ ok: true, data: Object.fromEntries(near) }),
    )
  })

  test('an offer ends at its last millisecond, for every reader and in every form that shows it', async () => {
    const expiresAtMs = land.nowMs() + 10 * MINUTE_MS
    const facts = { expires_at_ms: expiresAtMs, price: '4242.5' }
    const estateId = String([...(await reference()).values()].find((tile) => tile.estateId)!.estateId)
    await land.change(
      { kind: 'open-publication', publication: publicationRow('short', { ...facts, asset_id: '7,7' }) },
      {
        kind: 'open-publication',
        publication: publicationRow('estate', { ...facts, asset_type: 'estate', asset_id: estateId }),
      },
    )
    const place = 'x1=7&y1=7&x2=7&y2=7'
    const showing = [
      `/v2/tiles?${place}`,
      '/v2/tiles',
      '/v1/tiles',
      `/v1/tiles?${place}`,
      `/v2/tiles?${place}&include=expiresAt`,
    ]
    const info = '/v2/tiles/info'
    const notShowing = [`/v2/tiles?${place}&exclude=price,expiresAt`, `/v1/tiles?${place}&exclude=price`]
    const all = [...showing, info, ...notShowing]
    const look = async () =>
      new Map(await Promise.all(all.map(async (path) => [path, await ask(path)] as const)))
    const before = await look()
    const confirmed = async () => {
      const status = (path: string) => ask(path, { 'if-none-match': before.get(path)!.headers.etag! })
      const answers = await Promise.all(all.map(status))
      return all.filter((_, i) => answers[i]!.status === 304)
    }
    expect(await read(showing[0]!)).toContain(`"price":4242.5,"expiresAt":${Math.floor(expiresAtMs / 1000)}`)

    land.clock.set(expiresAtMs - 1)
    expect(await confirmed()).toEqual(all)
    expect(await read(showing[0]!)).toContain('"price":4242.5')

    land.clock.set(expiresAtMs)
    expect(await confirmed()).toEqual(notShowing)
    expect(await read(showing[0]!)).not.toContain('price')
    expectSame(
      exactly(await read('/v2/tiles')),
      inDigits({ ok: true, data: Object.fromEntries(await reference()) }),
    )
    const packed = await ask('/v2/tiles', { 'accept-encoding': 'gzip' })
    expect(gunzipSync(packed.bytes).toString()).toBe(await read('/v2/tiles'))
    expect(JSON.parse(await read(info))).toEqual({ lastUpdatedAt: expiresAtMs })
    for (const path of notShowing) expect(await read(path)).toBe(before.get(path)!.bytes.toString())
  })

  test('a copy that is still right is answered with 304, in every compression and with every condition', async () => {
    for (const path of ['/v2/tiles', '/v1/tiles', '/v2/tiles?x1=0&y1=0&x2=1&y2=1', '/v2/tiles/info']) {
      for (const compression of ['identity', 'br', 'gzip']) {
        const { headers } = await ask(path, { 'accept-encoding': compression })
        for (const condition of [
          { 'if-none-match': headers.etag! },
          { 'if-modified-since': headers['last-modified']! },
        ]) {
          const answer = await ask(path, { 'accept-encoding': compression, ...condition })
          expect([answer.status, answer.bytes.length], path).toEqual([304, 0])
        }
      }
      expect((await ask(path, { 'if-none-match': '"another"' })).status).toBe(200)
    }
  })

  test('info has the time of the last change of the tiles', async () => {
    land.clock.set(land.nowMs() + HOUR_MS)
    await land.change({ kind: 'change-parcel', x: 0, y: 9, to: { name: 'changed' } })

    expect(JSON.parse(await read('/v2/tiles/info'))).toEqual({ lastUpdatedAt: land.nowMs() })
  })
})

function within(
  tiles: ReadonlyMap<string, ReferenceTile>,
  [x1, x2]: [number, number],
  [y1, y2]: [number, number],
): [string, ReferenceTile][] {
  const isBetween = (value: unknown, a: number, b: number) =>
    Number(value) >= Math.min(a, b) && Number(value) <= Math.max(a, b)
  return [...tiles].filter(([, { x, y }]) => isBetween(x, x1, x2) && isBetween(y, y1, y2))
}

function only(tile: ReferenceTile, fields: readonly string[]): ReferenceTile {
  return Object.fromEntries(Object.entries(tile).filter(([field]) => fields.includes(field)))
}

function isSame(a: ReferenceTile, b: ReferenceTile): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** In the order of the text: a parsed object would have them in an order of its own where they are numbers. */
function keysOf(json: string): string[] {
  return [...json.matchAll(/"(-?\d+,-?\d+)":\{/g)].map(([, key = '']) => key)
}

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { FeedGrid, type FeedPart, type FeedTile, readFeed } from '@landpass/client/feed'
import { HOUR_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { referenceTiles } from '@landpass/server/test/support/land/reference-tiles'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RADIUS = 10
const WORLD = `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`

describeOnOneEngine('the feed', (open) => {
  let land: DemoLand
  /** Another process over the same database. */
  let other: LandServer
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
    other = await startLandServer(await open(), land.clock, { WORLD })
  })
  afterAll(async () => {
    await other.close()
    await land.server.close()
  })

  async function part(path = '/v2/feed', server = land.server): Promise<FeedPart> {
    const { status, headers, bytes } = await server.ask('GET', path)
    expect([status, headers['content-type']]).toEqual([200, 'application/vnd.landpass.feed'])
    return readFeed(bytes)
  }

  const since = (grid: FeedGrid) => `/v2/feed?since=${grid.state}`

  function expectRight(grid: FeedGrid): void {
    for (const { x, y, type, joins, owner, estateId, price } of referenceTiles(
      land.reference,
      land.nowMs(),
    )) {
      const tile: FeedTile = { type, joins, isOnSale: price !== undefined, owner, estate: estateId }
      expect([x, y, grid.tileAt(x, y)]).toEqual([x, y, tile])
    }
  }

  test('shows the world of the records, and then only its changes', async () => {
    const grid = new FeedGrid(await part())
    expectRight(grid)
    const names = { owner: addressOf('new owner'), estate_id: null, estate_position: null }
    await land.change(
      { kind: 'change-parcel', x: 3, y: -4, to: names },
      {
        kind: 'open-publication',
        publication: publicationRow('short', { asset_id: '5,5', expires_at_ms: land.nowMs() + HOUR_MS }),
      },
    )
    await other.app.keeper.refresh()

    const changes = await part(since(grid), other)
    expect(changes.since).toBe(grid.state)
    expect(changes.cells.length).toBeLessThan(20)
    grid.apply(changes)
    expectRight(grid)
    expect([grid.tileAt(3, -4).owner, grid.tileAt(5, 5).isOnSale]).toEqual([addressOf('new owner'), true])

    // Nothing is committed now: the clock alone takes the offer away.
    land.clock.set(land.nowMs() + HOUR_MS)
    const expired = await part(since(grid))
    expect(expired.since).toBe(grid.state)
    grid.apply(expired)
    expectRight(grid)
    expect(grid.tileAt(5, 5).isOnSale).toBe(false)

    grid.apply(await part(since(grid), other))
    expect(grid.state).toBe((await part()).state)
    expectRight(grid)
  })

  test('confirms a copy before anything is made, and never after a change', async () => {
    const ask = (path: string, tag: string | undefined) =>
      land.server.ask('GET', path, { headers: { 'if-none-match': tag ?? '' } })
    const { state } = await part()
    for (const path of ['/v2/feed', `/v2/feed?since=${state}`]) {
      const { etag } = (await land.server.ask('GET', path)).headers
      const again = await ask(path, etag)
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag])

      await land.change({ kind: 'change-parcel', x: 1, y: 1, to: { owner: addressOf(path) } })
      const changed = await ask(path, etag)
      expect(changed.status).toBe(200)
      expect(changed.headers.etag).not.toBe(etag)
    }
    // The same state has another tag on each way to it.
    const tags = await Promise.all(
      ['/v2/feed', `/v2/feed?since=${state}`].map(
        async (path) => (await land.server.ask('GET', path)).headers.etag,
      ),
    )
    expect(new Set(tags).size).toBe(2)
  })

  test('is the same in every compression, has one length for HEAD and GET, and is compressed only on request', async () => {
    const ask = (compression: string, method = 'GET') =>
      land.server.ask(method, '/v2/feed', { headers: { 'accept-encoding': compression } })
    const [plain, gzip, brotli] = await Promise.all([ask('identity'), ask('gzip'), ask('gzip, br')])
    const tag = plain.headers.etag!

    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
      'br',
    ])
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
    expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes)
    expect([gzip, brotli].map(({ headers }) => headers.etag)).toEqual([
      tag.replace(/"$/, ';gzip"'),
      tag.replace(/"$/, ';br"'),
    ])
    for (const { headers } of [plain, gzip, brotli]) expect(headers.vary).toMatch(/accept-encoding/i)
    const head = await ask('gzip', 'HEAD')
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    expect(head.headers['content-length']).toBe(String(gzip.bytes.length))
  })

  test('is the whole world for an unknown state, and refuses what is not a state', async () => {
    const { state } = await part()
    const [version, lineage, revision, expiry] = state.split('.')
    for (const unknown of [
      `${version}.000000000000.${revision}.${expiry}`,
      `${version}.${lineage}.0.${expiry}`,
      `${version}.${lineage}.${Number(revision) + 1}.${expiry}`,
      `9.${lineage}.${revision}.${expiry}`,
      'something-else',
    ])
      expect((await part(`/v2/feed?since=${unknown}`)).since, unknown).toBeUndefined()

    for (const odd of ['a%20b', 'x'.repeat(101), '%00', '..%2F']) {
      const { data } = await land.refusal(`/v2/feed?since=${odd}`, 400, 'invalid_parameter')
      expect(data.parameter).toBe('since')
    }
    await land.refusal('/v2/feed?since=a&since=b', 400, 'invalid_parameter')
  })
})

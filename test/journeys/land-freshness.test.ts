import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { readFeed } from '@landpass/client/feed'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import type { LandChange } from '@landpass/server/test/support/land/land-changes'
import { addressOf, bidRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { runs } from '@landpass/server/test/support/run/property-seed'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const PATHS = [
  '/parcels/1/1',
  '/parcels/2/1',
  '/parcels/1/1/publications',
  '/parcels/1/1/bids?sanitize=false',
  '/parcels/1/1/encodedId',
  '/estates/2',
  '/parcels?limit=3&sort_by=price',
  '/parcels?status=cancelled,sold&limit=5',
  '/estates',
  '/marketplace?status=open,sold&limit=4&sort_order=asc',
  '/map?nw=0,2&se=3,0',
  '/parcels?nw=-10,10&se=10,-10',
  `/addresses/${addressOf('owner')}/parcels`,
  `/addresses/${addressOf('owner')}/parcels?status=sold,cancelled`,
  `/addresses/${addressOf('owner')}/estates?status=open`,
  `/bids/${addressOf('bidder')}/assets`,
  `/addresses/${addressOf('bidder')}/bids?status=open`,
  '/districts',
] as const

const SPAN_MS = 20_000

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'change'
      readonly what: Exclude<LandChange['kind'], 'create-estate' | 'remove-estate' | 'remove-publication'>
      readonly pick: number
      readonly ms: number
    }
  | { readonly kind: 'read'; readonly paths: readonly (typeof PATHS)[number][] }

const paths = fc.uniqueArray(fc.constantFrom(...PATHS), { minLength: 5, maxLength: PATHS.length })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 1, max: SPAN_MS }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read'), paths }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('change'),
      what: fc.constantFrom(
        'change-parcel',
        'change-estate',
        'open-publication',
        'open-publication',
        'close-publication',
        'place-bid',
        'close-bid',
      ),
      pick: fc.nat({ max: 1_000 }),
      ms: fc.integer({ min: 1, max: 2 * SPAN_MS }),
    }),
  },
)

/** What a reader keeps of an answer, and what it was true of. */
interface Copy {
  readonly tag: string
  readonly text: string
  readonly revision: number
  readonly atMs: number
}

describeOnOneEngine('freshness', (open) => {
  let land: DemoLand
  let names = 0
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
    const owner = addressOf('owner')
    await land.change(
      { kind: 'change-parcel', x: 1, y: 1, to: { owner } },
      { kind: 'change-parcel', x: 2, y: 1, to: { owner } },
      { kind: 'change-estate', id: '2', to: { owner } },
      { kind: 'place-bid', bid: bidRow('first', { asset_id: '1,1' }) },
    )
  })
  afterAll(() => land.server.close())

  test('a copy is confirmed exactly when it is still right, after any sequence of changes and waits', async () => {
    const seen = { confirmed: 0, expired: 0, changed: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 14, maxLength: 20 }), async (steps) => {
        const copies = new Map<string, Copy>()
        for (const path of PATHS) await readAgain(path, copies, seen)
        for (const one of steps) {
          if (one.kind === 'wait') land.clock.set(land.nowMs() + one.ms)
          else if (one.kind === 'change') await land.change(changeFor(one))
          else for (const path of one.paths) await readAgain(path, copies, seen)
        }
        for (const path of PATHS) await readAgain(path, copies, seen)
      }),
      { numRuns: runs(3), endOnFailure: true },
    )
    // The stories were no mere repetition of one case
    expect(Math.min(seen.confirmed, seen.expired, seen.changed), JSON.stringify(seen)).toBeGreaterThan(15)
  })

  test('another shape of the world has other tags and states, another way to write it has the same', async () => {
    const serve = (WORLD: string) => startLandServer(land.engine, land.clock, { WORLD })
    const same = await serve(' 0,-10,10,10 ; -10,-10,-1,10;0,0,1,1')
    const smaller = await serve('-10,-10,10,9')
    onTestFinished(async () => {
      await same.close()
      await smaller.close()
    })
    for (const path of ['/parcels/1/1', '/v1/map?nw=0,2&se=3,0', '/estates', '/v2/feed']) {
      const etag = (await land.server.ask('GET', path)).headers.etag!
      const headers = { 'if-none-match': etag }
      expect((await same.ask('GET', path, { headers })).status, path).toBe(304)
      expect((await smaller.ask('GET', path, { headers })).status, path).toBe(200)
    }
    const known = (await land.server.ask('GET', '/v2/feed')).headers.etag!.slice(1, -1)
    const isWhole = async (server: LandServer) =>
      readFeed((await server.ask('GET', `/v2/feed?since=${known}`)).bytes).numbers === undefined
    expect([await isWhole(same), await isWhole(smaller)]).toEqual([false, true])
  })

  async function readAgain(
    path: string,
    copies: Map<string, Copy>,
    seen: Record<string, number>,
  ): Promise<void> {
    const copy = copies.get(path)
    const plain = await land.server.get(path)
    expect(plain.status).toBe(200)
    const now = { revision: land.server.app.keeper.revision, atMs: land.nowMs() }
    copies.set(path, { tag: plain.headers.get('etag')!, text: plain.text, ...now })
    if (!copy) return
    const { status } = await land.server.get(path, { 'if-none-match': copy.tag })
    const isSame = plain.text === copy.text
    if (!isSame) expect(status, `${path} confirmed a copy that is wrong`).toBe(200)
    if (copy.revision === now.revision) {
      expect(status, `${path} after ${now.atMs - copy.atMs} ms without a change`).toBe(isSame ? 304 : 200)
      seen[isSame ? 'confirmed' : 'expired']! += 1
    } else {
      expect(status, `${path} confirmed a copy of another revision`).toBe(200)
      seen.changed! += 1
    }
  }

  function changeFor({ what, pick, ms }: Extract<Step, { kind: 'change' }>): LandChange {
    const now = land.nowMs()
    const { publications, bids } = land.reference
    const name = `change ${names++}`
    const asset_id = ['1,1', '2,1', '1,1', '3,2'][pick % 4]!
    switch (what) {
      case 'change-parcel':
        return { kind: what, x: 1 + (pick % 3), y: 1, to: { name } }
      case 'change-estate':
        return { kind: what, id: '2', to: { description: name } }
      case 'open-publication': {
        const facts = { block_time_created_at_ms: now, expires_at_ms: now + ms, price: String(pick) }
        const asset = pick % 5 === 0 ? ({ asset_type: 'estate', asset_id: '2' } as const) : { asset_id }
        return { kind: what, publication: publicationRow(name, { ...facts, ...asset }) }
      }
      case 'close-publication': {
        const stillOpen = publications.filter(({ shown }) => shown.status === 'open')
        const { key } = stillOpen[pick % stillOpen.length] ?? publications[0]!
        const status = pick % 2 ? 'sold' : 'cancelled'
        return { kind: what, key, to: { status, buyer: pick % 2 ? addressOf('buyer') : null, atMs: now } }
      }
      case 'place-bid':
        return { kind: what, bid: bidRow(name, { asset_id, block_time_created_at_ms: now }) }
      case 'close-bid': {
        const { id } = bids[pick % bids.length]!.shown
        return { kind: what, id, to: { status: 'cancelled', atMs: now } }
      }
    }
  }

  test('every change changes the ETag of every answer', async () => {
    const before = await Promise.all(PATHS.map((path) => land.server.ask('GET', path)))
    await land.change({ kind: 'change-parcel', x: 9, y: 9, to: { name: 'far away' } })
    const after = await Promise.all(PATHS.map((path) => land.server.ask('GET', path)))

    for (const [i, { headers }] of after.entries()) {
      expect(headers.etag).toMatch(/^"[\w.-]+"$/)
      expect(headers.etag).not.toBe(before[i]!.headers.etag)
    }
  })

  test('last-modified is the time of the change, and confirms copies too', async () => {
    land.clock.set(Math.ceil(land.nowMs() / 1000) * 1000 + 100_500)
    await land.change({ kind: 'change-parcel', x: 9, y: 9, to: { name: 'at half past' } })
    const changedAt = new Date(land.nowMs()).toUTCString()
    const status = async (headers: Record<string, string>) =>
      (await land.server.ask('GET', '/districts', { headers })).status

    expect((await land.server.ask('GET', '/districts')).headers['last-modified']).toBe(changedAt)
    expect(await status({ 'if-modified-since': changedAt })).toBe(304)
    expect(await status({ 'if-modified-since': new Date(land.nowMs() + 5_000).toUTCString() })).toBe(304)
    expect(await status({ 'if-modified-since': new Date(land.nowMs() - 1_000).toUTCString() })).toBe(200)
    expect(await status({ 'if-modified-since': 'yesterday' })).toBe(200)
    // The tag decides where both are sent
    expect(await status({ 'if-modified-since': changedAt, 'if-none-match': '"another"' })).toBe(200)
  })

  test('lists of ETags, weak ETags and * are understood', async () => {
    const { headers } = await land.server.ask('GET', '/parcels/1/1')
    const tag = headers.etag!
    const status = async (known: string) =>
      (await land.server.ask('GET', '/parcels/1/1', { headers: { 'if-none-match': known } })).status

    for (const known of ['*', ' * ', tag, `W/${tag}`, `"a", ${tag}`, `"a",W/"b" , W/${tag},"c"`, `${tag},`])
      expect(await status(known), known).toBe(304)
    for (const known of [
      '',
      '"*"',
      'x',
      tag.slice(1, -1),
      `"a${tag.slice(1)}`,
      // A lineage of digits alone would be the same in capitals.
      tag.replace(/^"./, '"X').toUpperCase(),
      `${tag.slice(0, -1)};zip"`,
    ])
      expect(await status(known), known).toBe(200)
  })

  test('If-Match with the ETag of another state is answered with 412, also of images and tiles', async () => {
    for (const path of [
      '/parcels/1/1',
      '/parcels',
      '/v2/tiles',
      '/map.png?width=64&height=64',
      '/districts',
    ]) {
      const { headers } = await land.server.ask('GET', path)
      const tag = headers.etag!
      for (const wanted of [tag, `"older", ${tag}`, '*'])
        expect((await land.server.get(path, { 'if-match': wanted })).status, path).toBe(200)
      for (const wanted of [`${tag.slice(0, -1)}0"`, `W/${tag}`]) {
        const { status, text } = await land.server.get(path, { 'if-match': wanted })
        expect([status, JSON.parse(text).code], path).toEqual([412, 'precondition_failed'])
      }
    }
  })

  test('each compression of an answer has its own ETag, and each that the client accepts confirms it', async () => {
    const path = '/map?nw=0,2&se=3,0'
    const ask = (headers: Record<string, string>) => land.server.ask('GET', path, { headers })
    const plain = await ask({})
    const brotli = await ask({ 'accept-encoding': 'gzip, br' })
    const gzip = await ask({ 'accept-encoding': 'gzip' })
    const tag = plain.headers.etag!

    expect(plain.headers['content-encoding']).toBeUndefined()
    expect([brotli.headers['content-encoding'], brotli.headers.etag]).toEqual([
      'br',
      tag.replace(/"$/, ';br"'),
    ])
    expect([gzip.headers['content-encoding'], gzip.headers.etag]).toEqual([
      'gzip',
      tag.replace(/"$/, ';gzip"'),
    ])
    expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes)
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
    for (const { headers } of [plain, brotli, gzip]) expect(headers.vary).toMatch(/accept-encoding/i)
    for (const known of [tag, brotli.headers.etag!, gzip.headers.etag!]) {
      for (const compression of ['identity', 'br', 'gzip']) {
        const { status, bytes, headers } = await ask({
          'accept-encoding': compression,
          'if-none-match': known,
        })
        const isAccepted = known === tag || known.endsWith(`;${compression}"`)
        expect([status, bytes.length === 0], `${known} ${compression}`).toEqual(
          isAccepted ? [304, true] : [200, false],
        )
        // A cache knows by the tag which of its copies was confirmed (RFC 9111, 4.3.4)
        if (isAccepted) expect(headers.etag).toBe(known)
      }
    }
  })

  test('only answers above a kilobyte are compressed, and only on request', async () => {
    for (const path of ['/parcels/1/1/encodedId', '/parcels?limit=0'])
      expect(
        (await land.server.ask('GET', path, { headers: { 'accept-encoding': 'br' } })).headers,
      ).not.toHaveProperty('content-encoding')
    for (const accepted of ['identity', 'zstd', 'br;q=0'])
      expect(
        (
          await land.server.ask('GET', '/parcels?nw=-10,10&se=10,-10', {
            headers: { 'accept-encoding': accepted },
          })
        ).headers,
      ).not.toHaveProperty('content-encoding')
  })
})

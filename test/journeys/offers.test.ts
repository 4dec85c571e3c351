import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { HOUR_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { exactly, inDigits } from '@landpass/server/test/support/run/exact-values'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PATH = '/v2/offers'
/** Estate 5 of the demo world is dissolved, and still for sale. */
const DISSOLVED = '5'

interface Offer {
  readonly price: unknown
  readonly expires_at: unknown
}

describeOnOneEngine('the offers', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
    await land.change(
      ...Array.from({ length: 60 }, (_, i) => ({
        kind: 'open-publication' as const,
        publication: publicationRow(`of ${i}`, {
          asset_id: `${(i % 10) - 10},${Math.floor(i / 10)}`,
          price: `${i * 100 + 1}.000000000000000001`,
        }),
      })),
    )
  })
  afterAll(() => land.server.close())

  /** What the records say, column by column. */
  function expected(nowMs = land.nowMs()): object {
    const { parcels, estates } = land.reference
    const offerOf = (type: 'parcel' | 'estate', id: string) =>
      land.reference.cheapestOffer(type, id, nowMs) as Offer | null
    const ofParcels = parcels
      .filter(({ estate_id }) => estate_id === null)
      .toSorted((a, b) => a.x - b.x || b.y - a.y)
      .flatMap(({ id, x, y }) => ({ x, y, ...offerOf('parcel', id) }))
      .filter(({ price }) => price !== undefined)
    const ofEstates = estates
      .filter(({ id }) => parcels.some(({ estate_id }) => estate_id === id))
      .flatMap(({ id }) => ({ id, ...offerOf('estate', id) }))
      .filter(({ price }) => price !== undefined)
    const columns = (offers: readonly Partial<Offer>[]) => ({
      price: offers.map(({ price }) => price),
      expires_at: offers.map(({ expires_at }) => expires_at),
    })
    return {
      total: ofParcels.length + ofEstates.length,
      parcels: { x: ofParcels.map(({ x }) => x), y: ofParcels.map(({ y }) => y), ...columns(ofParcels) },
      estates: { id: ofEstates.map(({ id }) => id), ...columns(ofEstates) },
    }
  }

  const expectRight = async () => {
    const { status, text } = await land.server.get(PATH)
    expect(status).toBe(200)
    expect(exactly(text)).toEqual(inDigits({ ok: true, data: expected() }))
    return text
  }

  test('are those of parcels and estates, digit by digit', async () => {
    const text = await expectRight()

    expect(text).toContain('5901.000000000000000001')
    expect(land.reference.offer('estate', DISSOLVED, land.nowMs())).not.toBeNull()
    const { estates } = await land.server.data<{ estates: { id: string[] } }>(PATH)
    expect(estates.id).toEqual(['2', '10'])
  })

  test('change when something is offered, sold, joins an estate or leaves one', async () => {
    await land.change({
      kind: 'open-publication',
      publication: publicationRow('newer', {
        asset_id: '-10,0',
        price: '0.0625',
        block_time_created_at_ms: land.nowMs(),
      }),
    })
    expect(await expectRight()).toContain('0.0625')

    const { key } = land.reference.publications.at(-1)!
    const sold = { status: 'sold', buyer: addressOf('buyer'), atMs: land.nowMs() } as const
    await land.change({ kind: 'close-publication', key, to: sold })
    await expectRight()

    const joined = { estate_id: DISSOLVED, estate_position: 0 }
    await land.change({ kind: 'change-parcel', x: -10, y: 0, to: joined })
    expect(await expectRight()).toContain('"id":["2","5","10"]')
    await land.change({ kind: 'change-parcel', x: -10, y: 0, to: { estate_id: null, estate_position: null } })
    expect(await expectRight()).toContain('"id":["2","10"]')
  })

  test('end at their last millisecond, and a dearer one may show again', async () => {
    const expiresAtMs = land.nowMs() + HOUR_MS
    const facts = { expires_at_ms: expiresAtMs, block_time_created_at_ms: land.nowMs(), price: '42.25' }
    await land.change(
      { kind: 'open-publication', publication: publicationRow('short', { ...facts, asset_id: '-9,0' }) },
      { kind: 'open-publication', publication: publicationRow('alone', { ...facts, asset_id: '3,3' }) },
    )
    const before = await land.server.get(PATH)
    const confirmed = async () =>
      (await land.server.get(PATH, { 'if-none-match': before.headers.get('etag')! })).status
    expect(before.text.match(/42\.25/g)).toHaveLength(2)

    land.clock.set(expiresAtMs - 1)
    expect(await confirmed()).toBe(304)
    expect((await land.server.get(PATH)).text).toBe(before.text)

    land.clock.set(expiresAtMs)
    expect(await confirmed()).toBe(200)
    const after = await expectRight()
    expect(after).not.toContain('42.25')
    expect(after).toContain('101.000000000000000001')
    expect((await land.server.get(PATH)).headers.get('last-modified')).toBe(
      new Date(expiresAtMs).toUTCString(),
    )
  })

  test('are the same in every compression and for every client, and HEAD has the same headers', async () => {
    await land.change({ kind: 'change-parcel', x: 1, y: 1, to: { name: 'another revision' } })
    const ask = (method: string, compression: string) =>
      land.server.ask(method, PATH, { headers: { 'accept-encoding': compression } })
    const plain = await ask('GET', 'identity')

    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const [compression, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answers = await Promise.all([ask('GET', compression), ask('GET', compression)])
      for (const { headers, bytes } of [...answers, await ask('GET', compression)]) {
        expect(headers['content-encoding']).toBe(compression)
        expect(headers.etag).toBe(plain.headers.etag!.replace(/"$/, `;${compression}"`))
        expect(headers.vary).toMatch(/accept-encoding/i)
        expect(unpack(bytes).equals(plain.bytes)).toBe(true)
      }
      const head = await ask('HEAD', compression)
      expect([head.status, head.bytes.length, head.headers.etag]).toEqual([200, 0, answers[0].headers.etag])
    }
    const head = await ask('HEAD', 'identity')
    expect([head.status, head.bytes.length, head.headers.etag]).toEqual([200, 0, plain.headers.etag])
  })

  test('are answered below /v2 only', async () => {
    for (const path of ['/offers', '/v1/offers']) await land.refusal(path, 404, 'not_found')
  })
})

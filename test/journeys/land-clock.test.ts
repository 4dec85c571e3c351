import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, bidRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { afterAll, beforeAll, expect, test } from 'vitest'

const EXPIRES_IN_MS = 60_000

describeOnOneEngine('an offer that expires', (open) => {
  let land: DemoLand
  const owner = addressOf('owner')
  const pathsAround = (corner: string) => ({
    showing: [
      '/parcels/3/3',
      '/parcels?limit=1000',
      '/parcels?status=open,sold&sort_by=price&limit=1000',
      '/parcels?limit=0',
      '/marketplace?sort_by=expires_at',
      '/map?nw=2,4&se=4,2',
      '/parcels?nw=2,4&se=4,2',
      `/addresses/${owner}/parcels`,
      `/addresses/${owner}/parcels?status=open`,
      `/bids/${addressOf('bidder')}/assets`,
      '/estates/2',
      '/estates?limit=1000',
      `/map?nw=${corner}&se=${corner}`,
      `/addresses/${owner}/estates`,
      `/addresses/${owner}/estates?status=open`,
      `/bids/${addressOf('bidder of the estate')}/assets`,
    ],
    notShowing: [
      '/parcels/3/3/publications',
      '/parcels/3/3/encodedId',
      '/parcels/3/3/bids',
      '/parcels/4/3',
      '/parcels?status=sold&limit=1000',
      '/estates/2/publications',
      '/estates?status=cancelled&limit=1000',
      `/parcels?nw=${corner}&se=${corner}`,
      `/addresses/${owner}/estates?status=sold`,
      `/addresses/${owner}/parcels?status=sold`,
      `/addresses/${addressOf('bidder')}/bids`,
      '/districts',
    ],
  })
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
    const facts = { asset_id: '3,3', expires_at_ms: land.nowMs() + EXPIRES_IN_MS }
    const sold = {
      status: 'sold',
      block_time_updated_at_ms: 1_600_000_000_000,
      block_time_created_at_ms: 1_500_000_000_000,
    } as const
    await land.change(
      { kind: 'change-parcel', x: 3, y: 3, to: { owner } },
      { kind: 'open-publication', publication: publicationRow('sold', { asset_id: '3,3', ...sold }) },
      { kind: 'open-publication', publication: publicationRow('expiring', facts) },
      { kind: 'place-bid', bid: bidRow('on it', { asset_id: '3,3' }) },
      { kind: 'change-estate', id: '2', to: { owner } },
      {
        kind: 'open-publication',
        publication: publicationRow('of an estate', { ...facts, asset_type: 'estate', asset_id: '2' }),
      },
      {
        kind: 'place-bid',
        bid: bidRow('on the estate', {
          bidder: addressOf('bidder of the estate'),
          asset_type: 'estate',
          asset_id: '2',
        }),
      },
    )
  })
  afterAll(() => land.server.close())

  test('is gone at its last millisecond, everywhere at once and nowhere else', async () => {
    const corner = land.reference.parcels.find(({ estate_id }) => estate_id === '2')!
    const paths = pathsAround(corner.id)
    const all = [...paths.showing, ...paths.notShowing]
    const read = () =>
      Promise.all(all.map(async (path) => [path, (await land.server.get(path)).text] as const))
    const tags = await Promise.all(
      all.map(async (path) => (await land.server.get(path)).headers.get('etag')!),
    )
    const confirmed = async () => {
      const ask = (path: string, i: number) => land.server.get(path, { 'if-none-match': tags[i]! })
      const answers = await Promise.all(all.map(ask))
      return all.filter((_, i) => answers[i]!.status === 304)
    }
    const expiresAtMs = land.nowMs() + EXPIRES_IN_MS
    const before = new Map(await read())
    expect(before.get('/parcels/3/3')).toContain(`"expires_at":${expiresAtMs}`)

    land.clock.set(expiresAtMs - 1)
    expect(new Map(await read())).toEqual(before)
    expect(await confirmed()).toEqual(all)

    land.clock.set(expiresAtMs)
    const after = new Map(await read())
    expect(after.get('/parcels/3/3')).toContain('"publication":null')
    const changed = all.filter((path) => after.get(path) !== before.get(path))
    expect(changed).toEqual(paths.showing)
    expect(await confirmed()).toEqual(paths.notShowing)
    await land.expectData('/map?nw=2,4&se=4,2', land.reference.map([2, 4], [4, 2], expiresAtMs))
    await land.expectData('/parcels?limit=1000', land.reference.list('parcels', { limit: 1000 }, expiresAtMs))
    const owned = land.reference.parcelsOf(owner, expiresAtMs, ['open', 'sold'])
    expect(owned).toHaveLength(1)
    await land.expectData(`/addresses/${owner}/parcels?status=open,sold`, owned)
  })

  test('gives way to the next older offer that is still open', async () => {
    const now = land.nowMs()
    const offer = (name: string, madeMs: number, endsMs: number) => ({
      kind: 'open-publication' as const,
      publication: publicationRow(name, {
        asset_id: '5,5',
        block_time_created_at_ms: now + madeMs,
        expires_at_ms: now + endsMs,
      }),
    })
    await land.change(
      offer('oldest', -4_000, 9_000),
      offer('hidden', -3_000, 2_000),
      offer('older', -2_000, 6_000),
      offer('newest', -1_000, 4_000),
    )
    const ends = async () => {
      const { publication } = await land.server.data<{ publication: { expires_at: number } | null }>(
        '/parcels/5/5',
      )
      return publication && publication.expires_at - now
    }
    const seen: [number, number | null][] = []
    for (const at of [0, 1_999, 2_000, 3_999, 4_000, 5_999, 6_000, 8_999, 9_000]) {
      land.clock.set(now + at)
      seen.push([at, await ends()])
      await land.expectData('/parcels/5/5', land.reference.parcel('5,5', now + at))
    }
    expect(seen).toEqual([
      [0, 4_000],
      [1_999, 4_000],
      [2_000, 4_000],
      [3_999, 4_000],
      [4_000, 6_000],
      [5_999, 6_000],
      [6_000, 9_000],
      [8_999, 9_000],
      [9_000, null],
    ])
  })

  test('so is a rent: tenant and end are answered until it ends, everywhere at once', async () => {
    const untilMs = land.nowMs() + EXPIRES_IN_MS
    const rent = { tenant: addressOf('tenant'), rented_until_ms: untilMs }
    await land.change(
      { kind: 'change-parcel', x: -3, y: 3, to: { owner, ...rent } },
      { kind: 'change-estate', id: '3', to: { owner, ...rent } },
      {
        kind: 'open-publication',
        publication: publicationRow('of rented land', { asset_id: '-3,3', status: 'cancelled' }),
      },
      { kind: 'place-bid', bid: bidRow('on rented land', { bidder: owner, asset_id: '-3,3' }) },
    )
    const showing = [
      '/parcels/-3/3',
      '/estates/3',
      '/map?nw=-4,4&se=-2,2',
      '/parcels?status=cancelled&limit=500',
      `/addresses/${owner}/parcels`,
      `/addresses/${owner}/parcels?status=cancelled`,
      `/addresses/${owner}/estates`,
      `/bids/${owner}/assets`,
    ]
    const tags = await Promise.all(
      showing.map(async (path) => (await land.server.get(path)).headers.get('etag')!),
    )
    const read = async (path: string, i: number) => {
      const { status, text } = await land.server.get(path, { 'if-none-match': tags[i]! })
      return [status, text.includes(`"tenant":"${rent.tenant}","rented_until":"${untilMs}"`)]
    }
    const shown = async () => Promise.all(showing.map(async (path) => (await land.server.get(path)).text))

    for (const text of await shown())
      expect(text).toContain(`"tenant":"${rent.tenant}","rented_until":"${untilMs}","publication":`)
    land.clock.set(untilMs - 1)
    expect(await Promise.all(showing.map(read))).toEqual(showing.map(() => [304, false]))

    land.clock.set(untilMs)
    expect(await Promise.all(showing.map(read))).toEqual(showing.map(() => [200, false]))
    for (const text of await shown()) expect(text).not.toContain(rent.tenant)
    await land.expectData('/parcels/-3/3', land.reference.parcel('-3,3', untilMs))
  })

  test('a client’s copy is confirmed until then, and not after', async () => {
    const now = land.nowMs()
    const expiresAtMs = now + EXPIRES_IN_MS
    const facts = { asset_id: '7,7', expires_at_ms: expiresAtMs }
    await land.change({ kind: 'open-publication', publication: publicationRow('watched', facts) })
    const ask = async (path: string, headers: Record<string, string>) =>
      (await land.server.ask('GET', path, { headers })).status
    const { headers } = await land.server.ask('GET', '/parcels/7/7')
    const byTag = { 'if-none-match': headers.etag! }
    const byDate = { 'if-modified-since': headers['last-modified']! }

    land.clock.set(expiresAtMs - 1)
    expect([await ask('/parcels/7/7', byTag), await ask('/parcels/7/7', byDate)]).toEqual([304, 304])

    land.clock.set(expiresAtMs)
    expect([await ask('/parcels/7/7', byTag), await ask('/parcels/7/7', byDate)]).toEqual([200, 200])
    const after = await land.server.ask('GET', '/parcels/7/7')
    expect(Date.parse(after.headers['last-modified']!)).toBe(Math.floor(expiresAtMs / 1000) * 1000)
  })
})

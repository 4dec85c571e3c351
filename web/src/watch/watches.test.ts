import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type LandFilter, onePlace } from '../state/land-filter.ts'

let watches: typeof import('./watches.ts')

beforeAll(async () => {
  const kept = JSON.stringify([{ filters: 'asset_type=estate&nw=3,4&se=3,4', known: [] }])
  vi.stubGlobal('localStorage', { getItem: (key: string) => (key === 'landpass.watched' ? kept : null) })
  vi.stubGlobal('navigator', { onLine: true, languages: ['en'] })
  vi.stubGlobal('window', new EventTarget())
  watches = await import('./watches.ts')
})
afterAll(() => vi.unstubAllGlobals())

test('an estate is watched by any of its parcels, and not by a parcel of its own', () => {
  const estateAt = (x: number): LandFilter => ({ asset_type: 'estate', ...onePlace({ x, y: 4 }) })

  expect(watches.findWatched([estateAt(2), estateAt(3)])).toEqual(estateAt(3))
  expect(watches.findWatched([estateAt(2), estateAt(4)])).toBeUndefined()
  expect(watches.findWatched([onePlace({ x: 3, y: 4 })])).toBeUndefined()
})

describe('several pages', () => {
  /** A page of a browser with this storage. */
  async function openPage(storage: Map<string, string>) {
    vi.resetModules()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, value: string) => storage.set(key, value),
      removeItem: (key: string) => storage.delete(key),
    })
    const page = await import('./watches.ts')
    return { ...page, shown: () => page.watches.value.map(({ filters }) => filters) }
  }
  /** The browser tells pages that others of its pages have stored something. */
  const tell = () => window.dispatchEvent(Object.assign(new Event('storage'), { key: 'landpass.watched' }))
  const json = (status: number, body: object) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  const [one, other] = [onePlace({ x: 1, y: 1 }), onePlace({ x: 2, y: 2 })]

  test('keep what the others watch', async () => {
    vi.stubGlobal('fetch', () => new Promise(() => undefined))
    const storage = new Map<string, string>()
    const stored = () => JSON.parse(storage.get('landpass.watched') ?? '[]') as { filters: string }[]
    const [first, second] = [await openPage(storage), await openPage(storage)]
    first.watch(one)
    second.watch(other)
    expect(stored()).toHaveLength(2)
    const [{ filters }] = stored() as [{ filters: string }]
    first.markSeen(filters)
    expect(stored()).toHaveLength(2)
    second.unwatch(filters)
    expect(stored()).toHaveLength(1)

    tell()
    expect(first.shown()).toEqual(second.shown())
    const [{ filters: last }] = stored() as [{ filters: string }]
    second.unwatch(last)
    first.markSeen(last)
    expect(stored()).toEqual([])
    expect(first.shown()).toEqual([])
  })

  test('show a watch of another page, and follow it, where it is asked for again', async () => {
    const fetched = vi.fn(() => new Promise(() => undefined))
    vi.stubGlobal('fetch', fetched)
    const storage = new Map<string, string>()
    const [first, second] = [await openPage(storage), await openPage(storage)]
    first.watch(one)
    second.watch(one)
    expect(second.shown()).toEqual(first.shown())
    await expect.poll(() => fetched.mock.calls.length).toBe(2)
  })

  test('know what the others have seen, and what only they have found', async () => {
    const row = (id: string) => ({
      asset_type: 'parcel',
      asset_id: id,
      offer: { listed_at: 5 },
      rental_offer: null,
    })
    let land = [row('1,1')]
    vi.stubGlobal('fetch', async (url: string) =>
      url.startsWith('/v2/changes') ? new Promise(() => undefined) : json(200, { ok: true, data: { land } }),
    )
    const storage = new Map([['landpass.watched', JSON.stringify([{ filters: 'nw=1,1&se=1,1', known: [] }])]])
    const newsOf = ({ watches }: Awaited<ReturnType<typeof openPage>>) =>
      watches.value.flatMap(({ news }) => news.map(({ asset_id }) => asset_id))
    const first = await openPage(storage)
    first.startWatching()
    await expect.poll(() => newsOf(first)).toEqual(['1,1'])
    land = [row('1,1'), row('2,2')]
    const second = await openPage(storage)
    second.startWatching()
    await expect.poll(() => newsOf(second)).toEqual(['1,1', '2,2'])

    first.markSeen('nw=1,1&se=1,1')
    tell()
    expect([newsOf(first), newsOf(second)]).toEqual([[], ['2,2']])
  })

  test('read again after a failure, until the server refuses the search', async () => {
    vi.useFakeTimers()
    const asked: string[] = []
    const away = { ok: false, error: 'Away.', code: 'database_unavailable', data: {} }
    vi.stubGlobal('fetch', async (url: string) => {
      asked.push(url.split('?')[0]!)
      if (asked.length <= 2) return json(503, away)
      if (url.startsWith('/v2/changes')) return json(400, { ...away, code: 'bad_request' })
      return json(200, { ok: true, data: { land: [], total: 0 } })
    })
    const storage = new Map<string, string>()
    const page = await openPage(storage)
    page.watch(one)
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()

    expect(asked.slice(0, 3)).toEqual(['/v2/land', '/v2/land', '/v2/land'])
    expect(asked).toHaveLength(4)
    expect(JSON.parse(storage.get('landpass.watched')!)).toMatchObject([{ known: [] }])
  })
})

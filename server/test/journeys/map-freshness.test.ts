import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoLand, startDemoLand } from '../support/demo-land.ts'
import { describeOnOneEngine } from '../support/engines.ts'
import { publicationRow } from '../support/land-rows.ts'
import { pictureAt, pictureFigures } from '../support/pictures.ts'

const ROUTES = [
  '/map.png',
  '/parcels/1/2/map.png',
  '/parcels/1,2/map.png',
  '/estates/2/map.png',
  '/tiles/2/1/1.png',
] as const

describeOnOneEngine('pictures and their copies', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
  })
  afterAll(() => land.server.close())

  const figures = () => pictureFigures(land.server)
  /** How many pictures were drawn for some requests, one after the other. */
  const drawnFor = async (paths: readonly string[]) => {
    const before = await figures()
    for (const path of paths) await pictureAt(land.server, path)
    const after = await figures()
    expect(after.hits - before.hits + after.drawn - before.drawn).toBe(paths.length)
    return after.drawn - before.drawn
  }
  let changes = 0
  /** Another name each time: what changes nothing makes no revision. */
  const change = () =>
    land.change({ kind: 'change-parcel', x: 9, y: 9, to: { name: `far away ${changes++}` } })

  test('a copy that is still right is confirmed before anything is drawn', async () => {
    for (const path of ROUTES) {
      for (const query of ['', '?publications=true']) {
        await change() // so that nothing is kept
        const { headers } = await land.server.ask('HEAD', `${path}${query}`)
        await change()
        const fresh = (await land.server.ask('HEAD', '/map.png?publications=true')).headers
        const plain = (await land.server.ask('HEAD', '/map.png')).headers
        const tag = query ? fresh.etag! : plain.etag!
        const { drawn } = await figures()
        for (const known of [tag, `W/${tag}`, '*', `"x", ${tag}`]) {
          const answer = await land.server.ask('GET', `${path}${query}`, {
            headers: { 'if-none-match': known },
          })
          expect([answer.status, answer.bytes.length, answer.headers.etag], path).toEqual([304, 0, tag])
        }
        const since = { 'if-modified-since': plain['last-modified']! }
        if (!query) expect((await land.server.ask('GET', path, { headers: since })).status).toBe(304)
        expect((await figures()).drawn).toBe(drawn)
        // A copy of another revision is no right one
        const old = await land.server.ask('GET', `${path}${query}`, {
          headers: { 'if-none-match': headers.etag! },
        })
        expect([old.status, old.headers['content-type']]).toEqual([200, 'image/png'])
      }
    }
  })

  test('the first answer and those from memory are the same, HEAD included', async () => {
    await change()
    for (const path of ROUTES) {
      const [first, again] = [await land.server.ask('GET', path), await land.server.ask('GET', path)]
      const heads = [await land.server.ask('HEAD', path), await land.server.ask('HEAD', `${path}?colour=red`)]
      expect(again.bytes.equals(first.bytes), path).toBe(true)
      for (const { status, headers, bytes } of [again, ...heads]) {
        const same = { date: first.headers.date, 'x-request-id': first.headers['x-request-id'] }
        expect(withoutBudget({ ...headers, ...same }), path).toEqual(withoutBudget(first.headers))
        expect([status, bytes.length]).toEqual([200, bytes === again.bytes ? again.bytes.length : 0])
      }
      expect(first.headers).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, no-cache',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^"[\w.-]+"$/),
        'last-modified': new Date(land.nowMs()).toUTCString(),
      })
    }
  })

  test('a request from memory has its own id, or the caller’s', async () => {
    await pictureAt(land.server, '/map.png')
    const idFor = async (id?: string) =>
      (await land.server.ask('GET', '/map.png', id === undefined ? {} : { headers: { 'x-request-id': id } }))
        .headers['x-request-id']
    expect(await idFor('mine')).toBe('mine')
    expect(await idFor('no "sane" id')).toMatch(/^[\w-]{10,30}$/)
    expect(await idFor()).not.toBe(await idFor())
  })

  test('addresses of the same image share one cached image', async () => {
    await change()
    expect(
      await drawnFor([
        '/map.png',
        '/map.png',
        '/v1/map.png',
        '/map.png?width=500&height=500&size=10&center=0,0&publications=false&on-sale=false&theme=dark',
        '/map.png?theme=dark&size=10',
        '/map.png?selected=',
        '/map.png?colour=red&colour=blue',
        '/map.png/',
      ]),
    ).toBe(1)
    expect(
      await drawnFor([
        '/parcels/1/2/map.png',
        '/v1/parcels/1,2/map.png',
        '/map.png?center=1,2&selected=1,2',
        '/map.png?center=1%2C2&selected=1%2C2%3B1%2C2',
      ]),
    ).toBe(1)
    expect(
      await drawnFor([
        '/map.png?on-sale=true',
        '/map.png?publications=true',
        '/v1/map.png?publications=true&on-sale=false',
      ]),
    ).toBe(1)
    expect(
      await drawnFor([
        '/map.png?theme=light',
        '/map.png?size=11',
        '/map.png?center=1,0',
        '/map.png?selected=0,0',
      ]),
    ).toBe(4)
  })

  test('a thousand addresses of the same image do not make the cache grow', async () => {
    await change()
    await pictureAt(land.server, '/map.png')
    const before = await figures()

    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        land.server.ask('HEAD', `/map.png?n=${i}&${'x'.repeat(i % 700)}=1`),
      ),
    )

    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(await figures()).toEqual({ ...before, hits: before.hits + 1000 })
  })

  test('images of another revision are dropped', async () => {
    await change()
    await drawnFor(['/map.png', '/map.png?size=11', '/tiles/0/0/0.png'])
    expect((await figures()).entries).toBe(3)

    await change()

    expect(await drawnFor(['/map.png?size=12'])).toBe(1)
    const { entries, bytes } = await figures()
    expect(entries).toBe(1)
    expect(bytes).toBeGreaterThan(100)
    expect(await drawnFor(['/map.png', '/map.png?size=11'])).toBe(2)
  })

  test('what is on sale changes when an offer expires, and only for those who see it', async () => {
    const expiresAtMs = land.nowMs() + 60_000
    const facts = { asset_id: '0,0', expires_at_ms: expiresAtMs, block_time_created_at_ms: land.nowMs() }
    // Until then nothing else is for sale there
    await land.change(
      { kind: 'change-parcel', x: 0, y: 0, to: { estate_id: null, estate_position: null } },
      { kind: 'open-publication', publication: publicationRow('a short offer', facts) },
    )
    const read = async (path: string) => {
      const { headers, bytes } = await land.server.ask('GET', path)
      return { tag: headers.etag!, modified: headers['last-modified'], bytes }
    }
    const paths = ['/map.png', '/map.png?publications=true', '/tiles/3/4/3.png?on-sale=true'] as const
    const open = await Promise.all(paths.map(read))
    land.clock.set(expiresAtMs)
    const expired = await Promise.all(paths.map(read))

    expect(expired[0]).toEqual(open[0])
    for (const i of [1, 2]) {
      expect(expired[i]!.tag).not.toBe(open[i]!.tag)
      expect(expired[i]!.modified).toBe(new Date(expiresAtMs).toUTCString())
      expect(expired[i]!.bytes.equals(open[i]!.bytes)).toBe(false)
      const stale = await land.server.ask('GET', paths[i]!, { headers: { 'if-none-match': open[i]!.tag } })
      expect(stale.status).toBe(200)
    }
    expect(await drawnFor(paths)).toBe(0)
  })
})

/** Answers from memory do not say what is left of the budget: docs/http.md. */
function withoutBudget(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const {
    'ratelimit-limit': _limit,
    'ratelimit-remaining': _left,
    'ratelimit-reset': _reset,
    ...others
  } = headers
  return others
}

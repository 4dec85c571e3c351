import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { lastingHeaders } from '@landpass/server/test/support/http/same-answers'
import { pictureAt, pictureFigures } from '@landpass/server/test/support/images/pictures'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { afterAll, beforeAll, expect, test } from 'vitest'

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
    await repaint()
  })
  afterAll(() => land.server.close())

  const figures = () => pictureFigures(land.server)
  /** How many pictures were drawn for some requests, one after the other. */
  const drawnFor = async (paths: readonly string[]) => {
    const before = await figures()
    for (const path of paths) await pictureAt(land.server, path)
    return (await figures()).drawn - before.drawn
  }
  let names = 0
  /** Changes what no picture shows. Another name each time: what changes nothing makes no revision. */
  const rename = () => land.change({ kind: 'change-parcel', x: 9, y: 9, to: { name: `a name ${names++}` } })
  let repaints = 0
  /** Changes parcels that every picture of these tests shows, 1,2 each time; none looks as it did before. */
  const repaint = () => {
    repaints += 1
    const facts = { district_id: null, estate_id: null, estate_position: null }
    return land.change(
      ...[1, 2, 0, 3, -1, 4].map((x, bit) => {
        const owner = repaints & (1 << bit) ? addressOf('an owner') : null
        return { kind: 'change-parcel' as const, x, y: 2, to: { ...facts, owner } }
      }),
    )
  }
  const tagAt = async (path: string) => (await land.server.ask('HEAD', path)).headers.etag!

  test('a copy that is still right is confirmed before anything is drawn', async () => {
    for (const path of ROUTES) {
      for (const query of ['', '?publications=true']) {
        const old = await tagAt(`${path}${query}`)
        await repaint()
        const tag = await tagAt(`${path}${query}`)
        expect(tag, path).not.toBe(old)
        await rename()
        const { drawn } = await figures()
        for (const known of [tag, `W/${tag}`, '*', `"x", ${tag}`]) {
          const answer = await land.server.ask('GET', `${path}${query}`, {
            headers: { 'if-none-match': known },
          })
          expect([answer.status, answer.bytes.length, answer.headers.etag], path).toEqual([304, 0, tag])
        }
        const since = { 'if-modified-since': new Date(land.nowMs()).toUTCString() }
        if (!query) expect((await land.server.ask('GET', path, { headers: since })).status).toBe(304)
        expect((await figures()).drawn).toBe(drawn)
        // A copy that looks otherwise is no right one
        const stale = await land.server.ask('GET', `${path}${query}`, { headers: { 'if-none-match': old } })
        expect([stale.status, stale.headers['content-type']]).toEqual([200, 'image/png'])
      }
    }
  })

  test('a change of a name changes no picture: none is drawn or sent again', async () => {
    const paths = [
      ...ROUTES,
      '/minimap.png',
      '/estatemap.png',
      '/v2/map.png?on-sale=true',
      '/v2/estates/2/map.png',
    ]
    for (let z = 0; z <= 2; z++)
      for (let x = 0; x < 2 ** z; x++)
        for (let y = 0; y < 2 ** z; y++) paths.push(`/tiles/${z}/${x}/${y}.png`)
    const before = await Promise.all(paths.map(tagAt))

    await rename()

    expect(await drawnFor(paths)).toBe(0)
    for (const [i, path] of paths.entries()) {
      const again = await land.server.ask('GET', path, { headers: { 'if-none-match': before[i]! } })
      expect(again.status, path).toBe(304)
    }
  })

  test('a change of one parcel changes the pictures that show it, and no others', async () => {
    const showing = [
      '/map.png',
      '/v2/map.png',
      '/parcels/1/2/map.png',
      '/tiles/3/4/3.png',
      '/tiles/0/0/0.png',
      '/minimap.png',
    ]
    const others = ['/parcels/-9/-9/map.png?width=32&height=32', '/map.png?center=200,0', '/tiles/3/0/0.png']
    const before = new Map(
      await Promise.all([...showing, ...others].map(async (path) => [path, await tagAt(path)] as const)),
    )

    await repaint()

    for (const path of showing) expect(await tagAt(path), path).not.toBe(before.get(path))
    for (const path of others) expect(await tagAt(path), path).toBe(before.get(path))
    expect(await drawnFor(others)).toBe(0)
  })

  test('a parcel that moves to another estate changes its estate’s picture and the map of estates', async () => {
    const paths = ['/estates/2/map.png', '/v2/estates/2/map.png', '/estatemap.png']
    const before = await Promise.all(paths.map(tagAt))
    const member = land.reference.parcels.find(({ estate_id }) => estate_id === '2')!
    const to = { estate_id: null, estate_position: null }

    await land.change({ kind: 'change-parcel', x: member.x, y: member.y, to })

    for (const [i, path] of paths.entries()) expect(await tagAt(path), path).not.toBe(before[i])
  })

  test('the first answer and those from memory are the same, HEAD included', async () => {
    for (const path of [...ROUTES, '/v2/map.png?size=1', '/minimap.png', '/v1/estatemap.png']) {
      await repaint()
      const [first, again] = [await land.server.ask('GET', path), await land.server.ask('GET', path)]
      const heads = [
        await land.server.ask('HEAD', path),
        await land.server.ask('HEAD', `${path}${path.includes('?') ? '&' : '?'}colour=red`),
      ]
      expect(again.bytes.equals(first.bytes), path).toBe(true)
      for (const { status, headers, bytes } of [again, ...heads]) {
        expect(lastingHeaders(headers), path).toEqual(lastingHeaders(first.headers))
        expect([status, bytes.length]).toEqual([200, bytes === again.bytes ? again.bytes.length : 0])
      }
      expect(first.headers).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=120, stale-while-revalidate=180',
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
    await repaint()
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

  test('an image is drawn once, and counted once more when it is held for those who ask again', async () => {
    await repaint()
    const before = await figures()
    for (let i = 0; i < 5; i++) await pictureAt(land.server, '/map.png')
    const { hits, drawn } = await figures()
    expect([drawn - before.drawn, hits - before.hits]).toEqual([1, 1])
  })

  test('a thousand addresses of the same image do not make the cache grow', async () => {
    await repaint()
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

  test('images that a change did not touch are kept, the others are drawn again in their place', async () => {
    const [far, near] = ['/map.png?center=300,0', '/map.png']
    await repaint()
    await drawnFor([far, near])
    const before = await figures()

    await repaint()

    expect([await drawnFor([far]), await drawnFor([near]), await drawnFor([near])]).toEqual([0, 1, 0])
    expect((await figures()).entries).toBe(before.entries)
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

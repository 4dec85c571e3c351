import { once } from 'node:events'
import { readFeed } from '@landpass/client/feed'
import { SECOND_MS } from '@landpass/server/clock'
import { errorsOf, openSockets, restOf, startReading } from '@landpass/server/test/support/http/slow-reading'
import { fullDemo } from '@landpass/server/test/support/land/demo-snapshots'
import { eventually, type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { beforeAll, describe, expect, test } from 'vitest'

const PARCELS = 301 * 301
const GEOJSON = '/v2/export/parcels.geojson'
const NDJSON = '/v2/export/parcels.ndjson'
/** They have 35 and 18 MB: a server that holds them, or half of them, for twelve clients needs far more than this. */
const GROWTH_BOUND_MB = 120
const READERS = 12
/** What the feed of the real world may have, with its owners: addresses are half of it, and cannot be made smaller. */
const FEED_BOUND_BYTES = 250_000
const REAL_OWNERS = 5_000
const ADDRESS_BYTES = 20
const SOON_MS = 10 * SECOND_MS

let server: Serving

beforeAll(async () => {
  server = await serve({ ...(await fullDemo()), LOG_LEVEL: 'info' })
})

describe('the whole world as a file', () => {
  test('is GeoJSON with every parcel once, by x, then from north to south', async () => {
    const { features } = (await (await fetch(server.origin + GEOJSON)).json()) as {
      features: readonly { id: string }[]
    }

    expectAllPlaces(features.map(({ id }) => id))
  })

  test('is lines of JSON, one for each parcel', async () => {
    const text = await (await fetch(server.origin + NDJSON)).text()
    const lines = text.split('\n')

    expect(lines.pop()).toBe('')
    expectAllPlaces(lines.map((line) => (JSON.parse(line) as { id: string }).id))
  })

  function expectAllPlaces(ids: readonly string[]): void {
    expect(ids).toHaveLength(PARCELS)
    for (const [i, id] of ids.entries()) {
      const place = `${-150 + Math.floor(i / 301)},${150 - (i % 301)}`
      if (id !== place) expect.fail(`${id} stands where ${place} belongs`)
    }
  }

  test.runIf(process.platform === 'linux')(
    'needs little memory for many clients, in every compression, if they read slowly or stop half-way',
    async () => {
      const sizes = await Promise.all([GEOJSON, NDJSON].map((path) => sizeOf(path)))
      const idle = openSockets(server)
      const before = memoryMb(server.child.pid, 'VmRSS')
      let highest = before
      const measure = () => {
        highest = Math.max(highest, memoryMb(server.child.pid, 'VmRSS'))
      }

      const slow = await startReading(server.origin + GEOJSON)
      const half = await startReading(server.origin + NDJSON)
      const leave = once(half, 'close')
      half.destroy()
      await leave
      const readers = Array.from({ length: READERS }, (_, i) => sizeOf([GEOJSON, NDJSON][i % 2]!, measure))
      await Promise.all(['gzip', 'br'].map((compression) => sizeOf(GEOJSON, measure, compression)))
      expect(await Promise.all(readers)).toEqual(readers.map((_, i) => sizes[i % 2]))

      expect(highest - before).toBeLessThan(GROWTH_BOUND_MB)
      expect(slow.complete).toBe(false)
      expect(await restOf(slow)).toBe(sizes[0])
      await eventually(
        () => openSockets(server),
        (open) => open <= idle,
        SOON_MS,
      )
      expect(errorsOf(server)).toEqual([])
    },
  )

  test('yields to the event loop while a fast client reads it', async () => {
    let isRead = false
    const reading = sizeOf(GEOJSON).finally(() => {
      isRead = true
    })
    let answered = 0
    while (!isRead) {
      await (await fetch(`${server.origin}/parcels/0/0`)).arrayBuffer()
      answered++
    }
    await reading

    // A server that makes it without yielding answers one of them at most: before, or after.
    expect(answered).toBeGreaterThan(10)
  })
})

describe('the feed of the whole world', () => {
  test('is small with every compression', async () => {
    const plain = await (await fetch(`${server.origin}/v2/feed`)).arrayBuffer()
    const { cells, owners, estates } = readFeed(new Uint8Array(plain))

    expect(cells).toHaveLength(PARCELS)
    expect(owners.length).toBeGreaterThan(2_000)
    expect(estates.length).toBeGreaterThan(200)
    for (const compression of ['gzip', 'br']) {
      const bytes = await sizeOf('/v2/feed', undefined, compression)
      const missing = ADDRESS_BYTES * (REAL_OWNERS - owners.length)
      expect(bytes + missing, `${bytes} bytes in ${compression}`).toBeLessThan(FEED_BOUND_BYTES)
    }
  })
})

async function sizeOf(path: string, onData = () => {}, compression = 'identity'): Promise<number> {
  return restOf(await startReading(server.origin + path, { 'accept-encoding': compression }), onData)
}

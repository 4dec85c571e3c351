import { once } from 'node:events'
import { DAY_MS, SECOND_MS } from '@landpass/server/clock'
import { openEngine } from '@landpass/server/db/open-engine'
import { emptyDir, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import { errorsOf, openSockets, restOf, startReading } from '@landpass/server/test/support/http/slow-reading'
import { changedDemoDatabaseUrl } from '@landpass/server/test/support/land/demo-snapshots'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import { assetsOf, type Query, referencePage } from '@landpass/server/test/support/land/reference-finder'
import { ReferenceLand } from '@landpass/server/test/support/land/reference-land'
import { SomeChanges } from '@landpass/server/test/support/land/some-changes'
import { eventually, type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { expectSame } from '@landpass/server/test/support/run/expect-same'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { beforeAll, describe, expect, test } from 'vitest'

const PARCELS = 301 * 301
const SORTS = [
  ...['price', 'price_per_parcel', 'rent', 'size', 'plaza', 'road', 'name'],
  ...['expires_at', 'listed_at', 'sold_at', 'distance'],
]
const WHOLE_WORLD = '/v1/map?nw=-150,150&se=150,-150'
/** The answer has 38 MB. A server that holds it, or a part of it for each client, needs far more than this. */
const GROWTH_BOUND_MB = 60
const READERS = 6
const SOON_MS = 10 * SECOND_MS

const CHANGED_ROWS = 300

let server: Serving
let databaseUrl: string
/** Who owns each parcel that is in no estate: read by the first test. */
let owners: readonly (string | null)[]

beforeAll(async () => {
  databaseUrl = await changedDemoDatabaseUrl()
  server = await serve({ DATA_DIR: emptyDir(), DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' })
})

describe('the map of the whole world', () => {
  test('is valid JSON with every parcel once, by x, then from north to south', async () => {
    const response = await fetch(server.origin + WHOLE_WORLD)
    const { ok, data } = (await response.json()) as WholeMap

    expect(response.status).toBe(200)
    expect(ok).toBe(true)
    expect(data.assets.parcels).toHaveLength(PARCELS)
    expect(data.total).toBe(PARCELS + data.assets.estates.length)
    for (const [i, { x, y }] of data.assets.parcels.entries()) {
      const place = { x: -150 + Math.floor(i / 301), y: 150 - (i % 301) }
      if (x !== place.x || y !== place.y) expect.fail(`${x},${y} stands where ${place.x},${place.y} belongs`)
    }
    owners = data.assets.parcels.filter(({ in_estate }) => !in_estate).map(({ owner }) => owner)
  })

  test('leaves time for other requests while all rights of an address with tens of thousands of parcels are read', async () => {
    const countOf = new Map<string | null, number>()
    for (const owner of owners) countOf.set(owner, (countOf.get(owner) ?? 0) + 1)
    countOf.delete(null)
    const [[largest, owned] = ['', 0]] = [...countOf].sort((a, b) => b[1] - a[1])
    const ends: string[] = []

    const rights = fetch(`${server.origin}/v2/addresses/${largest}/rights`).then(async (response) => {
      const answer = (await response.json()) as { data: Record<'owns' | 'may_update', object[]> }
      ends.push('rights')
      return answer.data
    })
    await (await fetch(`${server.origin}/v1/parcels/0/0`)).text()
    ends.push('parcel')

    const { owns, may_update } = await rights
    expect(ends).toEqual(['parcel', 'rights'])
    expect(owned).toBeGreaterThan(10_000)
    expect(owns.length).toBeGreaterThanOrEqual(owned)
    expect(may_update).toEqual(owns)
  })

  test('is searched by all filters and orders as a slow reference searches it, after it has changed', async () => {
    const reference = new ReferenceLand(demoWorld(1))
    const nowMs = Date.now()
    const changes = new SomeChanges({ reference, nowMs: () => nowMs })
    const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl, poolSize: 1 })
    const events = await EventReader.open(`${server.origin}/v2/changes`)
    const [estate] = reference.estates
    const filters: Query[] = [
      { status: 'open', max_price: '20000', asset_type: 'parcel' },
      { min_price_per_parcel: '1000.5', currency: 'mana', source: 'order,trade' },
      { min_size: '2', max_width: '6', min_height: '2' },
      // 0 is a value
      { min_plaza: '0', max_plaza: '0' },
      { max_road: '0', inside_estates: 'true' },
      { nw: '-150,150', se: '-20,31', status: 'sold,none' },
      { center: '17,-40', radius: '40.5', q: 'a' },
      {
        district: reference.parcels.find(({ district_id }) => district_id)!.district_id!,
        inside_estates: 'true',
      },
      { neighbours_of: `estate:${estate!.id}`, inside_estates: 'true' },
      { owner: estate!.owner, status: 'never_sold,open' },
      { may_update: estate!.owner, listed_since: '1' },
      { sold_since: String(nowMs - 400 * DAY_MS) },
      { ends_before: String(nowMs + 30 * DAY_MS) },
      { inside_estates: 'true' },
    ]
    const get = async (parameters: Record<string, string>) => {
      const query = new URLSearchParams(parameters)
      const response = await fetch(`${server.origin}/v2/land?${query}`)
      expect(response.status, String(query)).toBe(200)
      return ((await response.json()) as { data: LandPage }).data
    }
    const sorted = (filter: Query, sort_by: string, sort_order: 'asc' | 'desc') => ({
      ...{ ...filter, sort_by, sort_order },
      ...(sort_by === 'distance' && { center: '17,-40' }),
    })
    /** Compares the first two pages. @returns how many assets match */
    const compare = async (filter: Query, sort_by: string, sort_order: 'asc' | 'desc') => {
      const query = sorted(filter, sort_by, sort_order)
      const { rows, facets } = referencePage(assets, query)
      const first = await get({ ...query, limit: '40', facets: Object.keys(facets).join() })
      const second = first.cursor === null ? { land: [] } : await get({ cursor: first.cursor, limit: '40' })

      expectSame([...first.land, ...second.land], rows.slice(0, 80), JSON.stringify(query))
      expectSame(first.facets, facets, JSON.stringify(query))
      expect(first.total).toBe(rows.length)
      return rows.length
    }
    // What the server knows of each order by now is brought up to date with the change
    for (const sort of SORTS) await get(sorted({ status: 'open' }, sort, 'asc'))
    expect((await events.next()).kind).toBe('hello')
    const some = changes.some(CHANGED_ROWS)
    const revision = await applyLandChanges(engine.db, some, nowMs)
    for (const one of some) reference.apply(one)
    expect((await events.next()).data).toMatchObject({ revision })
    let assets = assetsOf(reference, nowMs)

    let matched = 0
    for (const [i, filter] of filters.entries()) {
      matched += await compare(filter, SORTS[i % SORTS.length]!, i % 2 === 0 ? 'asc' : 'desc')
    }
    // More assets than are looked at together
    assets = assets.filter(({ row }) => row.offer !== null)
    for (const sort of SORTS)
      for (const order of ['asc', 'desc'] as const)
        expect(await compare({ status: 'open' }, sort, order)).toBeGreaterThan(1_024)
    expect(matched).toBeGreaterThan(PARCELS)
    events.close()
    await engine.close()
  })

  test.runIf(process.platform === 'linux')(
    'costs little memory, however many read it, slowly or only by half',
    async () => {
      const whole = await sizeOf(WHOLE_WORLD)
      const idle = openSockets(server)
      const before = memoryMb(server.child.pid, 'VmRSS')
      let highest = before
      const measure = () => {
        highest = Math.max(highest, memoryMb(server.child.pid, 'VmRSS'))
      }

      const slow = await startReading(server.origin + WHOLE_WORLD)
      const half = await startReading(server.origin + WHOLE_WORLD)
      const leave = once(half, 'close')
      half.destroy()
      await leave
      const sizes = await Promise.all(Array.from({ length: READERS }, () => sizeOf(WHOLE_WORLD, measure)))
      expect(sizes).toEqual(sizes.map(() => whole))

      expect(highest - before).toBeLessThan(GROWTH_BOUND_MB)
      expect(slow.complete).toBe(false)
      expect(await restOf(slow)).toBe(whole)
      expect(slow.complete).toBe(true)
      await eventually(
        () => openSockets(server),
        (open) => open <= idle,
        SOON_MS,
      )
      expect(errorsOf(server)).toEqual([])
    },
  )

  test('is completed for current clients when the server stops, and refused to new ones', async () => {
    const whole = await sizeOf(WHOLE_WORLD)
    const reading = await startReading(server.origin + WHOLE_WORLD)

    server.child.kill('SIGINT')
    await eventually(
      () => isRefused(server.origin),
      (refused) => refused,
      SOON_MS,
    )
    expect(server.child.exitCode).toBe(null)

    expect(await restOf(reading)).toBe(whole)
    expect((await server.ended).code).toBe(0)
    expect(errorsOf(server)).toEqual([])
  })
})

interface LandPage {
  readonly land: readonly object[]
  readonly facets: object
  readonly total: number
  readonly cursor: string | null
}

interface WholeMap {
  readonly ok: boolean
  readonly data: {
    readonly assets: {
      readonly parcels: readonly {
        readonly x: number
        readonly y: number
        readonly owner: string | null
        readonly in_estate: boolean
      }[]
      readonly estates: readonly unknown[]
    }
    readonly total: number
  }
}

async function sizeOf(path: string, onData = () => {}): Promise<number> {
  return restOf(await startReading(server.origin + path), onData)
}

async function isRefused(origin: string): Promise<boolean> {
  try {
    await (await fetch(`${origin}/health/live`, { headers: { connection: 'close' } })).arrayBuffer()
    return false
  } catch {
    return true
  }
}

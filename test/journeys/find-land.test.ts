import { describeOnOneEngine, freshEngine } from '@landpass/server/test/support/database/engines'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import { testClock } from '@landpass/server/test/support/http/land-server'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { estateRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import {
  type Asset,
  assetsOf,
  type Query,
  referenceLand,
  referencePage,
} from '@landpass/server/test/support/land/reference-finder'
import { OPERATOR, rowOf, SELLER, SomeChanges } from '@landpass/server/test/support/land/some-changes'
import { startTinyLand } from '@landpass/server/test/support/land/tiny-land'
import { tinyRecords } from '@landpass/server/test/support/land/tiny-world'
import { expectSame } from '@landpass/server/test/support/run/expect-same'
import { runs } from '@landpass/server/test/support/run/property-seed'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

const RADIUS = 10
const SORTS = [
  ...['price', 'price_per_parcel', 'rent', 'size', 'plaza', 'road', 'name', 'expires_at'],
  ...['listed_at', 'sold_at', 'distance'],
]
const FACETS = 'price,price_per_parcel,size,plaza,road,district,asset_type'
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const NO_LIMITS = { CHANGE_STREAMS_PER_CLIENT: '0', CONNECTIONS_PER_CLIENT: '0', READ_COST_PER_MINUTE: '0' }

interface Page {
  readonly land: readonly { readonly asset_type: string; readonly asset_id: string }[]
  readonly total: number
  readonly limit: number
  readonly cursor: string | null
  readonly facets?: object
}

const nameOf = ({ asset_type, asset_id }: Page['land'][number]) =>
  asset_type === 'estate' ? `estate:${asset_id}` : asset_id

describe('a world without estates', () => {
  const open = freshEngine('postgres')

  test('is searched for words to its end', async () => {
    const records = { ...tinyRecords(), estates: [], publications: [], bids: [], mortgages: [] }
    const parcels = records.parcels.map((parcel) => ({ ...parcel, owner: null, estate_id: null }))
    const { server } = await startTinyLand(await open(), testClock(), { records: { ...records, parcels } })
    onTestFinished(() => server.close())

    expect(await server.data<Page>('/v2/land?q=mark')).toMatchObject({ total: 1 })
    expect(await server.data<Page>('/v2/land?q=nowhere')).toMatchObject({ total: 0 })
  })
})

describeOnOneEngine('finding land', (open) => {
  let land: DemoLand
  let changes: SomeChanges
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS, env: NO_LIMITS })
    changes = new SomeChanges(land)
    await land.change(...Array.from({ length: 60 }, () => someChange()))
  })
  afterAll(() => land.server.close())

  const someChange = () => changes.one()
  const someChanges = (count: number) => changes.some(count)

  const pathOf = (query: Query) => `/v2/land?${new URLSearchParams(query as Record<string, string>)}`
  const page = (query: Query) => land.server.data<Page>(pathOf(query))

  const whole = (max: number) => fc.nat({ max }).map(String)
  const place = fc.tuple(fc.integer({ min: -12, max: 12 }), fc.integer({ min: -12, max: 12 })).map(String)
  const mana = fc.constantFrom(
    '0',
    '5',
    '5.000000000000000001',
    '7.5',
    '1000',
    '9007199254740992.9',
    '4503599627370496.5',
  )
  const days = fc.integer({ min: -4, max: 4 }).map((count) => String(land.nowMs() + count * DAY_MS))
  const range = (name: string, value: fc.Arbitrary<string>, compare: (a: string, b: string) => number) =>
    fc
      .tuple(fc.option(value), fc.option(value))
      .filter(([min, max]) => min === null || max === null || compare(min, max) <= 0)
      .map(([min, max]) => ({ ...(min && { [`min_${name}`]: min }), ...(max && { [`max_${name}`]: max }) }))
  const byNumber = (a: string, b: string) => Number(a) - Number(b)
  const filters: readonly fc.Arbitrary<Query>[] = [
    fc.constantFrom('parcel', 'estate', 'parcel,estate').map((asset_type) => ({ asset_type })),
    fc.constant({ inside_estates: 'true' }),
    fc
      .subarray(['open', 'sold', 'never_sold', 'none', 'rented', 'for_rent'], { minLength: 1 })
      .map((some) => ({
        status: String(some),
      })),
    range('price', mana, byNumber),
    range('price_per_parcel', mana, byNumber),
    fc.constantFrom(
      { currency: 'mana' },
      { currency: 'usd' },
      { source: 'order,trade' },
      { source: 'auction' },
    ),
    range('size', whole(12), byNumber),
    range('width', whole(5), byNumber),
    range('height', whole(5), byNumber),
    range('plaza', whole(9), byNumber),
    range('road', whole(4), byNumber),
    fc
      .tuple(place, place)
      .map(([a, b]) => [a.split(',').map(Number), b.split(',').map(Number)] as const)
      .map(([[x = 0, y = 0], [otherX = 0, otherY = 0]]) => ({
        nw: `${Math.min(x, otherX)},${Math.max(y, otherY)}`,
        se: `${Math.max(x, otherX)},${Math.min(y, otherY)}`,
      })),
    fc
      .tuple(place, fc.constantFrom('0', '1.5', '3', '5', '20', '40'))
      .map(([center, radius]) => ({ center, radius })),
    fc.nat({ max: 1000 }).map((at) => {
      const known = land.reference.parcels.flatMap(({ district_id }) => district_id ?? [])
      return { district: known[at % known.length]! }
    }),
    fc.nat({ max: 1000 }).map((at) => {
      const parcel = land.reference.parcels[at % land.reference.parcels.length]!
      const isEstate = at % 2 === 0 && parcel.estate_id !== null
      return { neighbours_of: isEstate ? `estate:${parcel.estate_id}` : parcel.id }
    }),
    fc.constantFrom('owner', 'may_update').chain((name) =>
      fc.nat({ max: 1000 }).map((at) => {
        const owners = [SELLER, OPERATOR, ...land.reference.estates.map(({ owner }) => owner)]
        return { [name]: owners[at % owners.length]! }
      }),
    ),
    fc
      .constantFrom('listed_since', 'sold_since', 'ends_before')
      .chain((name) => days.map((at) => ({ [name]: at }))),
    fc
      .constantFrom('zoo', 'ÉLAN', 'elan', 'quiet zoo', 'zoo , quiet!', '?', 'a', '"zoo"')
      .map((q) => ({ q })),
  ]
  const order = fc
    .tuple(fc.constantFrom(...SORTS), fc.constantFrom('asc', 'desc', undefined), place)
    .map(([sort_by, sort_order, center]) => ({
      sort_by,
      ...(sort_order && { sort_order }),
      ...(sort_by === 'distance' && { center }),
    }))
  /** Nearly every filter alone, with an order; several of them together. */
  const query = fc
    .tuple(
      fc.subarray([...filters], { minLength: 0, maxLength: 3 }).chain((some) => fc.tuple(...some)),
      order,
    )
    .map(([some, sorted]): Query => Object.assign({}, sorted, ...some) as Query)
    .filter(({ status, sold_since }) => status !== 'never_sold' || sold_since === undefined)

  test('every filter, order and facet answers as a slow reference does, while land changes', async () => {
    let kept = 0
    await fc.assert(
      fc.asyncProperty(query, fc.integer({ min: 1, max: 300 }), async (query, limit) => {
        await land.change(someChange())
        const expected = referenceLand(land.reference, query, land.nowMs())
        const rows: object[] = []
        let next = await page({ ...query, limit: String(limit), facets: FACETS })
        expectSame(next.facets, expected.facets)
        while (true) {
          rows.push(...next.land)
          expect(next.total).toBe(expected.rows.length)
          if (next.cursor === null) break
          next = await page({ cursor: next.cursor, limit: String(limit) })
        }
        expectSame(rows, expected.rows)
        kept += Number(rows.length > 0)
      }),
      { numRuns: runs(40), endOnFailure: true },
    )
    // Filters that keep nothing would prove little.
    expect(kept).toBeGreaterThan(30)
  })

  test.each(['0,0', '-10,9', '40,-7'])('the nearest land comes first, in pages: from %s', async (center) => {
    const query = { sort_by: 'distance', center, inside_estates: 'true' }
    const { names } = referenceLand(land.reference, query, land.nowMs())

    // So few rows of so many assets are looked for in circles.
    let next = await page({ ...query, limit: '2' })
    const read = next.land.map(nameOf)
    while (read.length < 200) {
      next = await page({ cursor: next.cursor!, limit: '2' })
      read.push(...next.land.map(nameOf))
    }

    expect(read).toEqual(names.slice(0, read.length))
  })

  test('pages neither repeat nor miss a row while land changes a thousand times', async () => {
    let changes = 0
    for (const sort_by of [
      'listed_at',
      'price',
      'price_per_parcel',
      'name',
      'size',
      'sold_at',
      'expires_at',
    ]) {
      for (const sort_order of ['asc', 'desc']) {
        const query = { sort_by, sort_order, inside_estates: 'true' }
        const read: string[] = []
        let stayed: Set<string> | undefined
        const note = () => {
          const { names, values } = referenceLand(land.reference, query, land.nowMs())
          const now = new Set(names.map((name, i) => `${name} ${values[i]}`))
          stayed = stayed ? new Set([...stayed].filter((one) => now.has(one))) : now
          return new Map(names.map((name, i) => [name, `${name} ${values[i]}`]))
        }
        for (let cursor: string | null = ''; cursor !== null; ) {
          const valueBy = note()
          const next: Page = await page({ ...(cursor === '' ? query : { cursor }), limit: '120' })
          read.push(...next.land.map((row) => valueBy.get(nameOf(row))!))
          cursor = next.cursor
          const some = someChanges(24)
          changes += some.length
          await land.change(...some)
        }
        expect(new Set(read).size, `${sort_by} ${sort_order}`).toBe(read.length)
        const missed = [...stayed!].filter((one) => !read.includes(one))
        expect(missed, `${sort_by} ${sort_order}`).toEqual([])
      }
    }
    expect(changes).toBeGreaterThanOrEqual(1000)
  })

  interface Difference {
    readonly began: readonly Page['land'][number][]
    readonly changed: readonly Page['land'][number][]
    readonly ceased: readonly string[]
  }
  const follow = (match: Query, since = '') =>
    EventReader.open(
      `${land.server.origin}/v2/changes?${new URLSearchParams({
        match: String(new URLSearchParams(match as Record<string, string>)),
        since,
      })}`,
    )

  /** A figure of the metrics of streams. */
  async function figureOf(name: string) {
    const { text } = await land.server.get('/metrics')
    return Number(new RegExp(`^landpass_change_${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  /** The rows of a search by their names. */
  function rowsOf(assets: readonly Asset[], query: Query): ReadonlyMap<string, Page['land'][number]> {
    // An asset that is gone has no neighbours.
    const isNowhere = query.neighbours_of && !assets.some(({ name }) => name === query.neighbours_of)
    const { rows, names } = isNowhere ? { rows: [], names: [] } : referencePage(assets, query)
    return new Map(names.map((name, i) => [name, rows[i] as Page['land'][number]]))
  }

  /** What differs for a search between two times. */
  function referenceDifference(old: ReturnType<typeof rowsOf>, now: typeof old): Difference {
    const text = (row: object | undefined) => JSON.stringify(row)
    const names = [...now.keys()].toSorted()
    return {
      began: names.filter((name) => !old.has(name)).map((name) => now.get(name)!),
      changed: names
        .filter((name) => old.has(name) && text(old.get(name)) !== text(now.get(name)))
        .map((name) => now.get(name)!),
      ceased: [...old.keys()].filter((name) => !now.has(name)).toSorted(),
    }
  }

  test('a stream tells which rows of a search began, changed and ceased, as a slow reference finds them, while land changes', async () => {
    const all = { inside_estates: 'true' }
    const searches = [...fc.sample(query, 20), { neighbours_of: 'estate:2' }, { status: 'open' }, all]
    const readers: EventReader[] = []
    for (const search of searches) readers.push(await follow(search))
    for (const reader of readers) expect((await reader.next()).kind).toBe('hello')
    const renamed = land.reference.parcels.find(({ estate_id }) => estate_id === null)!
    const kinds = { began: 0, changed: 0, ceased: 0 }
    const allRows = () => {
      const assets = assetsOf(land.reference, land.nowMs())
      return searches.map((search) => rowsOf(assets, search))
    }
    let before = allRows()
    const hearDifferences = async () => {
      const after = allRows()
      for (const i of searches.keys()) {
        const expected = referenceDifference(before[i]!, after[i]!)
        const count = expected.began.length + expected.changed.length + expected.ceased.length
        if (count === 0) continue
        const { kind, data } = await readers[i]!.next()
        if (count > 100) {
          expect(kind).toBe('reset')
          continue
        }
        const { began, changed, ceased } = data as Difference
        const inOrder = (rows: Difference['began']) =>
          rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
        expectSame({ began: inOrder(began), changed: inOrder(changed), ceased: ceased.toSorted() }, expected)
        kinds.began += began.length
        kinds.changed += changed.length
        kinds.ceased += ceased.length
      }
      before = after
    }
    for (let step = 0; step < runs(25); step++) {
      // A parcel of no estate has a new name in each step: so each has an event of all land.
      const { x, y } = renamed
      const name = { kind: 'change-parcel', x, y, to: { name: `step ${step}` } } as const
      await land.change(...someChanges(3).filter((one) => rowOf(one) !== `${x},${y}`), name)
      await hearDifferences()
      if (step % 8 !== 7) continue
      land.clock.set(land.nowMs() + DAY_MS)
      await hearDifferences()
    }
    expect(readers.map(({ unheard }) => unheard)).toEqual(readers.map(() => []))
    for (const reader of readers) reader.close()
    for (const kind of ['began', 'changed', 'ceased'] as const) expect(kinds[kind], kind).toBeGreaterThan(10)
  })

  test('a stream of a search goes on where it broke off, and says when it cannot', async () => {
    const parcel = land.reference.parcels.find(({ estate_id }) => estate_id === null)!
    const search = { center: parcel.id, radius: '0', inside_estates: 'true', asset_type: 'parcel' }
    const rename = (name: string) =>
      land.change({ kind: 'change-parcel', x: parcel.x, y: parcel.y, to: { name } })
    const first = await follow(search)
    const hello = await first.next()
    expect(hello).toMatchObject({ kind: 'hello', data: { state: hello.id } })
    const other = await follow(search)
    await rename('one')
    const seen = await first.next()
    expect(seen).toMatchObject({
      kind: 'change',
      data: { changed: [{ name: 'one' }], began: [], ceased: [] },
    })
    first.close()
    await rename('two')
    await rename('three')
    await other.next()
    for (let name = ''; name !== 'three'; ) {
      const { data } = await other.next()
      name = (data as { changed: [{ name: string }] }).changed[0].name
    }

    const back = await follow(search, seen.id)
    const lost = await follow(search, `another.${seen.id.split('.').at(-1)}`)
    const elsewhere = await follow({ ...search, status: 'none' }, hello.id)
    const missed = [await back.next(), await back.next()]

    expect(missed).toMatchObject([
      { data: { changed: [{ name: 'two' }] } },
      { data: { changed: [{ name: 'three' }] } },
    ])
    expect((await lost.next()).kind).toBe('reset')
    expect((await elsewhere.next()).kind).toBe('reset')
    await rename('four')
    for (const reader of [back, lost])
      expect((await reader.next()).data).toMatchObject({ changed: [{ name: 'four' }] })
    for (const reader of [other, back, lost, elsewhere]) reader.close()
  })

  test('a stream whose search was forgotten meanwhile begins with reset', async () => {
    const parcel = land.reference.parcels.find(({ estate_id }) => estate_id === null)!
    const search = { center: parcel.id, radius: '0' }
    const reader = await follow(search)
    const hello = await reader.next()
    reader.close()
    const realNowMs = performance.now.bind(performance)
    let calls = 0
    vi.spyOn(performance, 'now').mockImplementation(() => realNowMs() + MINUTE_MS * calls++)
    await expect.poll(() => figureOf('searches')).toBe(0)
    vi.restoreAllMocks()
    await land.change({ kind: 'change-parcel', x: parcel.x, y: parcel.y, to: { name: 'missed' } })

    const back = await follow(search, hello.id)

    expect((await back.next()).kind).toBe('reset')
    back.close()
  })

  test('a cheaper offer that no map shows, and a rent, end for a search without a change of the land', async () => {
    const parcel = land.reference.parcels.findLast(({ estate_id }) => estate_id === null)!
    const search = { center: parcel.id, radius: '0', asset_type: 'parcel' }
    const ends = land.nowMs() + DAY_MS
    const offer = (name: string, price: string, more: object) => ({
      kind: 'open-publication' as const,
      publication: publicationRow(name, { asset_id: parcel.id, price, ...more }),
    })
    await land.change(
      offer('older and cheaper', '0.5', { expires_at_ms: ends, block_time_created_at_ms: land.nowMs() - 2 }),
      offer('newer and dearer', '0.75', {
        expires_at_ms: ends + DAY_MS,
        block_time_created_at_ms: land.nowMs() - 1,
      }),
      {
        kind: 'change-parcel',
        ...{ x: parcel.x, y: parcel.y, to: { tenant: OPERATOR, rented_until_ms: ends + 1 } },
      },
    )
    const reader = await follow(search)
    const rented = await follow({ ...search, status: 'rented' })
    expect([await reader.next(), await rented.next()].map(({ kind }) => kind)).toEqual(['hello', 'hello'])

    land.clock.set(ends)
    for (const one of [reader, rented])
      expect((await one.next()).data).toMatchObject({ changed: [{ offer: { price: '0.75' } }] })
    land.clock.set(ends + 1)
    expect((await rented.next()).data).toMatchObject({ began: [], changed: [], ceased: [parcel.id] })
    expect((await reader.next()).data).toMatchObject({ changed: [{ rent: null }] })
    await land.change({
      kind: 'change-parcel',
      ...{ x: parcel.x, y: parcel.y, to: { tenant: null, rented_until_ms: null } },
    })
    for (const one of [reader, rented]) one.close()
  })

  test('2,000 streams of ten searches cost ten comparisons with each change', async () => {
    const searches = Array.from({ length: 10 }, (_, i) => ({ min_size: '1', max_size: String(i + 1) }))
    const readers: EventReader[] = []
    for (let at = 0; at < 2_000; at += 50)
      readers.push(
        ...(await Promise.all(
          Array.from({ length: 50 }, (_, i) => {
            const { min_size, max_size } = searches[(at + i) % 10]!
            // Equal searches in other words
            return follow(i % 2 === 0 ? { max_size, min_size, sort_by: 'size' } : { min_size, max_size })
          }),
        )),
      )
    for (const reader of readers) await reader.next()
    const [followed, compared] = [await figureOf('searches'), await figureOf('searches_compared_total')]
    const parcel = land.reference.parcels.find(({ estate_id }) => estate_id === null)!

    await land.change({ kind: 'change-parcel', x: parcel.x, y: parcel.y, to: { name: 'for thousands' } })
    for (const reader of readers)
      expect((await reader.next()).data).toMatchObject({ changed: [{ name: 'for thousands' }] })

    expect((await figureOf('searches_compared_total')) - compared).toBe(followed)
    expect(followed).toBeLessThan(60)
    for (const reader of readers) reader.close()
  })

  test('an offer that ends leaves its row, without a change of the land', async () => {
    const [parcel] = land.reference.parcels.filter(({ estate_id }) => estate_id === null)
    const ends = land.nowMs() + 5_000
    await land.change(
      ...['3', '4'].map((price, i) => ({
        kind: 'open-publication' as const,
        publication: publicationRow(`ending ${price}`, {
          asset_id: parcel!.id,
          price,
          // The newer one is dearer: maps show it, and it ends later.
          expires_at_ms: ends + i * DAY_MS,
          block_time_created_at_ms: land.nowMs() - 1_000 + i,
        }),
      })),
    )
    const path = pathOf({ center: parcel!.id, radius: '0', inside_estates: 'true', asset_type: 'parcel' })
    const before = await land.server.get(path)
    land.clock.set(ends)
    const after = await land.server.get(path, { 'if-none-match': before.headers.get('etag')! })

    const offerOf = (answer: typeof before) =>
      (answer.body.data as { land: [{ offer: { price: string } }] }).land[0].offer.price
    expect([offerOf(before), offerOf(after)]).toEqual(['3', '4'])
  })

  test.each([
    ['maxprice=3', 'maxprice'],
    ['maxprice=', 'maxprice'],
    ['offset=20', 'offset'],
    // Public servers of the world take these, and answer as if they were true or not there.
    ['adjacentToRoad=false', 'adjacentToRoad'],
    ['isOnSale=false', 'isOnSale'],
    ['contractAddress=0x1', 'contractAddress'],
    ['tokenId=1', 'tokenId'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['min_price=2&max_price=1', 'min_price'],
    ['min_plaza=-1', 'min_plaza'],
    ['nw=1,2', 'se'],
    ['sort_by=distance', 'center'],
    ['center=1,2', 'radius'],
    ['sort_by=cheapest', 'sort_by'],
    ['status=listed', 'status'],
    ['facets=colour', 'facets'],
    ['inside_estates=yes', 'inside_estates'],
    ['neighbours_of=99,99', 'neighbours_of'],
    ['neighbours_of=estate:999999', 'neighbours_of'],
    ['owner=0x1', 'owner'],
    ['sold_since=2026-13-01', 'sold_since'],
    ['sold_since=2026-03-01&status=never_sold', 'sold_since'],
    [`q=${'a'.repeat(101)}`, 'q'],
    ['cursor=abc', 'cursor'],
    [`cursor=${Buffer.from('[{"limit":3},null,"1,2"]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('[{"sort_by":"price"},"cheap","1,2"]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('[{"sort_by":"size"},"1","1,2"]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('[{},null,"1,2"]').toString('base64url')}&status=open`, 'status'],
    [`cursor=${Buffer.from('[{},null,"1,2"]').toString('base64url')}&facets=size`, 'facets'],
  ])('%s is refused, and %s is named', async (query, name) => {
    const { data } = await land.refusal(`/v2/land?${query}`, 400, 'invalid_parameter')

    expect(data.parameter).toBe(name)
  })

  test('a stream of a search that is not encoded is refused', async () => {
    const path = '/v2/changes?match=status=open&max_plaza=3'
    expect((await land.refusal(path, 400, 'invalid_parameter')).data).toMatchObject({
      ...{ parameter: 'max_plaza', value: '3' },
    })
  })

  test.each([
    ['max_pice=3', 'max_pice'],
    ['min_price=2&max_price=1', 'min_price'],
    ['limit=3', 'limit'],
    ['neighbours_of=99,99', 'neighbours_of'],
  ])('a stream of the search %s is refused, and %s is named', async (match, name) => {
    const { data } = await land.refusal(
      `/v2/changes?match=${encodeURIComponent(match)}`,
      400,
      'invalid_parameter',
    )

    expect(data.parameter).toBe(name)
  })

  test('an empty parameter counts as absent, also beside a cursor', async () => {
    const second = '/v2/land?cursor=W3t9LG51bGwsIjEsMiJd'
    for (const [path, empty] of [
      ['/v2/land?limit=1', '&q=&status=&asset_type=&facets=&cursor='],
      [second, '&q=&status=&min_price=&facets='],
      ['/v2/stats', '?by=&buyer=&seller='],
      ['/v2/parcels/0/0/rights', '?address='],
    ] as const)
      expect((await land.server.get(path + empty)).text, path).toBe((await land.server.get(path)).text)
    expect((await land.server.get(second)).status).toBe(200)
  })

  test('a cursor at a place far outside of the world stands before or after all parcels', async () => {
    const rowsAfter = async (place: string) => {
      const cursor = Buffer.from(JSON.stringify([{ asset_type: 'parcel' }, null, place])).toString(
        'base64url',
      )
      return (await page({ cursor, limit: '1000' })).land.length
    }
    const all = await rowsAfter('-999999,999999')

    expect(all).toBeGreaterThan(100)
    expect(await rowsAfter('-999999,-999999')).toBe(all)
    expect(await rowsAfter('999999,999999')).toBe(0)
    expect(await rowsAfter('999999,-999999')).toBe(0)
    expect(await rowsAfter('0,999999')).toBeLessThan(all)
    expect(await rowsAfter('0,-999999')).toBeLessThan(await rowsAfter('0,999999'))
  })

  test('an estate is named with zeros before its number, too', async () => {
    const [estate] = land.reference.estates
    const neighbours = (name: string) => page({ neighbours_of: name, limit: '1000' })

    expect(await neighbours(`estate:000${estate!.id}`)).toEqual(await neighbours(`estate:${estate!.id}`))
  })

  test('a cursor has the words of a search without the spaces around them', async () => {
    const { cursor } = await page({ q: '  a ', limit: '1' })

    expect(JSON.parse(Buffer.from(cursor!, 'base64url').toString())[0]).toEqual({ q: 'a' })
  })

  test('what public servers of the world get wrong: false, 0, totals of empty pages, and assets with two offers', async () => {
    const all = await page({ limit: '1' })
    const { facets } = await page({ facets: 'road,size', limit: '1' })
    const counts = facets as Record<'road' | 'size', { key: string; count: number }[]>
    const countOf = (name: 'road' | 'size', key: string) => counts[name].find((one) => one.key === key)?.count

    expect((await page({ inside_estates: 'false', limit: '1' })).total).toBe(all.total)
    expect((await page({ min_road: '0', max_road: '0' })).total).toBe(countOf('road', '0'))
    expect((await page({ min_size: '0', max_size: '1' })).total).toBe(countOf('size', '1'))
    const end = Buffer.from('[{},null,"999999,-999999"]').toString('base64url')
    expect(await page({ cursor: end })).toMatchObject({ land: [], total: all.total, cursor: null })
    const twice = land.reference.parcels.findLast(({ estate_id }) => estate_id === null)!
    await land.change(
      ...['41', '42'].map((price) => ({
        kind: 'open-publication' as const,
        publication: publicationRow(`twice ${price}`, { asset_id: twice.id, price }),
      })),
    )
    const here = await page({ center: twice.id, radius: '0', status: 'open', asset_type: 'parcel' })
    expect([here.total, here.land.length]).toEqual([1, 1])
  })

  test('a new estate and one that is gone leave a cursor where it was', async () => {
    const query = { sort_by: 'size', sort_order: 'desc', asset_type: 'estate', limit: '1' }
    const first = await page(query)
    const [row] = first.land
    const parcel = land.reference.parcels.find(({ estate_id }) => estate_id === null)!
    const rest = (await page({ cursor: first.cursor!, limit: '1000' })).land.map(nameOf)
    await land.change(
      { kind: 'create-estate', estate: estateRow('900001') },
      {
        kind: 'change-parcel',
        ...{ x: parcel.x, y: parcel.y },
        to: { estate_id: '900001', estate_position: 0 },
      },
      ...land.reference.parcels
        .filter(({ estate_id }) => estate_id === row!.asset_id)
        .map(
          ({ x, y }) =>
            ({ kind: 'change-parcel', x, y, to: { estate_id: null, estate_position: null } }) as const,
        ),
    )

    const after = (await page({ cursor: first.cursor!, limit: '1000' })).land.map(nameOf)

    expect(after.filter((name) => name !== 'estate:900001')).toEqual(rest)
    expect(after).toContain('estate:900001')
  })
})

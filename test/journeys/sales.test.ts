import { HOUR_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, bidRow, estateRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { runs } from '@landpass/server/test/support/run/property-seed'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DAY_MS = 24 * HOUR_MS
const RADIUS = 12
const DISSOLVED = '5'
const WEI = 10n ** 18n
const AUCTION_HASH = `0x${'ac'.repeat(32)}`

interface Row {
  readonly asset_type: string
  readonly asset_id: string
  readonly size: number | null
  readonly price: string
  readonly source: string
  readonly time: number
}
interface Page {
  readonly sales: readonly Row[]
  readonly total: number
  readonly cursor: string | null
}
interface Stats {
  readonly groups: readonly {
    readonly key: string
    readonly sales: { readonly count: number; readonly parcels: number; readonly volume: string }
    readonly open: object | null
  }[]
}
interface Cells {
  readonly total: number
  readonly runs: readonly number[]
  readonly prices: readonly number[]
}
/** A sale, worked out from the records. */
interface Known {
  readonly row: Row & { readonly buyer: string | null; readonly seller: string | null }
  readonly parcels: readonly { readonly x: number; readonly y: number; readonly tags: Tags }[]
}
interface Tags {
  readonly proximity?: { readonly [name in 'plaza' | 'road']?: { readonly distance: number } }
}

describeOnOneEngine('sales', (open) => {
  let land: DemoLand
  /** Sizes that the records of the reference do not keep. */
  const soldSizes = new Map<string, number>()
  const trades = new Set<string>()
  /** Parcels that were auctioned, which the records of the reference do not keep. */
  const auctioned = new Map<string, { readonly time: number; readonly price: string; readonly log: number }>()
  let names = 0

  /** A sale as the rules write it; without a size as a snapshot may have it. */
  function soldRow(facts: Parameters<typeof publicationRow>[1] & { atMs: number }) {
    const { atMs, ...rest } = facts
    const row = publicationRow(`sale ${names++}`, {
      status: 'sold',
      buyer: addressOf('buyer'),
      block_time_updated_at_ms: atMs,
      closed_by: 'event',
      ...rest,
    })
    if (row.sold_size !== null) soldSizes.set(row.tx_hash, row.sold_size)
    if (row.sold_source === 'trade') trades.add(row.tx_hash)
    return { kind: 'open-publication' as const, publication: row }
  }

  /** A parcel that was sold in the second auction. */
  function auction(x: number, y: number, sold: { time: number; price: string; log: number }) {
    auctioned.set(`${x},${y}`, sold)
    const of = { auctioned_at_ms: sold.time, auction_price: sold.price, auction_log_index: sold.log }
    const to = {
      ...of,
      auction_owner: addressOf('buyer'),
      auction_tx_hash: AUCTION_HASH,
      auction_block_number: 9,
    }
    return { kind: 'change-parcel' as const, x, y, to }
  }

  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
    const atMs = land.nowMs() - 40 * DAY_MS
    const estate = { asset_type: 'estate' as const, asset_id: DISSOLVED }
    const small = '0.000000000000000001'
    await land.change(
      soldRow({ ...estate, atMs, sold_size: 4, price: '4000' }),
      soldRow({ ...estate, atMs, price: '77', owner: addressOf('unknown size') }),
      soldRow({ asset_id: '1,2', atMs, sold_source: 'trade', price: `1000${small.slice(1)}` }),
      // As numbers these are equal
      ...[3, 1, 2].map((last) =>
        soldRow({ asset_id: '3,4', atMs: atMs + last, price: `123456789012345678.00000000000000000${last}` }),
      ),
      {
        kind: 'place-bid',
        bid: bidRow('accepted', {
          asset_id: '4,4',
          status: 'sold',
          block_time_updated_at_ms: atMs,
          price: '900',
        }),
      },
      auction(4, -4, { time: atMs, price: '1001.5', log: 3 }),
    )
  })
  afterAll(() => land.server.close())

  /** All sales, oldest first. */
  function knownSales(): Known[] {
    const { parcels, estates, publications, bids } = land.reference
    const known = (
      sale: { asset_type: string; asset_id: string; price: unknown; status: string },
      facts: { time: number; source: string; seller: string | null; buyer: string | null; soldSize?: number },
    ): Known => {
      const { asset_type, asset_id } = sale
      const isParcel = asset_type === 'parcel'
      const members = parcels.filter(({ id, estate_id }) => (isParcel ? id : estate_id) === asset_id)
      const size = isParcel ? 1 : (facts.soldSize ?? (members.length || null))
      const { soldSize: _, ...rest } = facts
      const price = String((sale.price as { text?: string }).text ?? sale.price)
      return { row: { asset_type, asset_id, size, price, ...rest }, parcels: members }
    }
    expect(estates.length).toBeGreaterThan(0)
    const ofPublications = publications
      .filter(({ shown }) => shown.status === 'sold')
      .map(({ shown }) =>
        known(shown, {
          time: shown.block_time_updated_at!,
          source: trades.has(shown.tx_hash) ? 'trade' : 'order',
          seller: shown.owner,
          buyer: shown.buyer,
          ...(soldSizes.has(shown.tx_hash) && { soldSize: soldSizes.get(shown.tx_hash)! }),
        }),
      )
    const ofBids = bids
      .filter(({ shown }) => shown.status === 'sold')
      .map(({ shown }) =>
        known(shown, {
          time: Number(shown.block_time_updated_at),
          source: 'bid',
          seller: shown.seller,
          buyer: shown.bidder,
        }),
      )
    const ofAuctions = [...auctioned].map(([asset_id, { time, price }]) =>
      known(
        { asset_type: 'parcel', asset_id, price, status: 'sold' },
        { time, source: 'auction', seller: null, buyer: addressOf('buyer') },
      ),
    )
    return [...ofPublications, ...ofBids, ...ofAuctions].sort((a, b) => a.row.time - b.row.time)
  }
  type Filter = Record<string, string | number>
  const pathOf = (address: string, filter: Filter) =>
    `/v2/${address}?${Object.entries(filter)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&')}`

  async function everyPage(filter: Filter, limit: number): Promise<{ rows: Row[]; total: number }> {
    const rows: Row[] = []
    for (let path = pathOf('sales', { ...filter, limit }); ; ) {
      const { sales, total, cursor } = await land.server.data<Page>(path)
      rows.push(...sales)
      if (cursor === null) return { rows, total }
      expect(sales).toHaveLength(limit)
      path = pathOf('sales', { limit, cursor })
    }
  }

  function matches({ row, parcels }: Known, filter: Filter): boolean {
    const number = (name: string) => (filter[name] === undefined ? undefined : Number(filter[name]))
    const inRange = (value: number | null, name: string) => {
      const [min, max] = [number(`min_${name}`), number(`max_${name}`)]
      if (min === undefined && max === undefined) return true
      return value !== null && value >= (min ?? 0) && value <= (max ?? Infinity)
    }
    const nearest = (name: 'plaza' | 'road') => {
      const all = parcels.flatMap(({ tags }) => tags.proximity?.[name]?.distance ?? [])
      return all.length === 0 ? null : Math.min(...all)
    }
    const [cx = 0, cy = 0] = String(filter.center ?? '')
      .split(',')
      .map(Number)
    const price = wei(row.price)
    return (
      (filter.from === undefined || row.time >= Number(filter.from)) &&
      (filter.to === undefined || row.time < Number(filter.to)) &&
      (filter.asset_type === undefined || row.asset_type === filter.asset_type) &&
      (filter.source === undefined || String(filter.source).split(',').includes(row.source)) &&
      (filter.seller === undefined || row.seller === filter.seller) &&
      (filter.min_price === undefined || price >= wei(String(filter.min_price))) &&
      (filter.max_price === undefined || price <= wei(String(filter.max_price))) &&
      inRange(row.size, 'size') &&
      inRange(nearest('plaza'), 'plaza') &&
      inRange(nearest('road'), 'road') &&
      (filter.center === undefined ||
        parcels.some(({ x, y }) => (x - cx) ** 2 + (y - cy) ** 2 <= Number(filter.radius) ** 2))
    )
  }

  const parts = {
    from: fc.integer({ min: 0, max: 3000 }).map((days): Filter => ({ from: land.nowMs() - days * DAY_MS })),
    to: fc.integer({ min: 0, max: 10 }).map((days): Filter => ({ to: land.nowMs() - days * DAY_MS })),
    kind: fc.constantFrom<Filter[]>({ asset_type: 'parcel' }, { asset_type: 'estate' }),
    source: fc.constantFrom<Filter[]>(
      ...['order', 'bid', 'trade', 'auction', 'order,bid'].map((source) => ({ source })),
    ),
    seller: fc.constantFrom<Filter[]>({ seller: addressOf('seller') }, { seller: addressOf('unknown size') }),
    price: fc.constantFrom<Filter[]>(
      { min_price: '1000' },
      { min_price: '1000.000000000000000001', max_price: '1000000000000000000000' },
      { min_price: '123456789012345678.000000000000000002' },
      { max_price: '123456789012345678.000000000000000002' },
    ),
    size: fc.constantFrom<Filter[]>({ min_size: 2 }, { max_size: 1 }, { min_size: 0, max_size: 4 }),
    plaza: fc.constantFrom<Filter[]>({ min_plaza: 0, max_plaza: 0 }, { max_plaza: 5 }),
    road: fc.constantFrom<Filter[]>({ max_road: 0 }, { min_road: 1, max_road: 3 }),
    circle: fc.constantFrom<Filter[]>({ center: '2,3', radius: 3 }, { center: '-40,9', radius: '31.5' }),
  }
  const filterOf = fc
    .tuple(fc.record(parts), fc.subarray(Object.keys(parts) as (keyof typeof parts)[], { maxLength: 3 }))
    .map(([filters, names]): Filter => Object.assign({}, ...names.map((name) => filters[name])))

  test('are in the order of their times or prices, with what every filter keeps, as a slow reference finds them', async () => {
    const sorts = fc.constantFrom<Filter>(
      {},
      { sort_order: 'asc' },
      { sort_by: 'price' },
      { sort_by: 'price', sort_order: 'desc' },
    )
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(filterOf, sorts, fc.integer({ min: 40, max: 300 }), async (filter, sort, limit) => {
        const newestFirst = knownSales()
          .filter((one) => matches(one, filter))
          .reverse()
        for (const { row } of newestFirst) seen.add(`${row.asset_type} ${row.source}`)

        const { rows, total } = await everyPage({ ...filter, ...sort }, limit)

        expect(total).toBe(newestFirst.length)
        if (sort.sort_by === undefined) {
          const expected = sort.sort_order === 'asc' ? newestFirst.toReversed() : newestFirst
          expect(rows).toMatchObject(expected.map(({ row }) => row))
        } else {
          const sign = sort.sort_order === 'desc' ? -1 : 1
          const expected = newestFirst.toSorted((a, b) => sign * compare(wei(a.row.price), wei(b.row.price)))
          expect(rows).toMatchObject(expected.map(({ row }) => row))
        }
      }),
      { numRuns: runs(25) },
    )
    for (const kind of ['parcel order', 'estate order', 'parcel trade', 'parcel bid', 'parcel auction'])
      expect(seen).toContain(kind)
  })

  test('in groups have the quartiles, the volume and the number that a slow reference counts', async () => {
    const grouping = fc.constantFrom('total', 'month', 'week', 'day', 'size', 'road', 'plaza', 'asset_type')
    await fc.assert(
      fc.asyncProperty(filterOf, grouping, async (filter, by) => {
        const sales = knownSales().filter((one) => matches(one, filter))

        const { groups } = await land.server.data<Stats>(pathOf('stats', { ...filter, by }))

        const sum = (value: (sales: Stats['groups'][number]['sales']) => bigint) =>
          groups.reduce((all, group) => all + value(group.sales), 0n)
        expect(sum(({ count }) => BigInt(count))).toBe(BigInt(sales.length))
        expect(sum(({ volume }) => wei(volume))).toBe(
          sales.reduce((all, { row }) => all + wei(row.price), 0n),
        )
        for (const group of groups) {
          const ofGroup = sales.filter((one) => keyOf(one, by) === group.key)
          expect(group.sales, `${by} ${group.key}`).toEqual(slowStats(ofGroup))
        }
        expect(groups.map(({ key }) => key)).toEqual([...new Set(groups.map(({ key }) => key))])
      }),
      { numRuns: runs(25) },
    )
  })

  test('have a median for each cell, of the estate where that was sold, as a slow reference finds it', async () => {
    const height = 2 * RADIUS + 1
    let joined = 0
    await fc.assert(
      fc.asyncProperty(filterOf, async (filter) => {
        const pricesOf = { parcel: new Map<string, number[]>(), estate: new Map<string, number[]>() }
        let count = 0
        for (const { row, parcels } of knownSales().filter((one) => matches(one, filter))) {
          if (row.size === null || parcels.length === 0) continue
          count++
          for (const { x, y } of parcels) {
            const prices = pricesOf[row.asset_type as 'parcel' | 'estate']
            prices.set(`${x},${y}`, [...(prices.get(`${x},${y}`) ?? []), Number(row.price) / row.size])
          }
        }

        const { total, runs: cells, prices } = await land.server.data<Cells>(pathOf('sales/cells', filter))

        const found = new Map<string, number>()
        for (const [i, price] of prices.entries()) {
          for (let cell = cells[2 * i]!; cell < cells[2 * i]! + cells[2 * i + 1]!; cell++) {
            found.set(`${Math.floor(cell / height) - RADIUS},${RADIUS - (cell % height)}`, price)
          }
        }
        expect(total).toBe(count)
        expect(new Set(found.keys())).toEqual(new Set([...pricesOf.parcel.keys(), ...pricesOf.estate.keys()]))
        for (const [place, price] of found) {
          const sorted = (pricesOf.estate.get(place) ?? pricesOf.parcel.get(place)!).toSorted((a, b) => a - b)
          const middle = (sorted.length - 1) / 2
          const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
          expect(Math.abs(price / median - 1), place).toBeLessThan(1e-5)
          if (pricesOf.estate.has(place) && pricesOf.parcel.has(place)) joined++
        }
      }),
      { numRuns: runs(15) },
    )
    expect(joined).toBeGreaterThan(0)
  })

  test('have quartiles between neighbours, and empty weeks, as counted by hand', async () => {
    const owner = addressOf('counted')
    const day = Date.parse('2020-12-30T12:00:00.000Z')
    await land.change(
      soldRow({ owner, asset_id: '5,5', atMs: day, price: '10' }),
      soldRow({ owner, asset_id: '5,6', atMs: day + DAY_MS, price: '20.5' }),
      soldRow({ owner, asset_id: '5,7', atMs: day + 14 * DAY_MS, price: '40' }),
      soldRow({
        owner,
        asset_type: 'estate',
        asset_id: DISSOLVED,
        sold_size: 3,
        atMs: day + 14 * DAY_MS,
        price: '100',
      }),
    )

    const total = await land.server.data<Stats>(`/v2/stats?seller=${owner}`)
    const weeks = await land.server.data<Stats>(`/v2/stats?by=week&seller=${owner}`)
    const between = await land.server.data<Stats>(
      `/v2/stats?by=day&seller=${owner}&from=2020-12-29&to=2021-01-01`,
    )

    // 10, 20.5, 33.333…, 40: a quarter of the way is three quarters of the way from 10 to 20.5
    expect(total.groups[0]).toMatchObject({
      key: 'total',
      sales: {
        count: 4,
        parcels: 6,
        volume: '170.5',
        per_parcel: {
          min: '10',
          p25: '17.875',
          median: '26.9166666666666666665',
          p75: '34.99999999999999999975',
          max: '40',
        },
      },
    })
    expect(weeks.groups.map(({ key, sales }) => [key, sales.count, sales.volume])).toEqual([
      ['2020-W53', 2, '30.5'],
      ['2021-W01', 0, '0'],
      ['2021-W02', 2, '140'],
    ])
    expect(weeks.groups[1]).toMatchObject({
      sales: { parcels: 0, per_parcel: { min: null, p25: null, median: null, p75: null, max: null } },
      open: null,
    })
    expect(between.groups.map(({ key, sales }) => [key, sales.count])).toEqual([
      ['2020-12-29', 0],
      ['2020-12-30', 1],
      ['2020-12-31', 1],
    ])
  })

  test('are beside the offers that are open now', async () => {
    const { parcels, publications } = land.reference
    const isFree = (x: number, y: number) =>
      parcels.some((one) => one.x === x && one.y === y && one.estate_id === null) &&
      publications.every(({ shown }) => shown.asset_id !== `${x},${y}`)
    const { x, y } = parcels.find((one) => [0, 1, 2].every((dx) => isFree(one.x + dx, one.y)))!
    await land.change(
      ...[7, 9, 30].map((price, dx) => ({
        kind: 'open-publication' as const,
        publication: publicationRow(`offered ${dx}`, { asset_id: `${x + dx},${y}`, price: String(price) }),
      })),
    )

    const near = `nw=${x},${y}&se=${x + 2},${y}`
    const { groups } = await land.server.data<Stats>(`/v2/stats?${near}&from=1&to=2`)
    const cheap = await land.server.data<Stats>(`/v2/stats?${near}&max_price=9&from=1&to=2`)

    expect(groups).toMatchObject([
      {
        key: 'total',
        sales: { count: 0 },
        open: { count: 3, floor: '7', floor_per_parcel: '7', median_per_parcel: '9' },
      },
    ])
    expect(cheap.groups[0]!.open).toMatchObject({ count: 2, median_per_parcel: '8' })
    const openFrom = async (source: string) =>
      (await land.server.data<Stats>(`/v2/stats?${near}&source=${source}`)).groups[0]!.open
    expect(await openFrom('order,bid')).toMatchObject({ count: 3 })
    for (const source of ['trade', 'bid', 'auction'])
      expect(await openFrom(source)).toMatchObject({ count: 0 })
  })

  test('of one block are in the order of their logs, those of an auction too', async () => {
    const owner = addressOf('of one block')
    const atMs = land.nowMs() - 50 * DAY_MS
    const sold = (log: number) =>
      soldRow({ owner, asset_id: '8,8', atMs, price: String(log), sold_log_index: log })
    const bid = bidRow('of one block', {
      ...{ asset_id: '8,8', status: 'sold', price: '20', seller: owner, sold_log_index: 20 },
      block_time_updated_at_ms: atMs,
    })
    // Two sales of one log
    const auctions = [7, 8].map((x) => auction(x, -8, { time: atMs, price: '30', log: 30 }))
    await land.change(sold(40), { kind: 'place-bid', bid }, sold(10), ...auctions)
    const range = { from: atMs, to: atMs + 1 }

    const oldest = await everyPage({ ...range, sort_order: 'asc' }, 1)
    const newest = await everyPage(range, 2)

    expect(oldest.rows.map(({ asset_id, price }) => `${asset_id} ${price}`)).toEqual([
      ...['8,8 10', '8,8 20', '7,-8 30', '8,-8 30', '8,8 40'],
    ])
    expect(newest.rows).toEqual(oldest.rows.toReversed())
    expect(oldest.rows[2]).toMatchObject({
      ...{ source: 'auction', seller: null, buyer: addressOf('buyer'), size: 1 },
      ...{ block_number: 9, tx_hash: AUCTION_HASH, log_index: 30 },
    })
    const { land: rows } = await land.server.data<{ land: object[] }>(
      '/v2/land?center=7,-8&radius=0&inside_estates=true&asset_type=parcel&status=sold',
    )
    expect(rows).toMatchObject([{ last_sale: { price: '30', time: atMs } }])
  })

  test('of an estate count in each district in which it has a parcel, with a filter only in those that are asked for', async () => {
    const owner = addressOf('in districts')
    const districts = [...new Set(land.reference.parcels.flatMap(({ district_id }) => district_id ?? []))]
    const two = districts.slice(0, 2)
    const parcels = two.map((id) => land.reference.parcels.find((one) => one.district_id === id)!)
    await land.change(
      { kind: 'create-estate', estate: estateRow('9002') },
      ...parcels.map(({ x, y }, estate_position) => ({
        kind: 'change-parcel' as const,
        ...{ x, y, to: { estate_id: '9002', estate_position } },
      })),
      soldRow({
        owner,
        asset_type: 'estate',
        asset_id: '9002',
        atMs: land.nowMs(),
        price: '10',
        sold_size: 2,
      }),
    )
    const keys = async (filter: string) =>
      (await land.server.data<Stats>(`/v2/stats?by=district&seller=${owner}&${filter}`)).groups
        .filter(({ sales }) => sales.count > 0)
        .map(({ key }) => key)

    expect(await keys('')).toEqual(two.toSorted())
    expect(await keys(`district=${two[1]}`)).toEqual([two[1]])
  })

  test('come exactly once each in pages between which others are sold, and sales are undone', async () => {
    const owner = addressOf('paged')
    await land.change(
      ...Array.from({ length: 30 }, (_, i) =>
        soldRow({ owner, asset_id: '6,6', atMs: land.nowMs() - i * 1_000, price: String(100 + (i % 5)) }),
      ),
    )
    for (const sort of [{}, { sort_by: 'price' }]) {
      const before = (await everyPage({ seller: owner, ...sort }, 100)).rows
      const undone = land.reference.publications.filter(({ shown }) => shown.owner === owner)[7]!
      const rows: Row[] = []
      for (let path = pathOf('sales', { seller: owner, limit: 4, ...sort }); ; ) {
        const { sales, cursor } = await land.server.data<Page>(path)
        rows.push(...sales)
        if (cursor === null) break
        path = pathOf('sales', { limit: 4, cursor })
        await land.change(soldRow({ owner, asset_id: '6,7', atMs: land.nowMs() - names * 777, price: '102' }))
        if (rows.length === 8) await land.change({ kind: 'remove-publication', key: undone.key })
      }
      const keyOfRow = ({ asset_id, time, price }: Row) => `${asset_id} ${time} ${price}`
      const seen = rows.map(keyOfRow)
      expect(new Set(seen).size).toBe(seen.length)
      const gone = before.filter(({ time }) => time === undone.shown.block_time_updated_at).map(keyOfRow)
      const missed = before.map(keyOfRow).filter((key) => !seen.includes(key))
      expect(gone).toEqual(expect.arrayContaining(missed))
    }
  })

  test('say where the chain has them, and what is unknown is null', async () => {
    const owner = addressOf('placed')
    const txHash = `0x${'ab'.repeat(32)}`
    await land.change(
      { kind: 'create-estate', estate: estateRow('9001') },
      soldRow({
        ...{ owner, asset_type: 'estate', asset_id: '9001', atMs: land.nowMs(), price: '10' },
        ...{ sold_size: 3, sold_block_number: 77, sold_log_index: 5, closed_tx_hash: txHash },
      }),
      soldRow({ owner, asset_id: '7,7', atMs: land.nowMs() - 1, price: '5' }),
    )

    const { sales } = await land.server.data<Page>(`/v2/sales?seller=${owner}`)

    expect(sales).toEqual([
      {
        ...{
          asset_type: 'estate',
          asset_id: '9001',
          x: null,
          y: null,
          size: 3,
          price: '10',
          currency: 'mana',
        },
        ...{
          price_usd: null,
          price_per_parcel: '3.333333333333333333',
          buyer: addressOf('buyer'),
          seller: owner,
        },
        ...{ source: 'order', time: land.nowMs(), block_number: 77, tx_hash: txHash, log_index: 5 },
      },
      {
        ...{ asset_type: 'parcel', asset_id: '7,7', x: 7, y: 7, size: 1, price: '5', currency: 'mana' },
        ...{ price_usd: null, price_per_parcel: '5', buyer: addressOf('buyer'), seller: owner },
        ...{ source: 'order', time: land.nowMs() - 1, block_number: null, tx_hash: null, log_index: null },
      },
    ])
  })

  test('refuse what they do not have, and what contradicts itself', async () => {
    const { cursor } = await land.server.data<Page>('/v2/sales?limit=1')
    const refused = async (path: string) => {
      const { data } = await land.refusal(path, 400, 'invalid_parameter')
      return data.parameter
    }
    expect(await refused('/v2/sales?sold_since=1')).toBe('sold_since')
    expect(await refused('/v2/stats?sort_by=price')).toBe('sort_by')
    expect(await refused('/v2/sales?from=2021-01-02&to=2021-01-01')).toBe('from')
    expect(await refused('/v2/sales?min_price=2&max_price=1')).toBe('min_price')
    expect(await refused('/v2/sales?center=1,1')).toBe('radius')
    expect(await refused('/v2/sales?asset=1,2,3')).toBe('asset')
    expect(await refused('/v2/sales?asset=estate:999&asset_type=parcel')).toBe('asset')
    expect(await refused(`/v2/sales?cursor=${cursor}&source=bid`)).toBe('source')
    expect(await refused(`/v2/sales?cursor=${cursor}x`)).toBe('cursor')
    expect(await refused('/v2/stats?by=day&from=1970-01-01&to=2020-01-01')).toBe('from')
    expect(await refused('/v2/stats?by=day&to=2060-01-01')).toBe('to')
  })

  test('tell what land may be worth: a range of what was paid, with each sale and its weight', async () => {
    interface Value {
      readonly low: string | null
      readonly middle: string | null
      readonly high: string | null
      readonly basis: {
        readonly sales: (Row & { weight: number; is_own: boolean; why: string })[]
        readonly offers: object[]
      }
      readonly offer: { readonly price: string; readonly above_range: number | null } | null
    }
    const value = (path: string) => land.server.data<Value>(`/v2/${path}/value`)
    const nowMs = land.nowMs()
    await land.change(
      ...[300, 100, 200, 500, 400].map((price) =>
        soldRow({
          asset_id: '-11,-11',
          atMs: nowMs - 1_000,
          price: String(price),
          owner: addressOf('valued'),
        }),
      ),
      // A sale of the future, as a wrong clock of another process may write it
      soldRow({ asset_id: '-11,-11', atMs: nowMs + 1_000, price: '999999', owner: addressOf('valued') }),
      {
        kind: 'open-publication',
        publication: publicationRow('too dear', { asset_id: '-11,-11', price: '1000000' }),
      },
    )

    const found = await value('parcels/-11/-11')

    const own = found.basis.sales.filter(({ is_own }) => is_own)
    expect(own.map(({ price }) => price).sort()).toEqual(['100', '200', '300', '400', '500'])
    expect(own.every(({ weight, why }) => weight === 1 && why.startsWith('its own sale, 0 days ago'))).toBe(
      true,
    )
    const weights = found.basis.sales.map(({ weight }) => weight)
    expect(weights).toEqual(weights.toSorted((a, b) => b - a))
    expect(Number(found.low)).toBeLessThanOrEqual(Number(found.middle))
    expect(Number(found.middle)).toBeLessThanOrEqual(Number(found.high))
    expect(found.offer).toMatchObject({ price: '1000000' })
    expect(found.offer!.above_range).toBeGreaterThan(0)
    expect((await land.server.get('/v2/estates/5/value')).status).toBe(404)
  })
})

function wei(mana: string): bigint {
  const [whole = '', part = ''] = mana.split('.')
  return BigInt(whole) * WEI + BigInt(part.padEnd(18, '0'))
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The text of a number of 10^-20. */
function decimals20(value: bigint): string {
  const [whole, part] = [value / 10n ** 20n, value % 10n ** 20n]
  return `${whole}.${String(part).padStart(20, '0')}`.replace(/\.?0+$/, '')
}

function slowStats(sales: readonly Known[]): object {
  const known = sales.filter(({ row }) => row.size !== null)
  const prices = known.map(({ row }) => (wei(row.price) / BigInt(row.size!)) * 100n).sort(compare)
  const quantile = (quarters: number) => {
    if (prices.length === 0) return null
    const place = ((prices.length - 1) * quarters) / 4
    const [low, high] = [prices[Math.floor(place)]!, prices[Math.ceil(place)]!]
    return decimals20(low + ((high - low) * BigInt((place - Math.floor(place)) * 4)) / 4n)
  }
  return {
    count: sales.length,
    parcels: known.reduce((sum, { row }) => sum + row.size!, 0),
    volume: decimals20(sales.reduce((sum, { row }) => sum + wei(row.price), 0n) * 100n),
    per_parcel: {
      min: quantile(0),
      p25: quantile(1),
      median: quantile(2),
      p75: quantile(3),
      max: quantile(4),
    },
  }
}

function keyOf({ row, parcels }: Known, by: string): string {
  const iso = new Date(row.time).toISOString()
  const classOf = (value: number | null, bounds: readonly number[], names: readonly string[]) =>
    value === null ? 'none' : names[bounds.findIndex((bound) => value <= bound)]!
  const nearest = (name: 'plaza' | 'road') => {
    const all = parcels.flatMap(({ tags }) => tags.proximity?.[name]?.distance ?? [])
    return all.length === 0 ? null : Math.min(...all)
  }
  switch (by) {
    case 'total':
      return 'total'
    case 'day':
      return iso.slice(0, 10)
    case 'month':
      return iso.slice(0, 7)
    case 'week':
      return isoWeek(row.time)
    case 'size':
      return classOf(row.size, [1, 3, 9, 24, Infinity], ['1', '2-3', '4-9', '10-24', '25+'])
    case 'asset_type':
      return row.asset_type
    default:
      return classOf(
        nearest(by as 'plaza' | 'road'),
        [0, 2, 5, 10, Infinity],
        ['0', '1-2', '3-5', '6-10', 'above'],
      )
  }
}

/** By counting Thursdays from the first one of the year. */
function isoWeek(timeMs: number): string {
  const day = new Date(timeMs - (timeMs % DAY_MS))
  while (day.getUTCDay() !== 4)
    day.setTime(day.getTime() + (day.getUTCDay() > 4 || day.getUTCDay() === 0 ? -DAY_MS : DAY_MS))
  let week = 1
  for (
    const one = new Date(day.getTime() - 7 * DAY_MS);
    one.getUTCFullYear() === day.getUTCFullYear();
    week++
  )
    one.setTime(one.getTime() - 7 * DAY_MS)
  return `${day.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}

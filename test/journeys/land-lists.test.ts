import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { hashOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import type { ListingStatus, SortColumn } from '@landpass/server/test/support/land/reference-land'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const NAMES = ['parcels', 'estates', 'assets'] as const
const PATHS = { parcels: '/parcels', estates: '/estates', assets: '/marketplace' } as const
const COLUMNS: readonly SortColumn[] = ['price', 'created_at', 'block_time_updated_at', 'expires_at']
const STATUS_SETS: readonly (readonly ListingStatus[])[] = [
  ['open'],
  ['sold'],
  ['cancelled'],
  ['sold', 'open'],
  ['cancelled', 'sold', 'open'],
]

describeOnOneEngine('the lists of what is or was for sale', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 18 })
    await land.change(...awkwardPublications(land))
  })
  afterAll(() => land.server.close())

  test('without parameters: the first twenty that are open, newest first', async () => {
    for (const name of NAMES) {
      await land.expectData(PATHS[name], land.reference.list(name, {}, land.nowMs()))
      await land.expectData(`/v1${PATHS[name]}`, land.reference.list(name, {}, land.nowMs()))
    }
  })

  test('every status in every order, whole, and by its usual order', async () => {
    for (const name of NAMES) {
      for (const [s, statuses] of STATUS_SETS.entries()) {
        for (const [c, sortBy] of COLUMNS.entries()) {
          for (const [o, sortOrder] of (['asc', 'desc', undefined] as const).entries()) {
            // Each status in each column once, and in both orders in the list of both types
            if ((s + c + o) % 3 !== 0 && (name !== 'assets' || sortOrder === undefined)) continue
            const query = { statuses, sortBy, sortOrder, limit: 1000, offset: 0 }
            const order = sortOrder ? `&sort_order=${sortOrder}` : ''
            const path = `${PATHS[name]}?status=${statuses}&sort_by=${sortBy}${order}&limit=1000`
            await land.expectData(path, land.reference.list(name, query, land.nowMs()))
          }
        }
      }
    }
  })

  test('limit and offset decide where pages begin and end', async () => {
    const total = (land.reference.list('parcels', {}, land.nowMs()) as { total: number }).total
    expect(total).toBeGreaterThan(20)
    for (const [limit, offset] of [
      [0, 0],
      [1, 0],
      [7, 3],
      [20, 20],
      [1000, 1],
      [5, total - 2],
      [5, total],
      [5, 1_000_000],
      [3, Number.MAX_SAFE_INTEGER],
    ] as const) {
      const expected = land.reference.list('parcels', { limit, offset }, land.nowMs())
      await land.expectData(`/parcels?limit=${limit}&offset=${offset}`, expected)
    }
  })

  test('/marketplace can be limited to one type', async () => {
    for (const [type, name] of [
      ['parcel', 'parcels'],
      ['estate', 'estates'],
    ] as const) {
      const list = land.reference.list(name, { limit: 1000 }, land.nowMs()) as Record<string, unknown>
      const { [name]: assets, ...rest } = list
      await land.expectData(`/marketplace?asset_type=${type}&limit=1000`, { assets, ...rest })
    }
    const { data } = await land.refusal('/marketplace?asset_type=road', 400, 'invalid_parameter')
    expect(data).toEqual({ parameter: 'asset_type', value: 'road', allowed: 'one of parcel, estate' })
  })

  test('a wrong parameter is refused with its name and what is allowed', async () => {
    const number = 'a whole number from 0 to 1000'
    const wrong: [string, string, unknown, string][] = [
      ['limit', '1001', 1001, number],
      ['limit', '-1', -1, number],
      ...['1e2', 'ten', '1.0', '0x10', '%2010', '010', '-0', '%2B5', '10;', 'NaN', 'Infinity', '٣'].map(
        (text): [string, string, unknown, string] => ['limit', text, decodeURIComponent(text), number],
      ),
      ['limit', '99999999999999999999', '99999999999999999999', number],
      ['offset', '-1', -1, 'a whole number from 0 to 9007199254740991'],
      ['offset', '1e2', '1e2', 'a whole number from 0 to 9007199254740991'],
      ...['closed', 'OPEN', 'open,', ',open', 'open, sold', 'all', 'open;sold'].map(
        (text): [string, string, unknown, string] => [
          'status',
          text,
          text,
          'one or more of open, cancelled, sold, separated by commas',
        ],
      ),
      ['sort_by', 'Price', 'Price', 'one of price, created_at, block_time_updated_at, expires_at'],
      ['sort_by', '__proto__', '__proto__', 'one of price, created_at, block_time_updated_at, expires_at'],
      ['sort_order', 'up', 'up', 'one of asc, desc'],
    ]
    for (const name of NAMES) {
      for (const [parameter, text, value, allowed] of wrong) {
        const path = `${PATHS[name]}?${parameter}=${text}`
        const { data, error } = await land.refusal(path, 400, 'invalid_parameter')
        expect(data, path).toEqual({ parameter, value: decodeURIComponent(text), allowed })
        expect(error).toBe(`${parameter} is ${JSON.stringify(value)}, but must be ${allowed}.`)
      }
    }
  })

  test('a parameter given twice is refused, an unknown one is ignored', async () => {
    for (const parameter of ['limit=1', 'offset=0', 'status=open', 'sort_by=price', 'sort_order=asc']) {
      const { data } = await land.refusal(`/parcels?${parameter}&${parameter}`, 400, 'invalid_parameter')
      expect(data.parameter).toBe(parameter.split('=')[0])
    }
    const expected = land.reference.list('estates', {}, land.nowMs())
    await land.expectData('/estates?page=3&LIMIT=1&limit[]=5&__proto__=1&constructor=x&a=1&a=2&&=', expected)
  })

  test('a cursor of another order, a made-up one and an offset beside a cursor are refused', async () => {
    const cursorOf = async (path: string) => (await land.server.data<{ cursor: string }>(path)).cursor
    const cursor = await cursorOf('/parcels?limit=2&sort_by=price')
    const allowed = 'the cursor of an answer with the same sort_by and sort_order'
    for (const path of [
      `/parcels?cursor=${cursor}`,
      `/parcels?sort_by=price&sort_order=desc&cursor=${cursor}`,
      `/estates?cursor=${cursor}`,
      `/parcels?sort_by=price&cursor=${cursor.slice(1)}`,
      `/marketplace?sort_by=price&cursor=${'A'.repeat(500)}`,
      '/marketplace?cursor=%00',
    ]) {
      const { data } = await land.refusal(path, 400, 'invalid_parameter')
      expect(data, path).toMatchObject({ parameter: 'cursor', allowed })
    }
    const both = `/parcels?sort_by=price&offset=1&cursor=${cursor}`
    expect((await land.refusal(both, 400, 'invalid_parameter')).data.parameter).toBe('offset')
  })

  test('parameters of lists are refused beside an area, which is answered whole', async () => {
    for (const parameter of [
      'status=open',
      'sort_by=price',
      'sort_order=asc',
      'limit=5',
      'offset=0',
      'cursor=A',
    ]) {
      const path = `/parcels?nw=-1,1&se=1,-1&${parameter}`
      const { data } = await land.refusal(path, 400, 'invalid_parameter')
      expect(data).toEqual({
        parameter: parameter.split('=')[0],
        value: parameter.split('=')[1],
        allowed: 'left out beside nw and se, which answer all parcels of the area',
      })
    }
    await land.expectData(
      '/parcels?nw=-1,1&se=1,-1&limit=',
      land.reference.area([-1, 1], [1, -1], land.nowMs()),
    )
  })

  test('a status that is named twice counts once', async () => {
    const query = { statuses: ['sold'] as const, limit: 5 }
    await land.expectData(
      '/parcels?status=sold,sold&limit=5',
      land.reference.list('parcels', query, land.nowMs()),
    )
  })

  describe('dissolved estates', () => {
    test('answer when asked for by id, and are in no list, whatever happened to their offers', async () => {
      const dissolved = land.reference.estates.filter(({ id }) => id === '1')
      expect(dissolved).toHaveLength(1)
      const estate = await land.server.data<{ data: { parcels: unknown[] }; publication: object | null }>(
        '/estates/1',
      )
      expect(estate.data.parcels).toEqual([])
      expect(estate.publication).not.toBeNull()
      const { estates, total } = await land.server.data<{ estates: { id: string }[]; total: number }>(
        '/estates?status=open,sold,cancelled&limit=1000',
      )
      expect(estates.filter(({ id }) => id === '1')).toEqual([])
      expect(total).toBe(estates.length)
    })
  })
})

/** Equal prices written with and without decimals, equal times, one transaction with three offers, and a dissolved estate. */
function awkwardPublications({ reference, nowMs }: DemoLand): Parameters<DemoLand['change']> {
  const now = nowMs()
  const free = reference.parcels.filter(({ estate_id, owner }) => estate_id === null && owner !== null)
  const facts = [
    { price: '1000.000000000000000001' },
    { price: '1000.000000000000000002' },
    { price: '1000' },
    { price: '1000' },
    { price: '0' },
    { price: '123456789012345678901234567890.5' },
    { price: '123456789012345678901234567890.50000000000000001' },
    { tx_hash: hashOf('one transaction'), price: '999.1' },
    { tx_hash: hashOf('one transaction'), price: '999.1' },
    { tx_hash: hashOf('one transaction'), price: '999.1', asset_type: 'estate', asset_id: '2' },
    { expires_at_ms: now + 1 },
    { expires_at_ms: now },
    { created_at_ms: now + 5_000, block_time_created_at_ms: now - 9_000 },
    { created_at_ms: now + 4_000, block_time_created_at_ms: now - 8_000 },
    { expires_at_ms: now - 1 },
    { status: 'sold', block_time_updated_at_ms: null },
    { status: 'sold', block_time_updated_at_ms: now - 5 },
    { status: 'cancelled', block_time_updated_at_ms: now - 5 },
    { asset_id: '9999,0' },
    { asset_type: 'estate', asset_id: '424242' },
    { asset_type: 'estate', asset_id: '1' },
    { asset_type: 'estate', asset_id: '1', status: 'sold', block_time_updated_at_ms: now - 7 },
    { asset_type: 'estate', asset_id: '1', status: 'cancelled', block_time_updated_at_ms: now - 6 },
  ] as const
  const parcelsOfFirst = reference.parcels.filter(({ estate_id }) => estate_id === '1')
  return [
    ...facts.map((fact, i) => ({
      kind: 'open-publication' as const,
      publication: publicationRow(`awkward ${i}`, { asset_id: free[i * 3]!.id, ...fact }),
    })),
    ...parcelsOfFirst.map(({ x, y }) => ({
      kind: 'change-parcel' as const,
      x,
      y,
      to: { estate_id: null, estate_position: null },
    })),
  ]
}

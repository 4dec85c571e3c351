import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import * as land from './land.ts'
import { pages, rows } from './pages.ts'
import type { Transport } from './transport.ts'

/** A marketplace with a row for each number below `total`. */
function market(total: () => number) {
  const asked: string[] = []
  const transport: Transport = async ({ url }) => {
    asked.push(url)
    const query = new URLSearchParams(url.split('?')[1])
    const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))]
    const length = Math.max(0, Math.min(limit, total() - offset))
    const assets = Array.from({ length }, (_, i) => ({ id: offset + i }))
    const data = { assets, total: total(), limit, offset }
    return { status: 200, headers: { etag: `"${total()}"` }, body: JSON.stringify({ ok: true, data }) }
  }
  return { asked, client: createClient({ baseUrl: '', transport }) }
}

test('every row appears once and in its order, for any size of a page', async () => {
  const sizes = fc.record({ total: fc.nat(50), limit: fc.integer({ min: 1, max: 20 }) })
  await fc.assert(
    fc.asyncProperty(sizes, async ({ total, limit }) => {
      const { asked, client } = market(() => total)

      const found: { readonly id: string }[] = []
      for await (const row of rows(client, (page) => land.marketplace(page), { limit })) found.push(row)

      expect(found.map(({ id }) => Number(id))).toEqual(Array.from({ length: total }, (_, i) => i))
      expect(asked.length).toBe(Math.max(1, Math.ceil(total / limit)))
    }),
    { seed: 1, numRuns: 200 },
  )
})

test('the next page is asked for by cursor where the list has one', async () => {
  const asked: string[] = []
  const transport: Transport = async ({ url }) => {
    asked.push(url)
    const data = {
      assets: [{ id: asked.length }],
      total: 1,
      limit: 1,
      offset: 7,
      cursor: asked.length < 3 ? 'Ab-_' : null,
    }
    return { status: 200, headers: {}, body: JSON.stringify({ ok: true, data }) }
  }

  const found: unknown[] = []
  const client = createClient({ baseUrl: '', transport })
  for await (const row of rows(client, (page) => land.marketplace(page), { limit: 1 })) found.push(row)

  expect(found).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  expect(asked).toEqual([
    '/v1/marketplace?limit=1',
    '/v1/marketplace?limit=1&cursor=Ab-_',
    '/v1/marketplace?limit=1&cursor=Ab-_',
  ])
})

test('a page is requested when the caller reads it', async () => {
  const { asked, client } = market(() => 100)

  for await (const { data } of pages(client, (page) => land.marketplace({ sort_by: 'price', ...page }), {
    limit: 10,
  }))
    if (data.offset === 10) break

  expect(asked).toEqual([
    '/v1/marketplace?sort_by=price&limit=10',
    '/v1/marketplace?sort_by=price&limit=10&offset=10',
  ])
})

test.each([0, -1, 0.5, 1001, Number.NaN, Number.POSITIVE_INFINITY])(
  'a limit of %d is refused before anything is asked',
  async (limit) => {
    const { asked, client } = market(() => 3)

    const first = rows(client, (page) => land.marketplace(page), { limit }).next()

    await expect(first).rejects.toThrow(RangeError)
    await expect(first).rejects.toThrow(`from 1 to 1000, and is ${limit}`)
    expect(asked).toEqual([])
  },
)

test.each([
  ['an empty page', { assets: [], total: 100, limit: 10, offset: 0 }],
  ['a page without a total', { assets: [{ id: '1' }], limit: 10, offset: 0 }],
])('%s is the last one', async (_, data) => {
  let asked = 0
  const transport: Transport = async () => {
    if (++asked > 5) throw new Error('asked again and again')
    return { status: 200, headers: {}, body: JSON.stringify({ ok: true, data }) }
  }
  const found: unknown[] = []

  for await (const row of rows(createClient({ baseUrl: '', transport }), (page) => land.marketplace(page), {
    limit: 1,
  }))
    found.push(row)

  expect(found).toEqual(data.assets)
  expect(asked).toBe(1)
})

test('a list that shrinks between two pages ends, and its ETags differ', async () => {
  let total = 30
  const { client } = market(() => total)
  const etags: unknown[] = []

  for await (const { etag } of pages(client, (page) => land.marketplace(page), { limit: 10 })) {
    etags.push(etag)
    total = 15
  }

  expect(etags).toEqual(['"30"', '"15"'])
})

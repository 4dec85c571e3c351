import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { hashOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { exactly } from '@landpass/server/test/support/run/exact-values'
import { expectSame } from '@landpass/server/test/support/run/expect-same'
import { runs } from '@landpass/server/test/support/run/property-seed'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

const STATUSES = ['open', 'sold', 'cancelled'] as const
const SORTS = ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const
const OFFERS = 90

describeOnOneEngine('paging', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
    await land.change(...Array.from({ length: OFFERS }, (_, i) => tiedOffer(land.nowMs(), i)))
  })
  afterAll(() => land.server.close())

  test('all pages together have every row once, in the order of the whole list', async () => {
    const list = fc.record({
      path: fc.constantFrom('/parcels', '/estates', '/marketplace'),
      statuses: fc.subarray([...STATUSES], { minLength: 1 }),
      sortBy: fc.constantFrom(...SORTS),
      sortOrder: fc.constantFrom('', '&sort_order=asc', '&sort_order=desc'),
      pageSize: fc.integer({ min: 1, max: 60 }),
    })
    await fc.assert(
      fc.asyncProperty(list, async ({ path, statuses, sortBy, sortOrder, pageSize }) => {
        const query = `${path}?status=${statuses}&sort_by=${sortBy}${sortOrder}`
        const whole = await page(`${query}&limit=1000`)
        expect(whole.total).toBe(whole.rows.length)
        const walked: unknown[] = []
        for (let offset = 0; offset === 0 || offset < whole.rows.length; offset += pageSize) {
          const { rows, total } = await page(`${query}&limit=${pageSize}&offset=${offset}`)
          expect(total).toBe(whole.total)
          expect(rows.length).toBe(Math.min(pageSize, Math.max(whole.rows.length - offset, 0)))
          walked.push(...rows)
        }
        expectSame(walked, whole.rows, query)
        const names = whole.rows.map(({ publication }) => JSON.stringify(publication))
        expect(new Set(names).size).toBe(names.length)
      }),
      { numRuns: runs(25), endOnFailure: true },
    )
  })

  test.each(
    SORTS.flatMap((sortBy) => (['asc', 'desc'] as const).map((sortOrder) => ({ sortBy, sortOrder }))),
  )('by cursor, a row that stays comes once while land changes: $sortBy $sortOrder', async (order) => {
    const query = `/marketplace?status=open,sold&sort_by=${order.sortBy}&sort_order=${order.sortOrder}`
    const before = await wholeList(query)
    const walked: string[] = []
    let changes = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next = await page(`${query}&limit=37&cursor=${cursor}`)
      expect(next.offset).toBe(await placeOf(query, next.rows[0]!))
      walked.push(...next.rows.map(textOf))
      cursor = next.cursor
      await land.change(
        ...changesAtBothEnds(`${order.sortBy} ${order.sortOrder} ${changes++}`),
        ...leaving(next.rows),
      )
    }
    expect(changes).toBeGreaterThan(3)
    const after = new Set(await wholeList(query))
    const stayed = before.filter((row) => after.has(row))
    expect(stayed.length).toBeLessThan(before.length)
    expect(new Set(walked).size).toBe(walked.length)
    expect(walked.filter((row) => stayed.includes(row))).toEqual(stayed)
  })

  /** New first and last rows of every order. */
  function changesAtBothEnds(name: string): Parameters<DemoLand['change']> {
    const now = land.nowMs()
    return [
      { price: '0.1', block_time_created_at_ms: 1_600_000_000_000, expires_at_ms: now + 1 },
      { price: '1000000000', block_time_created_at_ms: now, expires_at_ms: now + 9e11 },
    ].flatMap((facts, i) => [
      { kind: 'open-publication', publication: publicationRow(`${name} ${i}`, facts) } as const,
      {
        kind: 'open-publication',
        publication: publicationRow(`${name} ${i} sold`, {
          ...facts,
          status: 'sold',
          block_time_updated_at_ms: i === 0 ? 1_600_000_000_000 : now,
        }),
      } as const,
    ])
  }

  /** The first row of a page and its last one, whose place the cursor names, leave the list. */
  function leaving(rows: readonly Row[]): Parameters<DemoLand['change']> {
    const ids = new Set([rows[0], rows.at(-1)].map((row) => row?.publication.contract_id))
    return land.reference.publications
      .filter(({ shown }) => ids.has(shown.contract_id))
      .map(({ key }) => ({ kind: 'remove-publication', key }) as const)
  }

  async function wholeList(query: string): Promise<string[]> {
    const { rows, cursor } = await page(`${query}&limit=1000`)
    expect(cursor).toBeNull()
    return rows.map(textOf)
  }

  async function placeOf(query: string, row: Row): Promise<number> {
    return (await wholeList(query)).indexOf(textOf(row))
  }

  async function page(path: string): Promise<Page> {
    const { data } = exactly((await land.server.get(path)).text) as { data: Record<string, unknown> }
    const { parcels, estates, assets, total, offset, cursor } = data
    return {
      rows: (parcels ?? estates ?? assets) as never,
      total: Number(String(total).replace('number ', '')),
      offset: Number(String(offset).replace('number ', '')),
      cursor: cursor as string | null,
    }
  }
})

interface Row {
  readonly publication: { readonly contract_id: string }
}

interface Page {
  readonly rows: Row[]
  readonly total: number
  readonly offset: number
  readonly cursor: string | null
}

const textOf = ({ publication }: Row) => JSON.stringify(publication)

/** One of three prices, two times of everything, and every second one of a transaction that made four. */
function tiedOffer(now: number, i: number): Parameters<DemoLand['change']>[number] {
  const status = STATUSES[i % 3]!
  const closedAtMs = i % 4 === 0 ? null : now - 1_000 * (i % 2)
  return {
    kind: 'open-publication',
    publication: publicationRow(`tied ${i}`, {
      status,
      price: ['10', '10.5', '9.999999999999999999'][i % 5 === 0 ? 0 : i % 3]!,
      tx_hash: hashOf(i % 2 ? `tied ${i}` : `tied by ${Math.floor(i / 8)}`),
      block_time_created_at_ms: now - 10_000 * (1 + (i % 2)),
      block_time_updated_at_ms: status === 'open' ? null : closedAtMs,
      expires_at_ms: now + 1_000_000 * (1 + (i % 2)),
      ...(i % 7 === 0 ? { asset_type: 'estate', asset_id: '2' } : { asset_id: `${(i % 9) - 4},0` }),
    }),
  }
}

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoLand, startDemoLand } from '../support/demo-land.ts'
import { describeOnOneEngine } from '../support/engines.ts'
import { exactly } from '../support/exact-values.ts'
import { hashOf, publicationRow } from '../support/land-rows.ts'
import { runs } from '../support/property-seed.ts'

const STATUSES = ['open', 'sold', 'cancelled'] as const
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
      sortBy: fc.constantFrom('price', 'created_at', 'block_time_updated_at', 'expires_at'),
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
        expect(walked).toEqual(whole.rows)
        const names = whole.rows.map(({ publication }) => JSON.stringify(publication))
        expect(new Set(names).size).toBe(names.length)
      }),
      { numRuns: runs(40), endOnFailure: true },
    )
  })

  async function page(path: string): Promise<{ rows: { publication: unknown }[]; total: number }> {
    const { data } = exactly((await land.server.get(path)).text) as { data: Record<string, unknown> }
    const { parcels, estates, assets, total } = data
    return {
      rows: (parcels ?? estates ?? assets) as never,
      total: Number(String(total).replace('number ', '')),
    }
  }
})

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

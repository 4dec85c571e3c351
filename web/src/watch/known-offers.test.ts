import type { LandRow } from '@landpass/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterAnswer, afterChange, afterSeen, type Findings, KNOWN_ROWS } from './known-offers.ts'

const UNREAD: Findings = { known: undefined, news: [] }
const row = (id: string, listedAt: number) =>
  ({ asset_type: 'parcel', asset_id: id, offer: { listed_at: listedAt } }) as unknown as LandRow
const bare = (id: string) => ({ asset_type: 'parcel', asset_id: id }) as unknown as LandRow
const rented = (id: string, listedAt: number, offer?: object) =>
  ({ ...bare(id), offer, rental_offer: { listed_at: listedAt } }) as unknown as LandRow
const ids = ({ news }: Findings) => news.map(({ asset_id: id }) => id)

test('what a search finds at first is known; a later offer, also for the same land, is new until it is seen', () => {
  const first = afterAnswer(UNREAD, [row('1,1', 20), row('2,2', 10)])
  const later = afterAnswer(first, [row('2,2', 30), row('3,3', 25), row('1,1', 20)])

  expect(ids(first)).toEqual([])
  expect(ids(later)).toEqual(['2,2', '3,3'])
  expect(ids(afterAnswer(afterSeen(later), [row('2,2', 30), row('3,3', 25)]))).toEqual([])
})

test('an event adds what is new, and removes what does not match any more', () => {
  const known = afterAnswer(UNREAD, [row('1,1', 20)])
  const begun = afterChange(known, event({ began: [row('2,2', 30), row('1,1', 20)] }))
  const changed = afterChange(begun, event({ changed: [row('2,2', 40)] }))

  expect([ids(begun), ids(changed)]).toEqual([['2,2'], ['2,2']])
  expect(changed.news[0]?.offer?.listed_at).toBe(40)
  expect(ids(afterChange(changed, event({ ceased: ['2,2'] })))).toEqual([])
})

test('the end of an offer is no news, also where an older one is left', () => {
  const known = afterAnswer(UNREAD, [rented('2,2', 20, { listed_at: 10 }), row('1,1', 5)])

  expect(ids(afterAnswer(known, [row('2,2', 10), bare('1,1')]))).toEqual([])
  expect(ids(afterChange(known, event({ changed: [row('2,2', 10), bare('1,1')] })))).toEqual([])
})

test('land that is put up for rent is news, and again after it was let', () => {
  const known = afterAnswer(UNREAD, [bare('1,1')])
  const offered = afterChange(known, event({ changed: [rented('1,1', 30)] }))
  const letOut = afterChange(afterSeen(offered), event({ ceased: ['1,1'] }))

  expect(ids(offered)).toEqual(['1,1'])
  expect(ids(afterAnswer(known, [rented('1,1', 30)]))).toEqual(['1,1'])
  expect(ids(afterChange(letOut, event({ began: [rented('1,1', 40)] })))).toEqual(['1,1'])
})

test('land without an offer is news where it is new to the search', () => {
  const known = afterAnswer(UNREAD, [row('1,1', 20)])

  expect(ids(afterAnswer(known, [row('1,1', 20), bare('2,2')]))).toEqual(['2,2'])
})

test.each([
  ['offers to buy', row],
  ['offers to rent', rented],
  ['land without offers', bare],
])('%s: older rows that move up among the newest, because newer ones ceased, are no news', (_, offered) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: KNOWN_ROWS }), (ceased) => {
      const all = Array.from({ length: 2 * KNOWN_ROWS }, (_, i) => offered(`${i},0`, 1000 - i))
      const known = afterAnswer(UNREAD, all.slice(0, KNOWN_ROWS))

      expect(ids(afterAnswer(known, all.slice(ceased, ceased + KNOWN_ROWS)))).toEqual([])
    }),
    { seed: 7, numRuns: 20 },
  )
})

function event(lists: object) {
  return { kind: 'change', began: [], changed: [], ceased: [], ...lists } as unknown as Parameters<
    typeof afterChange
  >[1]
}

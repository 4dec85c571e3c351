import { expect, test } from 'vitest'
import { monthPoints, pricedRuns } from './month-points.ts'

const month = (key: string, median: string | null) => ({
  key,
  sales: {
    ...{ count: median === null ? 0 : 2, parcels: 2, volume: '0' },
    per_parcel: { min: median, p25: median && '5', median, p75: median && '20.5', max: median },
  },
})

test('months keep their times in UTC and their quartiles, and a month without sales ends the line', () => {
  const points = monthPoints([month('2025-11', '9'), month('2025-12', null), month('2026-01', '10.25')])

  expect(points).toEqual([
    { timeMs: Date.UTC(2025, 10), count: 2, prices: { low: 5, median: 9, high: 20.5 } },
    { timeMs: Date.UTC(2025, 11), count: 0, prices: undefined },
    { timeMs: Date.UTC(2026, 0), count: 2, prices: { low: 5, median: 10.25, high: 20.5 } },
  ])
  expect(pricedRuns(points)).toEqual([[points[0]], [points[2]]])
  expect(pricedRuns(points.toSpliced(1, 1))).toEqual([[points[0], points[2]]])
  expect(pricedRuns([])).toEqual([])
})

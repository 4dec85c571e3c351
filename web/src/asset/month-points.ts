import type { StatGroup } from '@landpass/client'

/** The sales of a month, by the parcel. Prices are undefined where nothing of known size was sold. */
export interface MonthPoint {
  /** When the month begins, in UTC. */
  readonly timeMs: number
  readonly count: number
  readonly prices: { readonly low: number; readonly median: number; readonly high: number } | undefined
}

/** @param groups of `/v2/stats?by=month` */
export function monthPoints(groups: readonly Pick<StatGroup, 'key' | 'sales'>[]): readonly MonthPoint[] {
  return groups.map(({ key, sales: { count, per_parcel } }) => {
    const { p25: low, median, p75: high } = per_parcel
    const prices =
      low === null || median === null || high === null
        ? undefined
        : { low: Number(low), median: Number(median), high: Number(high) }
    return { timeMs: Date.parse(`${key}-01`), count, prices }
  })
}

/** A month with prices. */
export type PricedMonth = MonthPoint & { readonly prices: NonNullable<MonthPoint['prices']> }

/**
 * The months with prices, those that follow each other together: a line over a month without sales would say what nobody paid.
 *
 * @param points one for each month, in order
 */
export function pricedRuns(points: readonly MonthPoint[]): readonly (readonly PricedMonth[])[] {
  const runs: PricedMonth[][] = []
  for (const [i, point] of points.entries()) {
    if (!isPriced(point)) continue
    const before = points[i - 1]
    if (before && isPriced(before)) runs.at(-1)!.push(point)
    else runs.push([point])
  }
  return runs
}

function isPriced(point: MonthPoint): point is PricedMonth {
  return point.prices !== undefined
}

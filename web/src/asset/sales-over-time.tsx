import { land } from '@landpass/client'
import { useAnswer } from '../live/use-answer.ts'
import type { SalesProps } from '../state/sale-filter.ts'
import { formatComputedPrice, formatMonth, formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { AssetSection } from './asset-section.tsx'
import { type MonthPoint, monthPoints } from './month-points.ts'
import { SalesChart } from './sales-chart.tsx'

/** What was paid for a parcel, and how many sales there were, month by month: as a chart and as a table. */
export function SalesOverTime({ query }: SalesProps) {
  const answer = useAnswer(land.stats({ ...query, by: 'month' }))
  return (
    <AssetSection title={text('sales.over_time')} answer={answer}>
      {({ groups }) => {
        const points = monthPoints(groups)
        if (!points.some(({ prices }) => prices)) return <p class="hint">{text('district.no_sales')}</p>
        return (
          <>
            <SalesChart points={points} />
            <details>
              <summary>{text('publication.table')}</summary>
              <MonthTable points={points} />
            </details>
          </>
        )
      }}
    </AssetSection>
  )
}

/** The months with sales, the newest first. */
function MonthTable({ points }: { readonly points: readonly MonthPoint[] }) {
  const sold = points.filter(({ count }) => count > 0).reverse()
  return (
    <table class="history-table">
      <thead>
        <tr>
          <th scope="col">{text('sales.month')}</th>
          <th scope="col" class="number">
            {text('district.sold')}
          </th>
          <th scope="col" class="number">
            {text('sales.median')}
          </th>
          <th scope="col" class="number">
            {text('sales.middle_half')}
          </th>
        </tr>
      </thead>
      <tbody>
        {sold.map(({ timeMs, count, prices }) => (
          <tr key={timeMs}>
            <th scope="row">{formatMonth(timeMs)}</th>
            <td class="number">{formatNumber(count)}</td>
            <td class="number">{prices ? formatComputedPrice(prices.median) : '–'}</td>
            <td class="number">{prices ? middleHalf(prices) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Between which prices the middle half of the sales lies, in MANA. */
function middleHalf({ low, high }: NonNullable<MonthPoint['prices']>): string {
  return text('map.legend.price_range', { from: shortened(low), to: shortened(high) })
}

function shortened(mana: number): string {
  return formatNumber(mana, { maximumFractionDigits: mana < 100 ? 2 : 0 })
}

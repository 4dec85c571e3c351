import { land } from '@landpass/client'
import { AssetSection } from '../asset/asset-section.tsx'
import { SalesOverTime } from '../asset/late-sales-over-time.ts'
import { hasSales, Market } from '../asset/market.tsx'
import { SaleLine, saleKey } from '../asset/sale-line.tsx'
import { groupText } from '../filter/filter-texts.ts'
import { useAnswer } from '../live/use-answer.ts'
import { landFilter } from '../state/explore-state.ts'
import { otherGroups, saleQuery } from '../state/sale-filter.ts'
import { text } from '../texts/texts.ts'

const NEWEST_SALES = 20

/** The sales of the land that the filters keep: over time, and the newest of them as they happen. */
export function SalesList() {
  const filter = landFilter.value
  const query = saleQuery(filter)
  const stats = useAnswer(land.stats(query))
  const newest = useAnswer(land.sales({ ...query, limit: NEWEST_SALES }))
  const others = otherGroups(filter)
  return (
    <div class="sales-list">
      {others.length > 0 && (
        <p class="hint">
          {text('sales.other_filters', {
            names: others.map((group) => groupText(group, filter, undefined)).join(', '),
          })}
        </p>
      )}
      {hasSales(stats.data) && <SalesOverTime query={query} />}
      <AssetSection title={text('district.market')} answer={stats}>
        {({ groups: [total] }) => total && <Market total={total} />}
      </AssetSection>
      <AssetSection title={text('district.sales')} answer={newest}>
        {({ sales }) =>
          sales.length === 0 ? (
            <p class="hint">{text('district.no_sales')}</p>
          ) : (
            <div role="log" aria-label={text('district.sales')}>
              <ul class="deals">
                {sales.map((sale) => (
                  <SaleLine key={saleKey(sale)} sale={sale} />
                ))}
              </ul>
            </div>
          )
        }
      </AssetSection>
    </div>
  )
}

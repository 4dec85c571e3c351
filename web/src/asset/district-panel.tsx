import { land } from '@landpass/client'
import { batch } from '@preact/signals'
import { useAnswer } from '../live/use-answer.ts'
import { landFilter } from '../state/explore-state.ts'
import { chosen } from '../state/layers.ts'
import { showFound } from '../state/travel.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { AssetFrame } from './asset-frame.tsx'
import { AssetSection } from './asset-section.tsx'
import { Description } from './description.tsx'
import { Fact, Facts } from './facts.tsx'
import { Folded } from './folded.tsx'
import { SalesOverTime } from './late-sales-over-time.ts'
import { hasSales, Market } from './market.tsx'
import { SaleLine, saleKey } from './sale-line.tsx'

export interface DistrictPanelProps {
  readonly id: string
  onClose(): void
}

const NEWEST_SALES = 10

/** A district: what is for sale there, what was sold, and a way to the list of its land. */
export function DistrictPanel({ id, onClose }: DistrictPanelProps) {
  const stats = useAnswer(land.stats({ district: id }))
  const sales = useAnswer(land.sales({ district: id, limit: NEWEST_SALES }))
  const { data, ...state } = chosen.state.value
  const district = data?.id === id ? data : undefined
  return (
    <AssetFrame
      kind={text('asset.district')}
      title={district === undefined ? '…' : withoutTurns(district.name)}
      answer={{ ...state, data: district, retry: () => chosen.refresh() }}
      missing={text('error.district_not_found')}
      onClose={onClose}
    >
      {({ description, parcel_count: count }) => (
        <>
          <Description value={description} />
          <Facts>
            <Fact name={text('asset.size')}>
              {text('map.parcels', { count: formatNumber(Number(count)) })}
            </Fact>
          </Facts>
          <button type="button" onClick={() => showLandOf(id)}>
            {text('district.show_land')}
          </button>
          <AssetSection title={text('district.market')} answer={stats}>
            {({ groups: [total] }) => total && <Market total={total} />}
          </AssetSection>
          {hasSales(stats.data) && <SalesOverTime query={{ district: id }} />}
          <AssetSection title={text('district.sales')} answer={sales}>
            {(page) => (
              <Folded items={page.sales} none={text('district.no_sales')}>
                {(sale) => <SaleLine key={saleKey(sale)} sale={sale} />}
              </Folded>
            )}
          </AssetSection>
        </>
      )}
    </AssetFrame>
  )
}

/** Keeps the land of the district, with whatever other filters are on, and lists it. */
function showLandOf(id: string): void {
  batch(() => {
    landFilter.value = { ...landFilter.peek(), in_district: id }
    showFound()
  })
}

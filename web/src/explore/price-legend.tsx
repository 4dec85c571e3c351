import type { ComponentChildren } from 'preact'
import { ChainOffersHint } from '../asset/chain-offers-hint.tsx'
import { landFilter } from '../state/explore-state.ts'
import { withoutGroup } from '../state/land-filter.ts'
import { inDollars, offers, paid, paidSteps, steps } from '../state/layers.ts'
import type { PriceStep } from '../state/price-steps.ts'
import { showSales } from '../state/travel.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { Swatch } from './swatch.tsx'

/** The price range of each colour, and the number of offers in it. */
export function PriceLegend() {
  const { error } = offers.state.value
  if (error && !steps.value) return <Failure error={error} onRetry={() => offers.refresh()} />
  if (!steps.value) return <Loading label={text('map.legend.prices_loading')} />
  const dollars = inDollars.value?.total ?? 0
  if (steps.value.length === 0 && dollars === 0) return <p>{text('map.legend.nothing_on_sale')}</p>
  return (
    <>
      <StepTable title={text('map.layer.by_price')} counted={text('map.legend.offers')} steps={steps.value}>
        {(step) => <StepButton step={step} />}
      </StepTable>
      <p class="hint">{text('map.legend.price_of_estates')}</p>
      {dollars > 0 && <p class="hint">{text('map.legend.dollars', { count: dollars })}</p>}
      <ChainOffersHint />
    </>
  )
}

/** What was paid: the price range of each colour, and the number of parcels in it. */
export function PaidLegend() {
  const { error } = paid.state.value
  if (error && !paidSteps.value) return <Failure error={error} onRetry={() => paid.refresh()} />
  if (!paidSteps.value) return <Loading label={text('map.legend.prices_loading')} />
  if (paidSteps.value.length === 0) return <p>{text('district.no_sales')}</p>
  return (
    <>
      <StepTable
        title={text('map.layer.by_sales')}
        counted={text('asset.parcel.many')}
        steps={paidSteps.value}
      >
        {(step) => (
          <>
            <Swatch ink={step.ink} />
            {rangeText(step)}
          </>
        )}
      </StepTable>
      <p class="hint">{text('map.legend.paid')}</p>
      <p>
        <button type="button" onClick={showSales}>
          {text('sales.over_time')}
        </button>
      </p>
    </>
  )
}

interface StepTableProps {
  readonly title: string
  /** What the numbers count. */
  readonly counted: string
  readonly steps: readonly PriceStep[]
  /** The head of a row. */
  readonly children: (step: PriceStep) => ComponentChildren
}

function StepTable({ title, counted, steps, children }: StepTableProps) {
  return (
    <table class="price-legend">
      <caption class="visually-hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{text('map.legend.price_per_parcel')}</th>
          <th scope="col" class="number">
            {counted}
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={step.ink}>
            <th scope="row">{children(step)}</th>
            <td class="number">{formatNumber(step.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Filters by the prices of a step; pressed again, not any more. */
function StepButton({ step }: { readonly step: PriceStep }) {
  const prices = pricesOf(step)
  const filter = landFilter.value
  const isOn = Object.entries(prices).every(([name, value]) => filter[name as keyof typeof prices] === value)
  const toggle = () => {
    const others = withoutGroup(filter, 'price_per_parcel')
    landFilter.value = isOn ? others : { ...others, status: 'open', ...prices }
  }
  return (
    <button type="button" class="quiet price-step" aria-pressed={isOn} onClick={toggle}>
      <Swatch ink={step.ink} />
      {rangeText(step)}
    </button>
  )
}

/** The limits as they are shown, rounded away from each other so that every price of the step is kept. */
function pricesOf({ from, to }: PriceStep) {
  const scale = to < 100 ? 100 : 1
  return {
    min_price_per_parcel: `${Math.floor(from * scale) / scale}`,
    max_price_per_parcel: `${Math.ceil(to * scale) / scale}`,
  }
}

/** Whole numbers from 100 on: beside thousands, decimals are noise. Smaller prices keep two decimals. */
function rangeText({ from, to }: PriceStep): string {
  const rounding = { maximumFractionDigits: to < 100 ? 2 : 0 }
  const values = { from: formatNumber(from, rounding), to: formatNumber(to, rounding) }
  return values.from === values.to ? values.to : text('map.legend.price_range', values)
}

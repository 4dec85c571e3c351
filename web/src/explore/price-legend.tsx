import { ChainOffersHint } from '../asset/chain-offers-hint.tsx'
import { landFilter } from '../state/explore-state.ts'
import { withoutGroup } from '../state/land-filter.ts'
import { offers, steps } from '../state/layers.ts'
import type { PriceStep } from '../state/price-steps.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { Swatch } from './swatch.tsx'

/** The price range of each colour, and the number of offers in it. */
export function PriceLegend() {
  const { error } = offers.state.value
  if (error && !steps.value) return <Failure error={error} onRetry={() => offers.refresh()} />
  if (!steps.value) return <Loading label={text('map.legend.prices_loading')} />
  if (steps.value.length === 0) return <p>{text('map.legend.nothing_on_sale')}</p>
  return (
    <>
      <table class="price-legend">
        <caption class="visually-hidden">{text('map.layer.by_price')}</caption>
        <thead>
          <tr>
            <th scope="col">{text('map.legend.price_per_parcel')}</th>
            <th scope="col" class="number">
              {text('map.legend.offers')}
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.value.map((step) => (
            <tr key={step.ink}>
              <th scope="row">
                <StepButton step={step} />
              </th>
              <td class="number">{formatNumber(step.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">{text('map.legend.price_of_estates')}</p>
      <ChainOffersHint />
    </>
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

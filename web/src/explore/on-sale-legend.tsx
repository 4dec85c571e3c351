import { ChainOffersHint } from '../asset/chain-offers-hint.tsx'
import { worldGrid } from '../live/world.ts'
import { ON_SALE_INK } from '../map/inks.ts'
import { landFilter } from '../state/explore-state.ts'
import { withoutGroup } from '../state/land-filter.ts'
import { holdingsOf, inkedCells } from '../state/layer-inks.ts'
import { onSale } from '../state/layers.ts'
import { text } from '../texts/texts.ts'
import { Swatch } from './swatch.tsx'

/** How many parcels are painted, and how many offers they are: an estate is sold as a whole. A press filters by them. */
export function OnSaleLegend() {
  const [grid, inks] = [worldGrid.value, onSale.value]
  if (!grid || !inks) return null
  const cells = inkedCells(inks)
  if (cells.length === 0) {
    return (
      <>
        <p>{text('map.legend.nothing_on_sale')}</p>
        <ChainOffersHint />
      </>
    )
  }
  const { parcels, estates } = holdingsOf(grid, cells)
  const filter = landFilter.value
  const isOn = filter.status === 'open'
  const toggle = () => {
    landFilter.value = isOn ? withoutGroup(filter, 'status') : { ...filter, status: 'open' }
  }
  return (
    <>
      <button type="button" class="quiet legend-line" aria-pressed={isOn} onClick={toggle}>
        <Swatch ink={ON_SALE_INK} />
        {text('map.legend.on_sale', { count: cells.length })}
      </button>
      <p class="hint">{text('map.legend.offers_on_sale', { count: parcels + estates })}</p>
      <ChainOffersHint />
    </>
  )
}

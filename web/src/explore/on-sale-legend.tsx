import { ON_SALE_INK } from '../map/inks.ts'
import { countInked } from '../state/layer-inks.ts'
import { inks } from '../state/layers.ts'
import { text } from '../texts/texts.ts'
import { Swatch } from './swatch.tsx'

export function OnSaleLegend() {
  if (!inks.value) return null
  const count = countInked(inks.value)
  if (count === 0) return <p>{text('map.legend.nothing_on_sale')}</p>
  return (
    <p class="legend-line">
      <Swatch ink={ON_SALE_INK} />
      {text('map.legend.on_sale', { count })}
    </p>
  )
}

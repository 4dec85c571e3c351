import { MAP_PALETTES } from '../map/map-palette.ts'
import { layer } from '../state/explore-state.ts'
import { text } from '../texts/texts.ts'
import { theme } from '../theme.ts'

/** The colours of the ground, which are seen where the layer paints nothing. */
export function GroundLegend() {
  const [, unowned, owned, district, road, plaza] = MAP_PALETTES[theme.value].kinds
  const kinds = [
    [plaza, text('asset.plaza')],
    [road, text('asset.road')],
    // This layer paints all districts in a colour of its own, which its legend has already.
    ...(layer.value === 'districts' ? [] : [[district, text('asset.district')] as const]),
    [owned, text('map.legend.owned')],
    [unowned, text('asset.unowned')],
  ] as const
  return (
    <ul class="ground-legend">
      {kinds.map(([colour, name]) => (
        <li key={name}>
          <span class="swatch" aria-hidden="true" style={{ background: colour }} />
          {name}
        </li>
      ))}
    </ul>
  )
}

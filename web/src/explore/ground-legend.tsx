import { MAP_PALETTES } from '../map/map-palette.ts'
import { text } from '../texts/texts.ts'
import { theme } from '../theme/theme.ts'

/** What the land itself looks like, below whatever a layer paints. */
export function GroundLegend() {
  const [, unowned, owned, district, road, plaza] = MAP_PALETTES[theme.value].kinds
  const kinds = [
    [plaza, text('asset.plaza')],
    [road, text('asset.road')],
    [district, text('asset.district')],
    [owned, text('map.legend.owned')],
    [unowned, text('asset.unowned')],
  ]
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

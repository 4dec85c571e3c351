import { MAP_PALETTES } from '../map/map-palette.ts'
import { theme } from '../theme.ts'

/** A square in the colour that an ink has on the map. */
export function Swatch({ ink }: { readonly ink: number }) {
  return (
    <span class="swatch" aria-hidden="true" style={{ background: MAP_PALETTES[theme.value].inks[ink] }} />
  )
}

import { land } from '@landpass/client'
import { client } from '../api/client.ts'
import type { Selection } from '../state/explore-state.ts'
import type { Theme } from '../theme.ts'

export interface ImageSize {
  readonly widthPx: number
  readonly heightPx: number
}

/** Side of a parcel; an estate that does not fit is drawn smaller. */
const PARCEL_PX = 20

/** The address of the map with this selected. */
export function assetLink(origin: string, selection: Selection): string {
  return selection.type === 'parcel'
    ? `${origin}/?parcel=${selection.x},${selection.y}`
    : `${origin}/?estate=${encodeURIComponent(selection.id)}`
}

/** The address of the picture of the map around it (docs/map.md). */
export function imagePath(selection: Selection, { widthPx, heightPx }: ImageSize, theme: Theme): string {
  const style = { width: widthPx, height: heightPx, size: PARCEL_PX, theme }
  return client.url(
    selection.type === 'parcel' ? land.parcelImage(selection, style) : land.estateImage(selection.id, style),
  )
}

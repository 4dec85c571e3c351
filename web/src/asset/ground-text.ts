import { worldChange, worldGrid } from '../live/world.ts'
import type { Place } from '../map/map-types.ts'
import { type TextKey, text } from '../texts/texts.ts'

const KINDS: Readonly<Record<string, TextKey>> = {
  owned: 'asset.parcel',
  unowned: 'asset.unowned',
  road: 'asset.road',
  plaza: 'asset.plaza',
  district: 'asset.district_land',
}

/** Whether a parcel is land, road or plaza. Taken from the grid: no answer about a parcel says it. */
export function groundText({ x, y }: Place): string {
  void worldChange.value // the grid changes in place
  const type = worldGrid.value?.tileAt(x, y).type ?? 'owned'
  return text(KINDS[type] ?? 'asset.parcel')
}

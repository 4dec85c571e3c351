import type { FeedGrid, FeedTile } from '@landpass/client/feed'
import type { Place } from '../map/map-types.ts'
import { onSale } from '../state/layers.ts'
import { language, type TextKey, text } from '../texts/texts.ts'

const KINDS: Readonly<Record<Exclude<FeedTile['type'], 'outside'>, TextKey>> = {
  unowned: 'asset.unowned',
  owned: 'asset.parcel',
  district: 'asset.district',
  road: 'asset.road',
  plaza: 'asset.plaza',
}

/** A place in a few words for screen readers: `12,-34, Estate #7, For sale`. */
export function placeDescription(grid: FeedGrid, { x, y }: Place): string {
  const { type, estate } = grid.tileAt(x, y)
  const words = [`${x},${y}`]
  if (estate !== undefined) words.push(`${text('asset.estate')} #${estate}`)
  else if (type !== 'outside') words.push(text(KINDS[type]))
  if (onSale.peek()?.[grid.cellAt(x, y)]) words.push(text('map.layer.on_sale'))
  return new Intl.ListFormat(language.value, { type: 'unit' }).format(words)
}

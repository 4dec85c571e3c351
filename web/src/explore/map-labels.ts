import { type District, type LandPage, land } from '@landpass/client'
import type { FeedGrid } from '@landpass/client/feed'
import { computed, effect, untracked } from '@preact/signals'
import { send } from '../api/client.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { type WorldChange, worldChange, worldGrid } from '../live/world.ts'
import { LabelLayer, type MapLabels } from '../map/label-layer.ts'
import type { MapLabel } from '../map/label-placement.ts'
import type { WorldMapProps } from '../map/map-parts.ts'
import type { Place } from '../map/map-types.ts'
import { estateMiddles, plazaMiddles } from '../state/land-middles.ts'
import { dollarRows, offers, worldNumber } from '../state/layers.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatShortPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { type CellPrice, cellPrices } from './cell-prices.ts'

/** The estates that have names on the map: those of at least so many parcels, the largest first. */
const LARGE_ESTATES = {
  asset_type: 'estate',
  min_size: 4,
  sort_by: 'size',
  sort_order: 'desc',
  limit: 400,
} as const
/** Longer names end in an ellipsis. */
const MOST_LETTERS = 24
/** How much of an owner's address is shown: `0x12ab`. */
const OWNER_LETTERS = 6
/** From this zoom on, in CSS pixels a parcel, it says where it is and whose, besides its price. */
const ALL_LINES_ZOOM = 60

const districts = new LiveAnswer<readonly District[]>(send)
const estates = new LiveAnswer<LandPage>(send)

/** The names and prices on the map; undefined before there is a world. */
const labels = computed<MapLabels | undefined>(() => {
  const names = [...districtNames.value, ...plazaNames.value, ...estateNames.value]
  const prices = shownPrices.value
  void worldChange.value // the grid changes in place
  const grid = worldGrid.value
  return grid && { names, linesOn: (place, zoom) => linesOn(grid, prices, place, zoom) }
})

/** What the map needs to write names and prices. */
export const letters: NonNullable<WorldMapProps['letters']> = {
  labels,
  makeLayer: (canvas, palette) => new LabelLayer(canvas, palette),
}

/** Plazas and roads are districts too: their parcels lie all over the world, so their middle says nothing. */
const districtNames = computed<readonly MapLabel[]>(() => {
  void worldNumber.value
  const grid = worldGrid.value
  if (!grid) return []
  return (districts.state.value.data ?? []).flatMap(({ name, center, parcel_count }) => {
    const [x = NaN, y = NaN] = center.split(',').map(Number)
    if (grid.tileAt(x, y).type !== 'district') return []
    return [{ kind: 'district', text: shortName(name), place: { x, y }, size: Number(parcel_count) }]
  })
})

const plazaNames = computed<readonly MapLabel[]>(() =>
  plazas.value.map((middle) => ({ kind: 'plaza', text: text('asset.plaza'), ...middle })),
)

/** Groups of plaza parcels that share edges. */
export const plazas = computed(() => {
  void worldNumber.value
  // With the districts, and not in the task in which the world arrives: that one paints the first map.
  return worldGrid.value && districts.state.value.data ? plazaMiddles(worldGrid.value) : []
})

const estateNames = computed<readonly MapLabel[]>(() => {
  const grid = worldGrid.value
  const named = (estates.state.value.data?.land ?? []).filter(
    ({ name }) => name !== null && name.trim() !== '',
  )
  if (!grid || named.length === 0) return []
  const middles = estateMiddles(
    grid,
    named.map(({ asset_id }) => asset_id),
  )
  return named.flatMap(({ asset_id, name }) => {
    const middle = middles.get(asset_id)
    return middle ? [{ kind: 'estate', text: shortName(name ?? ''), ...middle }] : []
  })
})

const shownPrices = computed<ReadonlyMap<number, CellPrice>>(() => {
  void worldChange.value
  const grid = worldGrid.value
  const { data } = offers.state.value
  return grid && data ? cellPrices(data, dollarRows.value, grid) : new Map()
})

function linesOn(
  grid: FeedGrid,
  prices: ReadonlyMap<number, CellPrice>,
  { x, y }: Place,
  zoom: number,
): readonly string[] {
  const price = prices.get(grid.cellAt(x, y))
  const priced = price === undefined ? [] : [formatShortPrice(price.amount, price.currency)]
  if (zoom < ALL_LINES_ZOOM) return priced
  const { type, owner } = grid.tileAt(x, y)
  if (type !== 'owned' && type !== 'unowned') return priced
  return [`${x},${y}`, ...priced, ...(owner === undefined ? [] : [`${owner.slice(0, OWNER_LETTERS)}…`])]
}

function shortName(name: string): string {
  const letters = [...withoutTurns(name).trim()]
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : letters.join('')
}

/** Requests the names, and again when they may have changed. */
export function followLabels(): () => void {
  const ends = [
    effect(() => {
      void worldNumber.value
      if (!worldGrid.value) return
      untracked(() => {
        districts.ask(land.districts())
        estates.ask(land.findLand(LARGE_ESTATES))
      })
    }),
    effect(() => {
      if (touchesEstates(worldChange.value)) untracked(() => estates.refresh())
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function touchesEstates({ cells }: WorldChange): boolean {
  return cells?.some((cell) => worldGrid.peek()?.estateOf[cell] !== 0) ?? false
}

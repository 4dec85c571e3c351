import {
  type Call,
  type District,
  type DistrictWithParcels,
  type LandCells,
  type LandPage,
  land,
  type Offers,
  type SaleCells,
} from '@landpass/client'
import { type FeedGrid, ON_SALE } from '@landpass/client/feed'
import { computed, effect, signal, untracked } from '@preact/signals'
import { send } from '../api/client.ts'
import { followedChain } from '../live/chain.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { type WorldChange, worldChange, worldGrid, worldStatus } from '../live/world.ts'
import { CELL_LINES_ZOOM } from '../map/label-layer.ts'
import type { LayerInks } from '../map/map-types.ts'
import { chosenDistrict, layer, mine, view } from './explore-state.ts'
import { foundLand } from './found-land.ts'
import { cellsOfOwner, dimmedInks, districtInks, onSaleInks, ownerInks, priceInks } from './layer-inks.ts'
import { landPrices } from './offers.ts'
import { paidPrices } from './paid-prices.ts'
import { priceSteps } from './price-steps.ts'

/** The inks of the layers, and the data of their legends. A layer's data is requested only while it is shown. */

export const offers = new LiveAnswer<Offers>(send)
export const districts = new LiveAnswer<readonly District[]>(send)
/** What is offered for dollars alone: the feed and the prices have what costs MANA. */
const dollarOffers = new LiveAnswer<LandCells>(send)
/** The same with prices, of the newest offers. */
const dollarPrices = new LiveAnswer<LandPage>(send)
/** What was paid for each cell. */
export const paid = new LiveAnswer<SaleCells>(send)
/** The chosen district, with its parcels as `x,y`. */
export const chosen = new LiveAnswer<DistrictWithParcels>(send)

/** The grid with a counter: it changes in place, so computed signals depend on the counter. */
const currentGrid = computed(() => ({ grid: worldGrid.value, count: worldChange.value.count }))

const prices = computed(() => {
  const { grid } = currentGrid.value
  const { data } = offers.state.value
  return grid && data && landPrices(data, grid)
})
export const steps = computed(() => prices.value && priceSteps(prices.value.ofOffers))

/** Only offers that are signed off the chain can be in dollars. */
const hasSignedOffers = computed(() => (followedChain.value?.status.listings.open ?? 0) > 0)
/** The land that is offered for dollars alone; undefined where there is none, and until it is known. */
export const inDollars = computed(() => (hasSignedOffers.value ? dollarOffers.state.value.data : undefined))

/** The land that is offered for dollars alone, with prices; empty until it is known. */
export const dollarRows = computed(() => (hasSignedOffers.value && dollarPrices.state.value.data?.land) || [])

/** Undefined before there is a world. */
export const onSale = computed(() => {
  const { grid } = currentGrid.value
  return grid && onSaleInks(grid, inDollars.value?.runs ?? [])
})

const paidOfCells = computed(() => {
  const { grid } = currentGrid.value
  const { data } = paid.state.value
  return grid && data && paidPrices(data, grid.cells.length)
})
/** Each with the number of parcels that were sold for such a price. */
export const paidSteps = computed(
  () => paidOfCells.value && priceSteps(paidOfCells.value.filter((price) => !Number.isNaN(price))),
)

export const mineCells = computed(() => {
  const { grid } = currentGrid.value
  return grid && mine.value !== undefined ? cellsOfOwner(grid, mine.value) : NO_CELLS
})

export const chosenCells = computed(() => {
  const { grid } = currentGrid.value
  const { data } = chosen.state.value
  return grid && data && data.id === chosenDistrict.value ? cellsOf(data.parcels, grid) : NO_CELLS
})

/** The inks of the current layer. What the filters do not keep is dimmed. */
export const inks = computed<LayerInks | undefined>(() => {
  const { grid } = currentGrid.value
  const found = foundLand.value
  return grid && found ? dimmedInks(grid, layerInks.value, found.runs) : layerInks.value
})

const layerInks = computed<LayerInks | undefined>(() => {
  const { grid } = currentGrid.value
  if (!grid) return undefined
  switch (layer.value) {
    case 'on_sale':
      return onSale.value
    case 'price':
      return prices.value && steps.value && priceInks(prices.value.ofCells, steps.value)
    case 'sales':
      return paidOfCells.value && paidSteps.value && priceInks(paidOfCells.value, paidSteps.value)
    case 'districts':
      return districtInks(grid, chosenCells.value)
    case 'mine':
      return mine.value === undefined ? undefined : ownerInks(grid, mineCells.value)
    case 'none':
      return undefined
  }
})

const NO_CELLS = new Uint32Array(0)
/** Rows of a thousand offers are large, and a change says not whether one of them is meant: they may be so old. */
const DOLLAR_PRICES_MS = 60_000
const IN_DOLLARS = { status: 'open', currency: 'usd' } as const

/** Requests the data of the current layer, and again when the world has changed. */
export function followLayers(): () => void {
  const follows = [
    countWorlds,
    followOffers,
    whileShown(paid, land.saleCells(), () => layer.value === 'sales'),
    whileShown(dollarOffers, land.landCells(IN_DOLLARS), needsDollars),
    whileShown(
      dollarPrices,
      land.findLand({ ...IN_DOLLARS, limit: 1000 }),
      () => hasSignedOffers.value && isClose.value,
      DOLLAR_PRICES_MS,
    ),
    followDistricts,
    followChosen,
    retryWhenReachable,
  ]
  const ends = follows.map((follow) => effect(follow))
  return () => {
    for (const end of ends) end()
  }
}

let lastSeen: WorldChange | undefined

/** Parcels that are close show prices. */
const isClose = computed(() => (view.value?.zoom ?? 0) >= CELL_LINES_ZOOM)
const needsOffers = computed(() => layer.value === 'price' || isClose.value)

function followOffers(): void {
  if (!needsOffers.value) {
    lastSeen = undefined
    return
  }
  const change = worldChange.value
  const isFirst = lastSeen === undefined
  lastSeen = change
  untracked(() => {
    if (isFirst) offers.ask(land.offers())
    else if (touchesOffers(change)) offers.refresh()
  })
}

/** Prices change only with cells that are for sale now or had a price before. */
function touchesOffers({ cells }: WorldChange): boolean {
  const grid = worldGrid.peek()
  const priced = prices.peek()?.ofCells
  if (!cells || !grid || !priced) return true
  return cells.some((cell) => (grid.cells[cell]! & ON_SALE) !== 0 || !Number.isNaN(priced[cell]))
}

/** An effect that asks while a layer is shown, and again with each change of the world that comes after a pause. */
function whileShown<Data>(
  answer: LiveAnswer<Data>,
  call: Call<Data>,
  isShown: () => boolean,
  pauseMs = 0,
): () => void {
  let isAsked = false
  let askedAtMs = 0
  return () => {
    const isWanted = isShown()
    if (isWanted) {
      void worldChange.value
      const nowMs = performance.now()
      if (!isAsked) untracked(() => answer.ask(call))
      else if (nowMs - askedAtMs >= pauseMs) untracked(() => answer.refresh())
      else return
      askedAtMs = nowMs
    }
    isAsked = isWanted
  }
}

function needsDollars(): boolean {
  return hasSignedOffers.value && (layer.value === 'on_sale' || layer.value === 'price')
}

/** Districts change only when another world is imported. */
function followDistricts(): void {
  void worldNumber.value
  if (layer.value === 'districts') untracked(() => districts.ask(land.districts()))
}

function followChosen(): void {
  void worldNumber.value
  const id = chosenDistrict.value
  if (layer.value === 'districts' && id !== undefined) untracked(() => chosen.ask(land.district(id)))
}

/** Repeats failed requests when the server can be reached again. */
function retryWhenReachable(): void {
  if (worldStatus.value !== 'ready') return
  const shown =
    { on_sale: [dollarOffers], price: [offers, dollarOffers], sales: [paid], districts: [districts, chosen] }[
      layer.peek() as string
    ] ?? []
  for (const answer of shown) if (answer.state.peek().error) answer.refresh()
}

/** Changes when another world was imported: what was loaded with the previous one has to be requested again. */
export const worldNumber = signal(0)

function countWorlds(): void {
  const { count, cells } = worldChange.value
  if (!cells) worldNumber.value = count
}

function cellsOf(places: readonly string[], grid: FeedGrid): Uint32Array {
  const cells = places.map((place) => {
    const [x = NaN, y = NaN] = place.split(',').map(Number)
    return grid.cellAt(x, y)
  })
  return Uint32Array.from(cells.filter((cell) => cell >= 0))
}

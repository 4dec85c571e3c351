import { batch, signal } from '@preact/signals'
import type { Place, View } from '../map/map-types.ts'
import type { LandFilter } from './land-filter.ts'

/** The state of the map page; the address bar has the same (permalink.ts). */

export type Selection =
  | { readonly type: 'parcel'; readonly x: number; readonly y: number }
  | { readonly type: 'estate'; readonly id: string }

export const LAYERS = ['on_sale', 'price', 'sales', 'districts', 'mine', 'none'] as const
export type LayerName = (typeof LAYERS)[number]

/** Lists of what an address has. */
export const ADDRESS_LISTS = ['parcels', 'estates', 'bids', 'contributions', 'mortgages'] as const
export type AddressListName = (typeof ADDRESS_LISTS)[number]
export const LISTS = ['land', 'sales', 'watched', ...ADDRESS_LISTS] as const
export type ListName = (typeof LISTS)[number]

export function isAddressList(name: ListName): name is AddressListName {
  return ADDRESS_LISTS.some((list) => list === name)
}

export const SORTS = [
  ...(['listed_at', 'price', 'price_per_parcel', 'rent', 'size', 'plaza', 'road', 'name'] as const),
  'expires_at' as const,
  'sold_at' as const,
]
export const SORT_ORDERS = ['asc', 'desc'] as const

/** The open list: which one, of whom, which page, in which order. */
export interface ListQuery {
  readonly name: ListName
  /** The address whose list it is, in lower case. Undefined for `land` and `watched`, and until an address is entered. */
  readonly address?: string
  /** Counted from 1. Of `land`: how many pages are shown. */
  readonly page: number
  /** Only for `land`: the server's `sort_by`. */
  readonly sortBy: (typeof SORTS)[number]
  readonly sortOrder: (typeof SORT_ORDERS)[number]
}

/** The first page of a list, newest offer first. */
export const FIRST_PAGE = { page: 1, sortBy: 'listed_at', sortOrder: 'desc' } as const

export const view = signal<View | undefined>(undefined)
export const selection = signal<Selection | undefined>(undefined)
/** Cells that the panel of the selection speaks of: they are marked on the map. */
export const markedCells = signal<Uint32Array>(new Uint32Array(0))
/** A place that is typed into the search box, and not yet chosen: it is outlined as a selection is. */
export const previewed = signal<Place | undefined>(undefined)
/** The name of the selection, once it is loaded. */
export const selectionName = signal<string | undefined>(undefined)
export const layer = signal<LayerName>('on_sale')
/** The address whose land the layer `mine` shows, in lower case. */
export const mine = signal<string | undefined>(undefined)
/** The id of the district that the layer `districts` highlights. */
export const chosenDistrict = signal<string | undefined>(undefined)
export const openList = signal<ListQuery | undefined>(undefined)
export type PanelName = 'asset' | 'list'
/** The panel that was opened last. Where only one panel fits, it is the one that is shown. */
export const frontPanel = signal<PanelName>('asset')
/** Which land the list has; the map dims all other. */
export const landFilter = signal<LandFilter>({})

/** Smallest zoom after moving to a place, in CSS pixels a parcel. */
export const CLOSE_ZOOM = 18

/** Shows a place in the middle, close enough to see it. */
export function flyTo({ x, y }: Place): void {
  view.value = { x, y, zoom: Math.max(CLOSE_ZOOM, view.peek()?.zoom ?? 0) }
}

/** Selects something and moves the map there, as one step of the browser's history. */
export function showSelected(wanted: Selection, place: Place): void {
  batch(() => {
    selection.value = wanted
    flyTo(place)
    destination.value = view.value
  })
}

/** The view that was just requested for a selection, until its panel is laid out and covers a known part of the map. */
export const destination = signal<View | undefined>(undefined)

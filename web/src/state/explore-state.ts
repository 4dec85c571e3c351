import { batch, signal } from '@preact/signals'
import type { Place, View } from '../map/map-types.ts'

/** What the map page shows. The address bar says the same (permalink). */

export type Selection =
  | { readonly type: 'parcel'; readonly x: number; readonly y: number }
  | { readonly type: 'estate'; readonly id: string }

export const LAYERS = ['on_sale', 'price', 'districts', 'mine', 'none'] as const
export type LayerName = (typeof LAYERS)[number]

export const LISTS = ['on_sale', 'parcels', 'estates', 'bids', 'contributions', 'mortgages'] as const
export type ListName = (typeof LISTS)[number]

export const SORTS = ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const
export const SORT_ORDERS = ['asc', 'desc'] as const

/** A list that is open beside the map. */
export interface ListWish {
  readonly name: ListName
  /** Whose; undefined only for `on_sale`, or while nobody has been named yet. Lower case. */
  readonly address?: string
  /** Counted from 1. */
  readonly page: number
  /** Of `on_sale`: as the interface sorts (interfaces.md, 4.2). */
  readonly sortBy: (typeof SORTS)[number]
  readonly sortOrder: (typeof SORT_ORDERS)[number]
}

/** How a list begins: the newest first. */
export const FIRST_PAGE = { page: 1, sortBy: 'created_at', sortOrder: 'desc' } as const

export const view = signal<View | undefined>(undefined)
export const selection = signal<Selection | undefined>(undefined)
/** What is selected is called so, once that is known. */
export const selectionName = signal<string | undefined>(undefined)
export const layer = signal<LayerName>('on_sale')
/** The address whose land the layer `mine` shows, in lower case. */
export const mine = signal<string | undefined>(undefined)
/** The id of the district that the layer `districts` brings out. */
export const chosenDistrict = signal<string | undefined>(undefined)
export const openList = signal<ListWish | undefined>(undefined)

/** At least so close does the map come to a place that it flies to, in CSS pixels a parcel. */
export const CLOSE_ZOOM = 18

/** Shows a place in the middle, close enough to see it. */
export function flyTo({ x, y }: Place, zoom = CLOSE_ZOOM): void {
  view.value = { x, y, zoom: Math.max(zoom, view.peek()?.zoom ?? 0) }
}

/** Selects something and shows where it is: one step, for the address bar too. */
export function showSelected(wanted: Selection, place: Place): void {
  batch(() => {
    selection.value = wanted
    flyTo(place)
    destination.value = view.value
  })
}

/** Where the map is going for what was just selected: until the panel is there, and the page knows what it covers. */
export const destination = signal<View | undefined>(undefined)

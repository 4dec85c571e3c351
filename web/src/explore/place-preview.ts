import { batch } from '@preact/signals'
import type { Place, View } from '../map/map-types.ts'
import { flyTo, previewed, view } from '../state/explore-state.ts'

/** Shows a place on the map while it is typed into the search box, before it is chosen. */

/** Where the map was before the first of the places, and where the last one has moved it. */
let moved: { readonly from: View; readonly to: View | undefined } | undefined

export function previewPlace(place: Place): void {
  const from = moved?.from ?? view.peek()
  if (!from) return // no map yet
  batch(() => {
    previewed.value = place
    flyTo(place)
  })
  moved = { from, to: view.peek() }
}

/** Moves the map back, unless the reader has moved it. */
export function endPreview(): void {
  const { from, to } = moved ?? {}
  stayAtPreview()
  if (from && view.peek() === to) view.value = from
}

/** Ends it where it has led. */
export function stayAtPreview(): void {
  moved = undefined
  previewed.value = undefined
}

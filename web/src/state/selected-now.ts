import { computed } from '@preact/signals'
import { worldChange, worldGrid } from '../live/world.ts'
import { previewed, selection } from './explore-state.ts'
import { selectedCells } from './selected-cells.ts'

const NONE = new Uint32Array(0)

/** The cells of what is selected, or of the place that is typed, in the world as it is now. */
export const selectedNow = computed(() => {
  void worldChange.value // the grid changes in place
  const shown = previewed.value ? ({ type: 'parcel', ...previewed.value } as const) : selection.value
  return worldGrid.value ? selectedCells(worldGrid.value, shown) : NONE
})

import { computed } from '@preact/signals'
import { worldChange, worldGrid } from '../live/world.ts'
import { selection } from './explore-state.ts'
import { selectedCells } from './selected-cells.ts'

const NONE = new Uint32Array(0)

/** The cells of what is selected, in the world as it is now. */
export const selectedNow = computed(() => {
  void worldChange.value // the grid changes in place
  return worldGrid.value ? selectedCells(worldGrid.value, selection.value) : NONE
})

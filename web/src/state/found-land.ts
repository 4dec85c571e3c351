import { type LandCells, land } from '@landpass/client'
import { computed, effect, untracked } from '@preact/signals'
import { send } from '../api/client.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { worldChange, worldStatus } from '../live/world.ts'
import { landFilter, markedCells, view } from './explore-state.ts'
import { groupsOf, serverQuery } from './land-filter.ts'
import { cellsOfRuns } from './layer-inks.ts'

/** Whether any filter is on. */
export const isFiltered = computed(() => groupsOf(landFilter.value).length > 0)

const answer = new LiveAnswer<LandCells>(send)

/** How many parcels and estates the filters keep, and in which cells they lie; undefined without filters, and until it is known. */
export const foundLand = computed(() => (isFiltered.value ? answer.state.value.data : undefined))
/** Whether it is what earlier filters keep: those that are on now have not been answered. */
export const isOfEarlierFilters = computed(() => answer.state.value.isOfEarlierCall)
/** Why it is not known. */
export const foundFault = computed(() => (isFiltered.value ? answer.state.value.error : undefined))

/** So many cells at most have dots. */
const MOST_DOTS = 100
/** Below this zoom, in CSS pixels a parcel, single cells are hard to find. */
const DOTS_ZOOM = 6
const isFar = computed(() => (view.value?.zoom ?? 0) < DOTS_ZOOM)

/** Cells that have dots: those of the panel, else the found ones where they are few and small. */
export const dottedCells = computed(() => {
  const runs = isFar.value ? (foundLand.value?.runs ?? []) : []
  const count = runs.reduce((sum, length, i) => (i % 2 === 0 ? sum : sum + length), 0)
  if (markedCells.value.length > 0 || count > MOST_DOTS) return markedCells.value
  return cellsOfRuns(runs)
})

export function retryFound(): void {
  answer.refresh()
}

/** Asks for the found land when the filters change, and again when the world has changed. */
export function followFilter(): () => void {
  const ends = [
    effect(() => {
      const filter = landFilter.value
      untracked(() => (isFiltered.value ? answer.ask(land.landCells(serverQuery(filter))) : answer.end()))
    }),
    effect(() => {
      void worldChange.value
      untracked(() => answer.refresh())
    }),
    effect(() => {
      if (worldStatus.value === 'ready' && answer.state.peek().error) answer.refresh()
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

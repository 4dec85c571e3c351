import { type LandCells, land } from '@landpass/client'
import { computed, effect, untracked } from '@preact/signals'
import { send } from '../api/client.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { worldChange, worldStatus } from '../live/world.ts'
import { landFilter } from './explore-state.ts'
import { groupsOf, serverQuery } from './land-filter.ts'

/** Whether any filter is on. */
export const isFiltered = computed(() => groupsOf(landFilter.value).length > 0)

const answer = new LiveAnswer<LandCells>(send)

/** How many parcels and estates the filters keep, and in which cells they lie; undefined without filters, and until it is known. */
export const foundLand = computed(() => (isFiltered.value ? answer.state.value.data : undefined))
/** Why it is not known. */
export const foundFault = computed(() => (isFiltered.value ? answer.state.value.error : undefined))

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

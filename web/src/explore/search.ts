import { land, type SearchResult } from '@landpass/client'
import { computed, effect, signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { worldGrid } from '../live/world.ts'
import { view } from '../state/explore-state.ts'
import { text } from '../texts/texts.ts'
import { plazas } from './map-labels.ts'
import {
  type Found,
  isPlazaWord,
  mergedResults,
  outsidePlace,
  plazasNear,
  typedResults,
} from './search-results.ts'

/** The search begins, and a typed place is shown, after this pause in typing. */
export const PAUSE_MS = 150
const LIMIT = 8
/** The server's limit, in characters. */
export const MAX_LENGTH = 100

/** The text in the search box. */
export const searchText = signal('')

const wanted = computed(() => searchText.value.trim())
const found = new LiveAnswer<{ readonly results: readonly SearchResult[] }>(send)
/** The text of the running request, or of the last one. */
const asked = signal('')

/** Results that the page finds by itself, always for the current text. */
export const typed = computed<readonly Found[]>(() => {
  if (isPlazaWord(wanted.value, ['plaza', text('asset.plaza').toLowerCase()]))
    return plazasNear(plazas.value, view.value ?? { x: 0, y: 0 }).slice(0, LIMIT)
  return typedResults(wanted.value, worldGrid.value)
})

/** The place that the text names, where that is outside the world. */
export const typedOutside = computed(() => outsidePlace(wanted.value, worldGrid.value))

/**
 * The results to choose from. Those of the previous text stay until the new ones are answered, so that the list does
 * not flicker.
 */
export const searchResults = computed<readonly Found[]>(() => {
  if (wanted.value === '') return []
  return mergedResults(typed.value, found.state.value.data?.results ?? [])
})

/** `none`: nothing is looked for. `typing` and `asking`: the results are not yet those of this text. */
export const searchState = computed<'none' | 'typing' | 'asking' | 'answered' | 'failed'>(() => {
  if (wanted.value === '') return 'none'
  if (asked.value !== wanted.value) return 'typing'
  const { isAsking, error } = found.state.value
  if (isAsking) return 'asking'
  return error === undefined ? 'answered' : 'failed'
})

export const searchFault = computed(() => found.state.value.error)

/** Searches for the text in the box after a pause in typing. @returns to stop it */
export function startSearch(): () => void {
  return effect(() => {
    const query = wanted.value
    if (query === '') {
      asked.value = ''
      found.end()
      return
    }
    const pause = window.setTimeout(() => askNow(query), PAUSE_MS)
    return () => window.clearTimeout(pause)
  })
}

export function retrySearch(): void {
  askNow(wanted.peek())
}

function askNow(query: string): void {
  asked.value = query
  found.ask(land.search(query, { limit: LIMIT }))
}

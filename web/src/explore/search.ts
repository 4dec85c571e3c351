import { land, type SearchResult } from '@landpass/client'
import { computed, effect, signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { LiveAnswer } from '../live/live-answer.ts'
import { worldGrid } from '../live/world.ts'
import { mergedResults, outsidePlace, typedResults } from './search-results.ts'

/** Somebody who types on is not asked for yet. */
const PAUSE_MS = 150
const LIMIT = 8
/** The server takes no more. */
export const MAX_LENGTH = 100

/** What stands in the search box. */
export const searchText = signal('')

const wanted = computed(() => searchText.value.trim())
const found = new LiveAnswer<{ readonly results: readonly SearchResult[] }>(send)
/** What the running or the newest asking was about. */
const asked = signal('')

/** What the text says by itself: always that of the newest text. */
export const typed = computed(() => typedResults(wanted.value, worldGrid.value))

/** The place that the text names, where that is outside the world. */
export const typedOutside = computed(() => outsidePlace(wanted.value, worldGrid.value))

/** What can be chosen: of an older text until the newer one is answered, so that the list does not flicker. */
export const searchResults = computed<readonly SearchResult[]>(() => {
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

/** Asks for what stands in the box, a moment after it came to rest. */
export function startSearch(): () => void {
  return effect(() => {
    const text = wanted.value
    if (text === '') {
      asked.value = ''
      found.end()
      return
    }
    const pause = window.setTimeout(() => askNow(text), PAUSE_MS)
    return () => window.clearTimeout(pause)
  })
}

export function retrySearch(): void {
  askNow(wanted.peek())
}

function askNow(text: string): void {
  asked.value = text
  found.ask(land.search(text, { limit: LIMIT }))
}

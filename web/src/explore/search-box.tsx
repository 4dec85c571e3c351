import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { worldGrid } from '../live/world.ts'
import { showResult } from '../state/travel.ts'
import { isolated } from '../texts/bidi.ts'
import { failureText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { endPreview, previewPlace, stayAtPreview } from './place-preview.ts'
import {
  MAX_LENGTH,
  PAUSE_MS,
  retrySearch,
  searchFault,
  searchResults,
  searchState,
  searchText,
  startSearch,
  typed,
  typedOutside,
} from './search.ts'
import { SearchResultLine } from './search-result-line.tsx'
import type { Found } from './search-results.ts'

export const SEARCH_ID = 'search'
const LIST_ID = 'search-results'
const optionId = (i: number) => `search-result-${i}`

/** Looks for places: a combobox as the ARIA practices describe it, with the focus staying in the box. */
export function SearchBox() {
  const box = useSearchBox()
  useEffect(startSearch, [])
  return (
    <search class="search" onFocusOut={box.onFocusOut}>
      <label class="visually-hidden" for={SEARCH_ID}>
        {text('map.search')}
      </label>
      <input
        id={SEARCH_ID}
        type="text"
        role="combobox"
        inputMode="search"
        enterkeyhint="search"
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
        placeholder={text('map.search.placeholder')}
        aria-keyshortcuts="/"
        aria-autocomplete="list"
        aria-expanded={box.isOpen.value}
        aria-controls={LIST_ID}
        aria-activedescendant={box.active.value < 0 ? undefined : optionId(box.active.value)}
        value={searchText.value}
        onInput={({ currentTarget }) => box.type(currentTarget.value)}
        onClick={box.open}
        onKeyDown={box.onKeyDown}
      />
      {searchText.value !== '' && (
        <button type="button" class="search-clear" aria-label={text('map.search.clear')} onClick={box.clear}>
          <span aria-hidden="true">×</span>
        </button>
      )}
      <SearchPopup isOpen={box.isOpen.value} active={box.active} onChoose={box.choose} />
    </search>
  )
}

interface SearchPopupProps {
  readonly isOpen: boolean
  readonly active: Signal<number>
  onChoose(result: Found): void
}

/** The list is always in the document, because `aria-controls` of the box names it; it is hidden without a search. */
function SearchPopup({ isOpen, active, onChoose }: SearchPopupProps) {
  const results = isOpen ? searchResults.value : []
  return (
    <div class="search-popup card" hidden={!isOpen}>
      <div id={LIST_ID} role="listbox" aria-label={text('map.search.results')}>
        {results.map((result, i) => (
          <button
            key={`${result.type} ${result.id}`}
            id={optionId(i)}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={active.value === i}
            onMouseDown={keepFocus}
            onPointerMove={() => {
              active.value = i
            }}
            onClick={() => onChoose(result)}
          >
            <SearchResultLine result={result} />
          </button>
        ))}
      </div>
      <SearchStatus isOpen={isOpen} count={results.length} />
    </div>
  )
}

/** A press on a result must not move the focus out of the box. */
function keepFocus(event: Event): void {
  event.preventDefault()
}

function SearchStatus({ isOpen, count }: { readonly isOpen: boolean; readonly count: number }) {
  const state = searchState.value
  return (
    <div class={`search-status ${state}`} role="status">
      {isOpen && statusText(count)}
      {isOpen && state === 'failed' && !typedOutside.value && (
        <button type="button" onMouseDown={keepFocus} onClick={retrySearch}>
          {text('common.retry')}
        </button>
      )}
    </div>
  )
}

function statusText(count: number): string {
  if (count === 0 && typedOutside.value) return outsideText(typedOutside.value)
  switch (searchState.value) {
    case 'failed':
      return failureText(searchFault.value)
    case 'answered':
      return count === 0
        ? text('map.search.none', { query: isolated(searchText.value.trim()) })
        : text('list.total', { count })
    default:
      return text('map.search.searching')
  }
}

function outsideText({ x, y, isBeyond }: NonNullable<typeof typedOutside.value>): string {
  const bounds = worldGrid.peek()?.bounds
  const said = text('map.search.outside', { place: `${x},${y}` })
  if (!bounds || !isBeyond) return said
  const { minX, minY, maxX, maxY } = bounds
  return `${said} ${text('map.search.extent', { from: `${minX},${minY}`, to: `${maxX},${maxY}` })}`
}

/** State and event handlers of the search box. */
function useSearchBox() {
  const isWanted = useSignal(false)
  const isOpen = useComputed(() => isWanted.value && searchState.value !== 'none')
  const active = useSignal(-1)
  /** Enter was pressed before the results came: the first result is chosen when it arrives. */
  const isEnterPending = useRef(false)

  const open = () => {
    isWanted.value = true
  }
  const close = () => {
    isWanted.value = false
    // At once, so that what is chosen is a step from where the map was before.
    endPreview()
    active.value = -1
    isEnterPending.current = false
  }
  const type = (typed: string) => {
    searchText.value = typed
    active.value = -1
    isEnterPending.current = false
    open()
  }
  const choose = (result: Found) => {
    close()
    showResult(result)
  }
  useLayoutEffect(() => {
    if (!isEnterPending.current || searchState.value !== 'answered') return
    isEnterPending.current = false
    const [first] = searchResults.peek()
    if (first) choose(first)
  }, [searchState.value])

  useSignalEffect(() => {
    if (!isOpen.value) return endPreview()
    const [first] = typed.value
    const place = first?.type === 'parcel' ? { x: first.x!, y: first.y! } : undefined
    const pause = window.setTimeout(
      () => (place && isOpen.peek() ? previewPlace(place) : endPreview()),
      PAUSE_MS,
    )
    return () => window.clearTimeout(pause)
  })

  const move = (step: number) => {
    open()
    const count = searchResults.peek().length
    // One position more than there are results: the box itself, without a marked result.
    active.value = count === 0 ? -1 : ((active.peek() + 1 + step + count + 1) % (count + 1)) - 1
  }
  const accept = () => {
    const marked = searchResults.peek()[active.peek()]
    const isSettled = searchState.peek() === 'answered' || searchState.peek() === 'failed'
    const best = marked ?? firstChoice(isSettled)
    if (best) choose(best)
    else if (searchState.peek() === 'failed') retrySearch()
    else isEnterPending.current = searchState.peek() !== 'none'
  }
  const leave = () => {
    if (isOpen.peek()) return close()
    searchText.value = ''
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isEmpty = searchText.peek() === '' && !isOpen.peek()
    if (event.isComposing || (event.key === 'Escape' && isEmpty)) return
    const act = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: accept, Escape: leave }[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  const onFocusOut = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if ((currentTarget as Node).contains(relatedTarget as Node | null)) return
    // What was pressed on the map must stay below the pointer.
    stayAtPreview()
    close()
  }
  const clear = () => {
    type('')
    document.getElementById(SEARCH_ID)?.focus()
  }
  return { isOpen, active, open, type, choose, clear, onKeyDown, onFocusOut }
}

/** The result that Enter chooses where none is marked: the best of the current text, never one of an earlier text. */
function firstChoice(isSettled: boolean): Found | undefined {
  return isSettled ? searchResults.peek()[0] : typed.peek()[0]
}

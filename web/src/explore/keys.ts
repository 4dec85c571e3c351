import { focusMap } from '../state/map-frame.ts'
import { SEARCH_ID } from './search-box.tsx'
import { closeFrontPanel, switchToPanel } from './side-panels.tsx'

/** Keys that work everywhere on the page: `/` for search, F6 between map and panel, Escape closes the panel in front. */
export function followKeys(): () => void {
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}

function focusSearch(): void {
  const box = document.getElementById(SEARCH_ID)
  if (!(box instanceof HTMLInputElement)) return
  box.focus()
  box.select()
}

/** Targets of the skip links. Following one does not change the address. */
export const SKIPS = { map: focusMap, search: focusSearch }

function onKeyDown(event: KeyboardEvent): void {
  const { key, defaultPrevented, ctrlKey, metaKey, altKey, isComposing } = event
  if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey) return
  if (document.querySelector('dialog[open]')) return // it has the keys
  if (use(key, event.target)) event.preventDefault()
}

/** Handles a key. @returns whether it did something */
function use(key: string, target: EventTarget | null): boolean {
  if (key === 'Escape') return closeFrontPanel()
  if (key === 'F6') return switchToPanel()
  return key === '/' && !isTyping(target) && openSearch()
}

function openSearch(): boolean {
  focusSearch()
  return true
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=radio]), textarea, select')
}

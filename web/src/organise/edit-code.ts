import { signal } from '@preact/signals'

/**
 * The organiser's secret, in memory alone: no address, storage, attribute or log ever has it, and it is forgotten when
 * the work is done or the page is left.
 */
let held = ''

/** Whether something was typed; what it is, no component needs to know. */
export const isEditCodeHeld = signal(false)

/** The server takes no longer ones. */
export const MAX_EDIT_CODE_LENGTH = 64

export function holdEditCode(typed: string): void {
  held = typed.trim()
  isEditCodeHeld.value = held !== ''
}

/** For the body of a request, and the field in which it was typed. */
export function heldEditCode(): string {
  return held
}

export function forgetEditCode(): void {
  held = ''
  isEditCodeHeld.value = false
}

/** A browser may keep a page that is left, with all its memory, for the way back. */
export function forgetWhenLeft(): () => void {
  window.addEventListener('pagehide', forgetEditCode)
  return () => window.removeEventListener('pagehide', forgetEditCode)
}

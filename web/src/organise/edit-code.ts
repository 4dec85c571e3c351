import { signal } from '@preact/signals'

/**
 * The organiser's secret. It is held in memory only, never in an address, storage, attribute or log, and is deleted
 * when the work is done or the page is left.
 */
let held = ''

/** Whether an edit code was typed. Components need only that, not the code. */
export const isEditCodeHeld = signal(false)

/** The server's limit, in characters. */
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

/** Deletes the edit code when the page is left: browsers may keep the page's memory for the back button. */
export function forgetWhenLeft(): () => void {
  window.addEventListener('pagehide', forgetEditCode)
  return () => window.removeEventListener('pagehide', forgetEditCode)
}

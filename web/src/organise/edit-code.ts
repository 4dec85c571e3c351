import { signal } from '@preact/signals'
import { plainText } from './pasted-text.ts'

/**
 * The organiser's secret. It is held in memory only, never in an address, attribute or log, and is deleted when the work is
 * done or the page is left. Storage has it only where the organiser wants that (kept-codes.ts).
 */
let held = ''

/** Whether an edit code was typed. Components need only that, not the code. */
export const isEditCodeHeld = signal(false)
/** How often an edit code came from elsewhere than its own field, which shows it then. */
export const filledEditCodes = signal(0)
/** Counts every edit code that was typed or forgotten, to see later whether it is still the same one. */
let changes = 0

/** The server's limit, in characters. */
export const MAX_EDIT_CODE_LENGTH = 64

export function holdEditCode(typed: string): void {
  changes++
  held = readEditCode(typed)
  isEditCodeHeld.value = held !== ''
}

/** Puts an edit code into its field. */
export function fillEditCode(code: string): void {
  holdEditCode(code)
  filledEditCodes.value++
}

/**
 * An edit code as people copy it. The blanks and dashes with which a code is made easier to read are taken out of those of
 * the issuer (six digits) and of this server (32 hexadecimal digits); any other text may be a code that has them.
 *
 * @example
 * readEditCode(' ０１２-３４５ ') // '012345'
 * readEditCode('orchard-feast') // 'orchard-feast'
 */
export function readEditCode(typed: string): string {
  const text = plainText(typed).trim()
  const joined = text.replace(/^[^:]*:/, '').replace(/[\s-]/g, '')
  if (/^\d{6}$/.test(joined)) return joined
  if (/^[0-9a-f]{32}$/i.test(joined)) return joined.toLowerCase()
  return typed.trim()
}

/** The code of an event that was just made, on its way to the page of the event. */
let carried: { readonly uuid: string; readonly code: string } | undefined

export function carryEditCode(uuid: string, code: string): void {
  carried = { uuid, code }
}

/** The code that was carried to the page of an event; once. */
export function takeCarriedCode(uuid: string): string | undefined {
  const code = carried?.uuid === uuid ? carried.code : undefined
  carried = undefined
  return code
}

/** @returns tells whether the edit code is still the one of now */
export function noteEditCode(): () => boolean {
  const noted = changes
  return () => isEditCodeHeld.peek() && noted === changes
}

/** For the body of a request, and the field in which it was typed. */
export function heldEditCode(): string {
  return held
}

export function forgetEditCode(): void {
  changes++
  held = ''
  isEditCodeHeld.value = false
}

/** Deletes the edit code when the page is left: browsers may keep the page's memory for the back button. */
export function forgetWhenLeft(): void {
  window.addEventListener('pagehide', forgetEditCode)
}

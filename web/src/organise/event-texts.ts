/** Whether the server takes the texts of an event (a test compares it with these functions). It takes off blanks around a name. */

export function isEventName(typed: string): boolean {
  const name = typed.trim()
  return VISIBLE.test(name) && !UNPRINTABLE.test(name)
}

export function isEventDescription(typed: string): boolean {
  return !UNPRINTABLE.test(typed.trim().replaceAll(/[\n\t]/g, ''))
}

/**
 * Blanks around it are not sent.
 *
 * @example
 * isEventLink('http://lanterns.example') // false
 * isEventLink('') // true: an event needs no link
 */
export function isEventLink(typed: string): boolean {
  const link = typed.trim()
  if (link === '') return true
  const isWritten = /^https:\/\/[^\s\\/?#]/i.test(link) && !/[\s\\]/.test(link)
  return isWritten && !UNPRINTABLE.test(link) && URL.canParse(link)
}

/** Characters that control output or turn the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}]/u
/** A character that can be seen: U+2800 is a Braille pattern without dots. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\p{Cn}\p{Co}\u2800]/u

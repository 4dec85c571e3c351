/**
 * Whether the server takes a text as the link of an event (a test compares the two). Blanks around it are not sent.
 *
 * @example
 * isEventLink('http://lanterns.example') // false
 * isEventLink('') // true: an event needs no link
 */
export function isEventLink(typed: string): boolean {
  const link = typed.trim()
  if (link === '') return true
  const isWritten = /^https:\/\/[^\s\\/?#]/i.test(link)
  return isWritten && !UNWANTED.test(link) && URL.canParse(link)
}

/** Blanks, backslashes, and characters that control output or turn the direction of text. */
const UNWANTED = /[\s\\\p{Cc}\p{Surrogate}\p{Bidi_Control}]/u

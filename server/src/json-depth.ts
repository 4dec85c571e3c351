/** How deep JSON may be nested: that of a request body, and all on its way into the database. */
export const MAX_JSON_DEPTH = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Whether a text is JSON (an object or an array) that is nested deeper than `maxDepth`. The embedded engine never
 * answered for JSON of thousands of levels, and later hung, so such text must not reach it. Runs in linear time and
 * without recursion; brackets inside strings do not count.
 *
 * @example
 * isNestedDeeperThan('[[1]]', 1) // true
 * isNestedDeeperThan('["[["]', 1) // false
 */
export function isNestedDeeperThan(text: string, maxDepth: number): boolean {
  // A text this short cannot hold that many brackets. This answers for nearly every parameter.
  if (text.length <= maxDepth || !/^\s*[[{]/.test(text)) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > maxDepth) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return false
}

/** The place of the closing quote of the string that opens at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1))
    if (!isEscaped(text, end)) return end
  return text.length
}

/** Whether an odd number of backslashes is before this place. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === BACKSLASH) first--
  return (at - first) % 2 === 1
}

/**
 * Names and other texts of users inside of our sentences. Some scripts run from right to left, and some characters turn
 * the direction of what follows: neither must reach the text around a name. Elements isolate with `<bdi>` or `dir`;
 * titles and attributes have no elements, so there the name is put between isolating characters.
 */

/** Characters that turn the direction of the text after them: embeddings, overrides, isolates, and their ends. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g
/**
 * The ranges that Unicode reserves for scripts that run from right to left, those of its future versions included
 * (DerivedBidiClass.txt), and the right-to-left mark. A list of scripts would miss the next one.
 */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_DIRECTIONAL_ISOLATE = '\u2069'

/**
 * A name without the characters that turn direction. Even `<bdi>` needs that: a stray end of an isolate would close it.
 *
 * @example
 * withoutTurns('a\u202eb') // 'ab'
 */
export function withoutTurns(name: string): string {
  return name.replace(TURNING, '')
}

/**
 * A name for a sentence in a title or an attribute: unchanged where it runs from left to right, else isolated.
 *
 * @example
 * isolated('Old Arcade') // 'Old Arcade'
 * isolated('בית') // '\u2068בית\u2069'
 */
export function isolated(name: string): string {
  const plain = withoutTurns(name)
  return RIGHT_TO_LEFT.test(plain) ? FIRST_STRONG_ISOLATE + plain + POP_DIRECTIONAL_ISOLATE : plain
}

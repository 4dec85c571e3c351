/** Characters that turn the direction of the text after them: embeddings, overrides, isolates, and their ends. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * A name without the characters that turn direction, for texts that other programs show: previews of links, galleries.
 *
 * @example
 * withoutTurns('a\u202eb') // 'ab'
 */
export function withoutTurns(name: string): string {
  return name.replace(TURNING, '')
}

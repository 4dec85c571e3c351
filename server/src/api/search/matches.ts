import type { NameChunk } from './name-texts.ts'

/**
 * How well a result matches a text, best first: the text is its coordinates or id; its name is the text, begins with
 * it, has a word that begins with it, contains it.
 */
export const RANKS = { typed: 0, same: 1, begins: 2, word: 3, contains: 4 } as const
export type Rank = (typeof RANKS)[keyof typeof RANKS]

/** A name that contains the searched text. */
export interface NameHit {
  readonly rank: Rank
  /** Row of the asset that has the name. */
  readonly row: number
  /** Length of the folded name. */
  readonly length: number
}

/**
 * The names of a chunk that contain a folded text, each once with its best rank, in the order of rows. Blank text is in
 * no name.
 *
 * @example
 * const [chunk] = new NameTexts(['Arcade', 'Old Arcade']).inChunks()
 * hitsIn(chunk, 'ARC') // { rank: RANKS.begins, row: 0, length: 6 }, { rank: RANKS.word, row: 1, length: 10 }
 */
export function* hitsIn({ text, starts, rows }: NameChunk, wanted: string): Generator<NameHit> {
  const count = rows.length
  let i = 0
  for (let at = wanted === '' ? -1 : text.indexOf(wanted); at >= 0; ) {
    i = nameAt(starts, at, i, count)
    const start = starts[i]!
    const end = starts[i + 1]! - 1
    let rank = rankAt(text, at, start, end, wanted)
    // A later word of the same name may begin with the text.
    while (rank === RANKS.contains) {
      at = text.indexOf(wanted, at + 1)
      if (at < 0 || at >= end) break
      rank = rankAt(text, at, start, end, wanted)
    }
    yield { rank, row: rows[i]!, length: end - start }
    if (at >= 0 && at < end) at = text.indexOf(wanted, end)
  }
}

function rankAt(text: string, at: number, start: number, end: number, wanted: string): Rank {
  if (at === start) return end - start === wanted.length ? RANKS.same : RANKS.begins
  return isWordStart(text, at) ? RANKS.word : RANKS.contains
}

const WORD_END = /[\p{L}\p{N}]$/u

/** Whether a word begins at `at`: the character before is no letter and no digit. It may have two UTF-16 units. */
function isWordStart(text: string, at: number): boolean {
  return text[at - 1] === ' ' || !WORD_END.test(text.slice(at - 2, at))
}

/** The number of the name that contains a position of the text, by binary search from name number `from`. */
function nameAt(starts: Uint32Array, at: number, from: number, count: number): number {
  let low = from
  let high = count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}

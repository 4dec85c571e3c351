import { foldText } from './fold.ts'

/** Names of so many assets are folded at once: one to four milliseconds, after which others have their turn. */
const CHUNK_ROWS = 2048
/** Stands in no folded text, and so parts two names. */
const BETWEEN = '\n'

/** The folded names of some assets as one text, because one long search is faster than many short ones. */
export interface NameChunk {
  /** A line feed before each name and after the last. */
  readonly text: string
  /** Where each name begins, and where one more would. */
  readonly starts: Uint32Array
  /** The row of the asset that has the name. */
  readonly rows: Uint32Array
}

/**
 * The names of assets, ready for search. A chunk is made when it is first asked for, and taken over for as long as
 * its names are the same: after a change of one name one chunk is made again.
 *
 * For 90,601 parcels of which 17,000 have a name: 0.5 MB.
 */
export class NameTexts {
  /** By row. */
  readonly names: readonly (string | undefined)[]
  private readonly chunks: (NameChunk | undefined)[]

  /** @param previous what was right before: it shares its chunks where they still are */
  constructor(names: readonly (string | undefined)[], previous?: NameTexts) {
    this.names = names
    this.chunks = Array.from({ length: Math.ceil(names.length / CHUNK_ROWS) }, (_, number) =>
      previous && hasSameNames(previous.names, names, number) ? previous.chunks[number] : undefined,
    )
  }

  /** In the order of rows. Whoever takes one may have to wait for its making. */
  *inChunks(): Generator<NameChunk> {
    for (let number = 0; number < this.chunks.length; number++) {
      this.chunks[number] ??= makeChunk(this.names, number)
      yield this.chunks[number]!
    }
  }
}

function hasSameNames(before: NameTexts['names'], now: NameTexts['names'], number: number): boolean {
  const { from, to } = rowsOf(now, number)
  if (rowsOf(before, number).to !== to) return false
  for (let row = from; row < to; row++) if (before[row] !== now[row]) return false
  return true
}

function makeChunk(names: NameTexts['names'], number: number): NameChunk {
  const { from, to } = rowsOf(names, number)
  const texts: string[] = []
  const rows: number[] = []
  for (let row = from; row < to; row++) {
    const name = names[row]
    if (name === undefined) continue
    texts.push(foldText(name))
    rows.push(row)
  }
  const starts = new Uint32Array(texts.length + 1)
  starts[0] = BETWEEN.length
  for (const [i, text] of texts.entries()) starts[i + 1] = starts[i]! + text.length + BETWEEN.length
  return { text: ['', ...texts, ''].join(BETWEEN), starts, rows: Uint32Array.from(rows) }
}

function rowsOf({ length }: NameTexts['names'], number: number) {
  const from = number * CHUNK_ROWS
  return { from, to: Math.min(length, from + CHUNK_ROWS) }
}

import { foldText } from '../common/fold.ts'

/** Names of this many assets are folded without a pause, which takes 1 to 4 ms. */
const CHUNK_ROWS = 2048
/** Separates two names: no folded text contains it. */
const SEPARATOR = '\n'

/** The folded names of some assets as one text: searching one long text is faster than many short ones. */
export interface NameChunk {
  /** A line feed before each name and after the last. */
  readonly text: string
  /** Where each name begins, and where one more name would begin. */
  readonly starts: Uint32Array
  /** The row of the asset that has the name. */
  readonly rows: Uint32Array
}

/**
 * The folded names of assets, in chunks. A chunk is made when it is first read, and reused while its names are the
 * same: after the change of a name only its chunk is made again.
 *
 * For 90,601 parcels of which 17,000 have a name: 0.5 MB.
 */
export class NameTexts {
  /** By row. */
  readonly names: readonly (string | undefined)[]
  private readonly chunks: (NameChunk | undefined)[]

  /** @param previous the names of an earlier state, whose unchanged chunks are reused */
  constructor(names: readonly (string | undefined)[], previous?: NameTexts) {
    this.names = names
    this.chunks = Array.from({ length: Math.ceil(names.length / CHUNK_ROWS) }, (_, number) =>
      previous && hasSameNames(previous.names, names, number) ? previous.chunks[number] : undefined,
    )
  }

  /** The chunks in the order of rows. Each is made when it is read, if it is not cached. */
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
  starts[0] = SEPARATOR.length
  for (const [i, text] of texts.entries()) starts[i + 1] = starts[i]! + text.length + SEPARATOR.length
  return { text: ['', ...texts, ''].join(SEPARATOR), starts, rows: Uint32Array.from(rows) }
}

function rowsOf({ length }: NameTexts['names'], number: number) {
  const from = number * CHUNK_ROWS
  return { from, to: Math.min(length, from + CHUNK_ROWS) }
}

import type { OpenOffers } from '../../state/parts/open-offers.ts'
import type { RowRange, State } from '../../state/state.ts'
import { ALL_FIELDS, type TileForm, tileForm } from './tile-forms.ts'
import { isSameTile, type TileSource, tileAt, tileSource } from './tile-source.ts'

/** A quarter of a thousand parcels in a row: about 60 kB of text, a good size to write. */
const CHUNK_ROWS = 256
/** Texts that are kept at most: 131,072 tiles, about 33 MB. A world of 90,601 parcels has 354 of them, 23 MB. */
const KEPT_CHUNKS = 512

/** The tiles of some rows in the whole `/v2` form, one after the other. */
interface Chunk {
  readonly bytes: Buffer
  /** Where each tile begins, and where the last one ends. */
  readonly starts: Uint32Array
}

const WHOLE_FORM = tileForm(ALL_FIELDS)

/**
 * The texts of the tiles of one {@link TileSource}, in the order of rows: pieces of members of a JSON object, each
 * member with a comma after it. Texts are made when they are first asked for, and kept in chunks of rows.
 */
export class TileTexts {
  private readonly source: TileSource
  /** By number, the oldest first. */
  private readonly chunks = new Map<number, Chunk>()

  /** @param previous what was right before: its chunks stay where none of their tiles has changed */
  constructor(source: TileSource, previous?: TileTexts) {
    this.source = source
    for (const [number, chunk] of previous?.chunks ?? []) {
      if (isSameChunk(previous!.source, source, number)) this.chunks.set(number, chunk)
    }
  }

  /** How many chunks are kept. */
  get size(): number {
    return this.chunks.size
  }

  /** The tiles of a small area: what has to be made of the whole `/v2` form is kept for the next reader. */
  *written(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      if (isKept(form)) yield cut(this.chunks.get(number) ?? this.keep(number), from, to)
      else yield this.write(form, number, from, to)
    }
  }

  /**
   * The tiles of a large area, each chunk when its reader takes it. What has to be made is not kept: one reader of
   * the whole world must not fill the memory with it.
   */
  *passing(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      const chunk = isKept(form) ? this.chunks.get(number) : undefined
      yield chunk ? cut(chunk, from, to) : this.write(form, number, from, to)
    }
  }

  private write(form: TileForm, number: number, from: number, to: number): Uint8Array {
    const first = number * CHUNK_ROWS
    let text = ''
    for (let row = first + from; row < first + to; row++) text += form.write(tileAt(this.source, row))
    return Buffer.from(text)
  }

  private keep(number: number): Chunk {
    const chunk = makeChunk(this.source, number)
    this.chunks.set(number, chunk)
    if (this.chunks.size > KEPT_CHUNKS) this.chunks.delete(this.chunks.keys().next().value!)
    return chunk
  }
}

function makeChunk(source: TileSource, number: number): Chunk {
  const { from, to } = rowsOf(source, number)
  const starts = new Uint32Array(to - from + 1)
  let text = ''
  for (let row = from; row < to; row++) {
    const tile = WHOLE_FORM.write(tileAt(source, row))
    starts[row - from + 1] = starts[row - from]! + Buffer.byteLength(tile)
    text += tile
  }
  return { bytes: Buffer.from(text), starts }
}

function isSameChunk(before: TileSource, now: TileSource, number: number): boolean {
  const { from, to } = rowsOf(now, number)
  if (rowsOf(before, number).to !== to) return false
  for (let row = from; row < to; row++) if (!isSameTile(before, now, row)) return false
  return true
}

function rowsOf({ parcels }: TileSource, number: number): RowRange {
  const from = number * CHUNK_ROWS
  return { from, to: Math.min(parcels.x.length, from + CHUNK_ROWS) }
}

/** A part of a chunk: its tiles from one to before another, counted from its beginning. */
interface ChunkPart extends RowRange {
  readonly number: number
}

function* inChunks(rows: readonly RowRange[]): Generator<ChunkPart> {
  for (const { from, to } of rows) {
    for (let row = from; row < to; ) {
      const number = Math.floor(row / CHUNK_ROWS)
      const first = number * CHUNK_ROWS
      const end = Math.min(to, first + CHUNK_ROWS)
      yield { number, from: row - first, to: end - first }
      row = end
    }
  }
}

function cut({ bytes, starts }: Chunk, from: number, to: number): Uint8Array {
  return bytes.subarray(starts[from]!, starts[to]!)
}

function isKept({ version, isWhole }: TileForm): boolean {
  return version === 'v2' && isWhole
}

/** Holds the texts that are right now. */
export class TileTextsKeeper {
  private latest: { readonly openOffers: OpenOffers; readonly texts: TileTexts } | undefined

  /** The texts of a state and of what is for sale in it: the same ones until either is another. */
  textsOf(state: State, openOffers: OpenOffers): TileTexts {
    // Open offers belong to one state and one time between two expiries: where they are the same, all is.
    if (this.latest?.openOffers === openOffers) return this.latest.texts
    const texts = new TileTexts(tileSource(state.parts, openOffers), this.latest?.texts)
    this.latest = { openOffers, texts }
    return texts
  }
}

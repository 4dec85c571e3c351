import type { Registries } from '../../land/records/contracts.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import type { RowRange, State } from '../../state/state.ts'
import { ALL_FIELDS, type TileForm, tileForm } from './tile-forms.ts'
import { isSameTile, type TileSource, tileAt, tileSource } from './tile-source.ts'

/** Rows of one chunk: about 100 kB of text, a good size for one write. */
const CHUNK_ROWS = 256
/** Chunks in the cache: 98,304 tiles, about 38 MB. A world of 90,601 parcels has 354 chunks, 35 MB. */
const MAX_CACHED_CHUNKS = 384

/** The tiles of some rows in the whole `/v2` form, one after the other. */
interface Chunk {
  readonly bytes: Buffer
  /** The offset of each tile, and the end of the last one. */
  readonly starts: Uint32Array
}

const WHOLE_FORM = tileForm(ALL_FIELDS)

/**
 * The texts of the tiles of one {@link TileSource}, in the order of rows: members of a JSON object, each followed by a
 * comma. They are written when they are first requested, and cached in chunks of rows.
 */
export class TileTexts {
  private readonly source: TileSource
  /** By number, the oldest first. */
  private readonly chunks = new Map<number, Chunk>()

  /** @param previous texts of an earlier state, whose chunks without a changed tile are reused */
  constructor(source: TileSource, previous?: TileTexts) {
    this.source = source
    for (const [number, chunk] of previous?.chunks ?? []) {
      if (isSameChunk(previous!.source, source, number)) this.chunks.set(number, chunk)
    }
  }

  /** Number of cached chunks. */
  get size(): number {
    return this.chunks.size
  }

  /** The tiles of a small area. Chunks of the whole `/v2` form are cached. */
  *smallAreaPieces(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      if (isCached(form)) yield cut(this.chunks.get(number) ?? this.makeAndCache(number), from, to)
      else yield this.write(form, number, from, to)
    }
  }

  /**
   * The tiles of a large area, each chunk when the client reads it. Cached chunks are used, but none is added: one
   * request for the whole world would replace all of them.
   */
  *largeAreaPieces(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      const chunk = isCached(form) ? this.chunks.get(number) : undefined
      yield chunk ? cut(chunk, from, to) : this.write(form, number, from, to)
    }
  }

  private write(form: TileForm, number: number, from: number, to: number): Uint8Array {
    const first = number * CHUNK_ROWS
    let text = ''
    for (let row = first + from; row < first + to; row++) text += form.write(tileAt(this.source, row))
    return Buffer.from(text)
  }

  private makeAndCache(number: number): Chunk {
    const chunk = makeChunk(this.source, number)
    this.chunks.set(number, chunk)
    if (this.chunks.size > MAX_CACHED_CHUNKS) this.chunks.delete(this.chunks.keys().next().value!)
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
  return { from, to: Math.min(parcels.inWorld, from + CHUNK_ROWS) }
}

/** A part of a chunk: a range of its rows, counted from its first row. */
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

function isCached({ version, isWhole }: TileForm): boolean {
  return version === 'v2' && isWhole
}

/** Holds the texts of the last state. */
export class TileTextsCache {
  private readonly registries: Registries
  private latest: { readonly openOffers: OpenOffers; readonly texts: TileTexts } | undefined

  constructor(registries: Registries) {
    this.registries = registries
  }

  /** The texts of a state with its open offers. Repeated calls return the same object. */
  textsOf(state: State, openOffers: OpenOffers): TileTexts {
    // The object of open offers is unique for a state and a time between two expiries.
    if (this.latest?.openOffers === openOffers) return this.latest.texts
    const texts = new TileTexts(tileSource(state.parts, openOffers, this.registries), this.latest?.texts)
    this.latest = { openOffers, texts }
    return texts
  }
}

import { LRUCache } from 'lru-cache'
import type { Registries } from '../../land/records/contracts.ts'
import type { OpenOffers } from '../../state/parts/open-offers.ts'
import type { RowRange, State } from '../../state/state.ts'
import { ALL_FIELDS, type TileForm, tileForm } from './tile-forms.ts'
import { isSameTile, type TileSource, tileAt, tileSource } from './tile-source.ts'

/** Rows of one chunk: about 100 kB of text, a good size for one write. */
const CHUNK_ROWS = 256
/** The size of all cached chunks: all tiles of a world of 90,601 parcels take 35 MB. */
const MAX_CACHED_BYTES = 40 * 1024 * 1024

const WHOLE_FORM = tileForm(ALL_FIELDS)

/**
 * The texts of the tiles of one {@link TileSource}, in the order of rows: members of a JSON object, each followed by a
 * comma. They are written when they are first requested, and cached in chunks of rows.
 */
export class TileTexts {
  private readonly source: TileSource
  /** By number; the least recently used is dropped first. */
  private readonly chunks = new LRUCache<number, Chunk>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (chunk) => chunk.memory,
  })

  /** @param previous texts of an earlier state, whose chunks without a changed tile are reused */
  constructor(source: TileSource, previous?: TileTexts) {
    this.source = source
    if (!previous) return
    for (const number of previous.chunks.rkeys()) {
      const chunk = previous.chunks.peek(number)
      if (chunk && isSameChunk(previous.source, source, number)) this.chunks.set(number, chunk)
    }
  }

  /** Bytes of the cached chunks. */
  get cachedBytes(): number {
    return this.chunks.calculatedSize
  }

  /** The tiles of a small area. Those of the whole `/v2` form are cached. */
  *smallAreaPieces(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      if (isCached(form)) yield* this.filledChunk(number, from, to).pieces(from, to)
      else yield this.write(form, number, from, to)
    }
  }

  /**
   * The tiles of a large area, each chunk when the client reads it. Cached tiles are used, but none is added: one
   * request for the whole world would replace all of them.
   */
  *largeAreaPieces(form: TileForm, rows: readonly RowRange[]): Generator<Uint8Array> {
    for (const { number, from, to } of inChunks(rows)) {
      const chunk = isCached(form) ? this.chunks.peek(number) : undefined
      if (chunk?.has(from, to)) yield* chunk.pieces(from, to)
      else yield this.write(form, number, from, to)
    }
  }

  private write(form: TileForm, number: number, from: number, to: number): Uint8Array {
    const first = number * CHUNK_ROWS
    let text = ''
    for (let row = first + from; row < first + to; row++) text += form.write(tileAt(this.source, row))
    return Buffer.from(text)
  }

  /** The cached chunk, with all tiles of a range. */
  private filledChunk(number: number, from: number, to: number): Chunk {
    const known = this.chunks.get(number)
    if (known?.has(from, to)) return known
    const chunk = known ?? new Chunk()
    const first = number * CHUNK_ROWS
    chunk.fill(from, to, (row) => WHOLE_FORM.write(tileAt(this.source, first + row)))
    this.chunks.set(number, chunk)
    return chunk
  }
}

/**
 * The tiles of a chunk in the whole `/v2` form: only those that were asked for, because a window of a map needs a part of each of
 * its columns. Texts follow each other in the order in which they were asked for. Rows are counted from the first of the chunk.
 */
class Chunk {
  private bytes = Buffer.alloc(0)
  private readonly starts = new Uint32Array(CHUNK_ROWS)
  /** 0: not written yet. */
  private readonly ends = new Uint32Array(CHUNK_ROWS)

  /** In bytes. */
  get memory(): number {
    return this.bytes.length + this.starts.byteLength + this.ends.byteLength
  }

  has(from: number, to: number): boolean {
    for (let row = from; row < to; row++) if (this.ends[row] === 0) return false
    return true
  }

  /** Writes the tiles of a range that are missing. */
  fill(from: number, to: number, writeTile: (row: number) => string): void {
    let text = ''
    let end = this.bytes.length
    for (let row = from; row < to; row++) {
      if (this.ends[row]! > 0) continue
      const tile = writeTile(row)
      this.starts[row] = end
      end += Buffer.byteLength(tile)
      this.ends[row] = end
      text += tile
    }
    this.bytes = Buffer.concat([this.bytes, Buffer.from(text)])
  }

  /** The tiles of a range, which must be there. Those that follow each other in memory are one piece. */
  *pieces(from: number, to: number): Generator<Uint8Array> {
    for (let row = from; row < to; ) {
      let next = row + 1
      while (next < to && this.starts[next] === this.ends[next - 1]) next++
      yield this.bytes.subarray(this.starts[row]!, this.ends[next - 1]!)
      row = next
    }
  }
}

/** Compares also the tiles that are not written yet: both texts write them into the chunk. */
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

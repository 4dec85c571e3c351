import { CHUNK_ROWS, type JsonSlab, type SlabChunk } from './parts.ts'
import { replacePieces } from './pieces.ts'

const FIRST_ROOM_BYTES = 256 * 1024
/** The most bytes of UTF-8 that one UTF-16 unit can need. */
const MAX_BYTES_PER_UNIT = 3

/** Writes pieces one after another, chunk by chunk: each is held twice only until its chunk is full. */
export class SlabWriter {
  private readonly chunks: SlabChunk[] = []
  private room = Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES)
  private used = 0
  private starts: number[] = [0]

  add(piece: string | Uint8Array): void {
    if (typeof piece === 'string') {
      this.makeRoom(piece.length * MAX_BYTES_PER_UNIT)
      this.used += this.room.write(piece, this.used)
    } else {
      this.makeRoom(piece.length)
      this.room.set(piece, this.used)
      this.used += piece.length
    }
    this.starts.push(this.used)
    if (this.starts.length > CHUNK_ROWS) this.endChunk()
  }

  finish(): JsonSlab {
    if (this.starts.length > 1) this.endChunk()
    return { chunks: this.chunks }
  }

  private endChunk(): void {
    // A buffer of its own, which goes when the chunk does
    const bytes = new Uint8Array(this.room.subarray(0, this.used))
    this.chunks.push({ bytes, starts: Uint32Array.from(this.starts) })
    this.used = 0
    this.starts = [0]
  }

  private makeRoom(bytes: number): void {
    if (bytes <= this.room.length - this.used) return
    const wider = Buffer.allocUnsafeSlow(Math.max(2 * this.room.length, this.used + bytes))
    this.room.copy(wider, 0, 0, this.used)
    this.room = wider
  }
}

export function rowsOfSlab({ chunks }: JsonSlab): number {
  const last = chunks.at(-1)
  return last ? (chunks.length - 1) * CHUNK_ROWS + last.starts.length - 1 : 0
}

/** One piece, without its last `cut` bytes. */
export function pieceOf({ chunks }: JsonSlab, row: number, cut = 0): Uint8Array {
  const { bytes, starts } = chunks[Math.floor(row / CHUNK_ROWS)]!
  const i = row % CHUNK_ROWS
  return bytes.subarray(starts[i]!, starts[i + 1]! - cut)
}

/**
 * A slab with other pieces in some rows; all chunks without one of them are shared with the old slab. Rows from its
 * end on are added, and must leave no gap.
 */
export function patchSlab(slab: JsonSlab, pieces: ReadonlyMap<number, string>): JsonSlab {
  if (pieces.size === 0) return slab
  const changed = new Map<number, Map<number, Uint8Array>>()
  let rows = rowsOfSlab(slab)
  for (const [row, piece] of pieces) {
    const number = Math.floor(row / CHUNK_ROWS)
    const inChunk = changed.get(number) ?? new Map<number, Uint8Array>()
    changed.set(number, inChunk.set(row % CHUNK_ROWS, Buffer.from(piece)))
    rows = Math.max(rows, row + 1)
  }
  const chunks = slab.chunks.slice()
  for (const [number, inChunk] of changed) {
    const { bytes: values, starts } = slab.chunks[number] ?? EMPTY_CHUNK
    const patched = replacePieces(
      { starts, values },
      inChunk,
      Math.min(CHUNK_ROWS, rows - number * CHUNK_ROWS),
    )
    chunks[number] = { bytes: patched.values, starts: patched.starts }
  }
  return { chunks }
}

const EMPTY_CHUNK: SlabChunk = { bytes: new Uint8Array(0), starts: Uint32Array.of(0) }

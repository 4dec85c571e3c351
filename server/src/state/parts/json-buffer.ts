import { CHUNK_ROWS, type JsonBuffer } from './parts.ts'
import { countPieces, type Pieces, patchChunks } from './pieces.ts'

const INITIAL_BYTES = 256 * 1024
/** The most bytes of UTF-8 for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

/** Writes pieces one after another, chunk by chunk. Only the pieces of the unfinished chunk are in memory twice. */
export class JsonBufferWriter {
  private readonly chunks: Pieces<Uint8Array>[] = []
  private working = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  private used = 0
  private starts: number[] = [0]

  add(piece: string | Uint8Array): void {
    if (typeof piece === 'string') {
      this.reserve(piece.length * MAX_BYTES_PER_UNIT)
      this.used += this.working.write(piece, this.used)
    } else {
      this.reserve(piece.length)
      this.working.set(piece, this.used)
      this.used += piece.length
    }
    this.starts.push(this.used)
    if (this.starts.length > CHUNK_ROWS) this.endChunk()
  }

  finish(): JsonBuffer {
    if (this.starts.length > 1) this.endChunk()
    return { chunks: this.chunks }
  }

  private endChunk(): void {
    // A copy of exact length, which is freed together with the chunk
    const values = new Uint8Array(this.working.subarray(0, this.used))
    this.chunks.push({ values, starts: Uint32Array.from(this.starts) })
    this.used = 0
    this.starts = [0]
  }

  private reserve(bytes: number): void {
    if (bytes <= this.working.length - this.used) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.working.length, this.used + bytes))
    this.working.copy(larger, 0, 0, this.used)
    this.working = larger
  }
}

export function countRows({ chunks }: JsonBuffer): number {
  return countPieces(chunks, CHUNK_ROWS)
}

/** One piece, without its last `cut` bytes. */
export function pieceOf({ chunks }: JsonBuffer, row: number, cut = 0): Uint8Array {
  const { values, starts } = chunks[Math.floor(row / CHUNK_ROWS)]!
  const i = row % CHUNK_ROWS
  return values.subarray(starts[i]!, starts[i + 1]! - cut)
}

/**
 * Replaces the pieces of some rows. Chunks without a changed row are shared with the old buffer. Rows beyond the end
 * are added, and must leave no gap.
 */
export function patchJsonBuffer(buffer: JsonBuffer, pieces: ReadonlyMap<number, string>): JsonBuffer {
  if (pieces.size === 0) return buffer
  const changed = new Map<number, Uint8Array>()
  for (const [row, piece] of pieces) changed.set(row, Buffer.from(piece))
  return { chunks: patchChunks(buffer.chunks, changed, { size: CHUNK_ROWS, none: NO_BYTES }) }
}

const NO_BYTES = new Uint8Array(0)

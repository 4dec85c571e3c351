import { CHUNK_ROWS, type JsonBuffer, type JsonBufferChunk } from './parts.ts'
import { replacePieces } from './pieces.ts'

const INITIAL_BYTES = 256 * 1024
/** The most bytes of UTF-8 for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

/** Writes pieces one after another, chunk by chunk. Only the pieces of the unfinished chunk are in memory twice. */
export class JsonBufferWriter {
  private readonly chunks: JsonBufferChunk[] = []
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
    const bytes = new Uint8Array(this.working.subarray(0, this.used))
    this.chunks.push({ bytes, starts: Uint32Array.from(this.starts) })
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
  const last = chunks.at(-1)
  return last ? (chunks.length - 1) * CHUNK_ROWS + last.starts.length - 1 : 0
}

/** One piece, without its last `cut` bytes. */
export function pieceOf({ chunks }: JsonBuffer, row: number, cut = 0): Uint8Array {
  const { bytes, starts } = chunks[Math.floor(row / CHUNK_ROWS)]!
  const i = row % CHUNK_ROWS
  return bytes.subarray(starts[i]!, starts[i + 1]! - cut)
}

/**
 * Replaces the pieces of some rows. Chunks without a changed row are shared with the old buffer. Rows beyond the end
 * are added, and must leave no gap.
 */
export function patchJsonBuffer(buffer: JsonBuffer, pieces: ReadonlyMap<number, string>): JsonBuffer {
  if (pieces.size === 0) return buffer
  const changed = new Map<number, Map<number, Uint8Array>>()
  let rows = countRows(buffer)
  for (const [row, piece] of pieces) {
    const number = Math.floor(row / CHUNK_ROWS)
    const inChunk = changed.get(number) ?? new Map<number, Uint8Array>()
    changed.set(number, inChunk.set(row % CHUNK_ROWS, Buffer.from(piece)))
    rows = Math.max(rows, row + 1)
  }
  const chunks = buffer.chunks.slice()
  for (const [number, inChunk] of changed) {
    const { bytes: values, starts } = buffer.chunks[number] ?? EMPTY_CHUNK
    const patched = replacePieces(
      { starts, values },
      inChunk,
      Math.min(CHUNK_ROWS, rows - number * CHUNK_ROWS),
    )
    chunks[number] = { bytes: patched.values, starts: patched.starts }
  }
  return { chunks }
}

const EMPTY_CHUNK: JsonBufferChunk = { bytes: new Uint8Array(0), starts: Uint32Array.of(0) }

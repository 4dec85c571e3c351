import type { JsonSlab } from './parts.ts'

const CHUNK_BYTES = 1 << 20
/** The most bytes of UTF-8 that one UTF-16 unit can need. */
const MAX_BYTES_PER_UNIT = 3

/** Writes pieces of text one after another, without holding all of them twice until the end. */
export class SlabWriter {
  private readonly full: Buffer[] = []
  private chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  private used = 0
  private before = 0
  private readonly starts: number[] = [0]

  add(piece: string): void {
    const room = piece.length * MAX_BYTES_PER_UNIT
    if (room > this.chunk.length - this.used) this.startChunk(room)
    this.used += this.chunk.write(piece, this.used)
    this.starts.push(this.before + this.used)
  }

  finish(): JsonSlab {
    this.full.push(this.chunk.subarray(0, this.used))
    const total = this.before + this.used
    const bytes = new Uint8Array(total)
    let at = 0
    for (const chunk of this.full.splice(0)) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    const starts = total < 2 ** 32 ? Uint32Array.from(this.starts) : Float64Array.from(this.starts)
    return { bytes, starts }
  }

  private startChunk(room: number): void {
    this.full.push(this.chunk.subarray(0, this.used))
    this.before += this.used
    this.chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, room))
    this.used = 0
  }
}

/** The first picture of a WebP, as a file that is no animation. */
export interface WebpFrame {
  readonly widthPx: number
  readonly heightPx: number
  /** Whether the file is an animation. */
  readonly isAnimated: boolean
  readonly file: Buffer
}

const HEADER_BYTES = 12
/** Type and length of a chunk. */
const CHUNK_HEAD_BYTES = 8
/** Position, size, time and flags of a frame of an animation, before its own chunks. */
const FRAME_HEAD_BYTES = 16
const HAS_ALPHA = 0x10

interface Chunk {
  readonly type: string
  readonly body: Buffer
}

/** Finds the first picture of a WebP. Undefined for other files, and for damaged ones. */
export function firstWebpFrame(bytes: Buffer): WebpFrame | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined
  const chunks = chunksFrom(bytes, HEADER_BYTES)
  const animated = chunks?.find(({ type }) => type === 'ANMF')
  const own = animated ? chunksFrom(animated.body, FRAME_HEAD_BYTES) : chunks
  const picture = own?.find(({ type }) => type === 'VP8 ' || type === 'VP8L')
  const size = picture && sizeOf(picture)
  if (!own || !picture || !size || size.widthPx * size.heightPx === 0) return undefined
  const alpha = picture.type === 'VP8 ' ? own.find(({ type }) => type === 'ALPH') : undefined
  const parts = alpha ? [extended(size), alpha, picture] : [picture]
  return { ...size, isAnimated: animated !== undefined, file: fileOf(parts) }
}

/** @returns undefined where the last chunk is longer than the file */
function chunksFrom(bytes: Buffer, from: number): readonly Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = from; at + CHUNK_HEAD_BYTES <= bytes.length; ) {
    const begin = at + CHUNK_HEAD_BYTES
    const end = begin + bytes.readUInt32LE(at + 4)
    if (end > bytes.length) return undefined
    chunks.push({ type: bytes.toString('latin1', at, at + 4), body: bytes.subarray(begin, end) })
    at = end + (end % 2)
  }
  return chunks
}

function sizeOf({ type, body }: Chunk): { readonly widthPx: number; readonly heightPx: number } | undefined {
  if (type === 'VP8 ') {
    const isKeyFrame = body.length >= 10 && (body[0]! & 1) === 0 && body.readUIntBE(3, 3) === 0x9d012a
    if (!isKeyFrame) return undefined
    return { widthPx: body.readUInt16LE(6) & 0x3fff, heightPx: body.readUInt16LE(8) & 0x3fff }
  }
  if (body.length < 5 || body[0] !== 0x2f) return undefined
  const bits = body.readUInt32LE(1)
  return { widthPx: (bits & 0x3fff) + 1, heightPx: ((bits >> 14) & 0x3fff) + 1 }
}

/** The chunk that announces the chunk with the opacity. */
function extended({ widthPx, heightPx }: { readonly widthPx: number; readonly heightPx: number }): Chunk {
  const body = Buffer.alloc(10)
  body[0] = HAS_ALPHA
  body.writeUIntLE(widthPx - 1, 4, 3)
  body.writeUIntLE(heightPx - 1, 7, 3)
  return { type: 'VP8X', body }
}

function fileOf(chunks: readonly Chunk[]): Buffer {
  const written = chunks.flatMap(({ type, body }) => {
    const head = Buffer.alloc(CHUNK_HEAD_BYTES)
    head.write(type, 'latin1')
    head.writeUInt32LE(body.length, 4)
    return [head, body, Buffer.alloc(body.length % 2)]
  })
  const content = Buffer.concat([Buffer.from('WEBP'), ...written])
  const head = Buffer.alloc(CHUNK_HEAD_BYTES)
  head.write('RIFF', 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content])
}

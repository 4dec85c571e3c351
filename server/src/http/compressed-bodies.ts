import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import zlib, { type BrotliCompress, type Gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { ownBytes } from '../own-memory.ts'
import type { ContentEncoding } from './content-encoding.ts'
import {
  COMPRESS_FROM_BYTES,
  COMPRESS_OFF_MAIN_THREAD_FROM_BYTES,
  ENCODERS,
  LARGE_BLOCK_BYTES,
} from './encoders.ts'

/** A body that many clients share, in each encoding that they accept. */
export interface SharedBody {
  /** @returns the encoding for a client that accepts this one; undefined: the body is sent uncompressed */
  encodingFor(accepted: ContentEncoding | undefined): ContentEncoding | undefined
  bytesIn(encoding: ContentEncoding | undefined): Uint8Array | Promise<Uint8Array>
}

export interface CompressedForm {
  readonly encoding: ContentEncoding
  readonly bytes: Buffer
}

/** Bytes of all bodies of a cache. A larger body is not cached: with brotli, a world of two million parcels. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024
/** Enough for the endpoints in each encoding. A cache whose names come from requests has a lower limit. */
const MAX_CACHED_BODIES = 32

interface Entry {
  readonly tag: string
  readonly body: SmallBody | GrowingBody
}

/**
 * A cache of bodies that many clients request, each compressed once. Without it, the same map would be compressed anew for
 * each visitor. It holds one body for each name (a large body: for
 * each name and encoding), until a body with another tag is requested. All bodies together take at most `maxBytes`; the
 * least recently used are dropped first. A body that is being made is counted when it is complete.
 *
 * Above 32 kB, compression runs off the main thread (zlib has its own threads). Large bodies are made one after another, so that the
 * work takes one core and the memory of one encoder.
 */
export class CompressedBodies {
  private readonly entries: LRUCache<string, Entry>
  private lastLarge = Promise.resolve()

  constructor(maxBytes = MAX_CACHED_BYTES, maxBodies = MAX_CACHED_BODIES) {
    this.entries = new LRUCache({ maxSize: maxBytes, max: maxBodies })
  }

  /** Bytes of all cached bodies, in all their encodings. */
  get bytes(): number {
    return this.entries.calculatedSize
  }

  /**
   * A body that is made at once, cached plain and in each encoding that was requested.
   *
   * @param make called if no body of this name and tag is cached
   */
  small(name: string, tag: string, make: () => Buffer): SmallBody {
    const key = `small ${name}`
    const known = this.find(key, tag)
    if (known instanceof SmallBody) return known
    const body = new SmallBody(make(), () => this.updateSize(key, { tag, body }, body.bytes))
    this.set(key, { tag, body }, body.bytes)
    return body
  }

  /**
   * A body that is made piece by piece: cached, being made, or started by this call.
   *
   * @param pieces called at once if the body is not cached; its pieces are read after the large bodies that were
   *   requested before are complete
   */
  large(
    name: string,
    tag: string,
    encoding: ContentEncoding,
    pieces: () => Iterable<Uint8Array>,
  ): GrowingBody {
    const key = `${encoding} ${name}`
    const known = this.find(key, tag)
    if (known instanceof GrowingBody) return known
    const plain = pieces()
    const body = new GrowingBody()
    const entry = { tag, body }
    this.set(key, entry, 1)
    this.lastLarge = this.lastLarge
      .then(() => compress(plain, encoding, body))
      .then((bytes) => this.updateSize(key, entry, bytes))
      .catch((error: Error) => {
        body.fail(error)
        if (this.entries.peek(key)?.body === body) this.entries.delete(key)
      })
    return body
  }

  /** Whether a large body is cached or being made. */
  holdsLarge(name: string, tag: string, encoding: ContentEncoding): boolean {
    return this.entries.peek(`${encoding} ${name}`)?.tag === tag
  }

  /** A compressed form of a large body that is cached and complete: the first of these encodings. */
  complete(name: string, tag: string, encodings: readonly ContentEncoding[]): CompressedForm | undefined {
    for (const encoding of encodings) {
      const body = this.find(`${encoding} ${name}`, tag)
      if (body instanceof GrowingBody && body.whole) return { encoding, bytes: body.whole }
    }
    return undefined
  }

  private find(key: string, tag: string): Entry['body'] | undefined {
    const entry = this.entries.get(key)
    return entry?.tag === tag ? entry.body : undefined
  }

  /** Stores the size of a body that has grown, unless another body has replaced it. Drops a body above the limit. */
  private updateSize(key: string, entry: Entry, bytes: number): void {
    if (this.entries.peek(key)?.body === entry.body) this.set(key, entry, bytes)
  }

  private set(key: string, entry: Entry, bytes: number): void {
    // A new object each time: the cache ignores the new size of an object that it holds already.
    this.entries.set(key, { ...entry }, { size: Math.max(bytes, 1) })
  }
}

const gzip = promisify(zlib.gzip)
const brotli = promisify(zlib.brotliCompress)

/** Compresses a body that is in memory: a large one off the main thread. */
export function compressWhole(bytes: Uint8Array, encoding: ContentEncoding): Buffer | Promise<Buffer> {
  const isAtOnce = bytes.length < COMPRESS_OFF_MAIN_THREAD_FROM_BYTES
  if (encoding === 'gzip') return (isAtOnce ? zlib.gzipSync : gzip)(bytes, ENCODERS.small.gzip)
  const { params } = ENCODERS.small.br
  const options = { params: { ...params, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }
  return (isAtOnce ? zlib.brotliCompressSync : brotli)(bytes, options)
}

/** The compressed forms of one body: each is made once, when it is first requested. */
export class CompressedForms {
  private readonly forms = new Map<ContentEncoding, Buffer | Promise<Buffer>>()
  private readonly onGrown: () => void
  private madeBytes = 0

  /** @param onGrown called when one more form was made */
  constructor(onGrown: () => void = () => {}) {
    this.onGrown = onGrown
  }

  /** Bytes of the forms that were made. */
  get bytes(): number {
    return this.madeBytes
  }

  /** A form that was made; undefined if it was not, or is being made. */
  made(encoding: ContentEncoding): Buffer | undefined {
    const form = this.forms.get(encoding)
    return form instanceof Promise ? undefined : form
  }

  /** @throws the error of the encoder; it is not cached, and the next request tries again */
  bytesIn(encoding: ContentEncoding, plain: () => Buffer): Buffer | Promise<Buffer> {
    const known = this.forms.get(encoding)
    if (known) return known
    const made = compressWhole(plain(), encoding)
    if (!(made instanceof Promise)) return this.keep(encoding, made)
    const making = made.then((form) => this.keep(encoding, form))
    this.forms.set(encoding, making)
    making.catch(() => this.forms.delete(encoding))
    return making
  }

  private keep(encoding: ContentEncoding, made: Buffer): Buffer {
    const form = ownBytes(made)
    this.forms.set(encoding, form)
    this.madeBytes += form.length
    this.onGrown()
    return form
  }
}

/** A body that is in memory as a whole. It is compressed once for each encoding, when the first client requests it. */
export class SmallBody implements SharedBody {
  private readonly plain: Buffer
  private readonly forms: CompressedForms

  /** @param onGrown called when the body has been compressed with one more encoding */
  constructor(plain: Buffer, onGrown?: () => void) {
    this.plain = plain
    this.forms = new CompressedForms(onGrown)
  }

  /** Bytes of the plain body and its compressed forms. */
  get bytes(): number {
    return this.plain.length + this.forms.bytes
  }

  encodingFor(accepted: ContentEncoding | undefined): ContentEncoding | undefined {
    return this.plain.length < COMPRESS_FROM_BYTES ? undefined : accepted
  }

  /** @throws the error of the encoder; it is not cached, and the next request tries again */
  bytesIn(encoding: ContentEncoding | undefined): Buffer | Promise<Buffer> {
    return encoding === undefined ? this.plain : this.forms.bytesIn(encoding, () => this.plain)
  }
}

/** A compressed body that is still being made: clients get the pieces that exist, and the others when they are made. */
export class GrowingBody {
  /** The complete body; undefined until then. */
  whole: Buffer | undefined
  private pieces: Buffer[] = []
  private failure: Error | undefined
  private waiting: (() => void)[] = []

  /** @throws the error that stopped the compression, after the pieces that were made before it */
  async *read(): AsyncGenerator<Uint8Array> {
    if (this.whole) return yield this.whole
    const { pieces } = this
    for (let next = 0; ; ) {
      while (next < pieces.length) yield pieces[next++]!
      if (this.failure) throw this.failure
      if (this.whole) return
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  add(piece: Buffer): void {
    this.pieces.push(piece)
    this.wake()
  }

  /** @returns the number of bytes */
  finish(): number {
    this.whole = Buffer.concat(this.pieces)
    this.pieces = [] // clients that are still reading hold the old list
    this.wake()
    return this.whole.length
  }

  fail(error: Error): void {
    this.failure = error
    this.wake()
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

/** @returns the number of bytes */
async function compress(
  pieces: Iterable<Uint8Array>,
  encoding: ContentEncoding,
  body: GrowingBody,
): Promise<number> {
  const encoder =
    encoding === 'br' ? zlib.createBrotliCompress(ENCODERS.large.br) : zlib.createGzip(ENCODERS.large.gzip)
  await pipeline(
    Readable.from(inBlocks(pieces, encoder, LARGE_BLOCK_BYTES[encoding]), { objectMode: false }),
    encoder,
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const piece of compressed) body.add(piece)
    },
  )
  return body.finish()
}

async function* inBlocks(
  pieces: Iterable<Uint8Array>,
  encoder: BrotliCompress | Gzip,
  blockBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for (const piece of pieces) {
    yield piece
    bytes += piece.length
    if (bytes < blockBytes) continue
    bytes = 0
    await new Promise<void>((resolve) => encoder.flush(zlib.constants.BROTLI_OPERATION_FLUSH, resolve))
  }
}

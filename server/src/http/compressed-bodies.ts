import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import zlib, { type BrotliCompress, type Gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Coding } from './codings.ts'
import { COMPRESS_FROM_BYTES, ENCODERS, LARGE_BLOCK_BYTES } from './encoders.ts'

/** A body that is there already, in the codings that clients accept. */
export interface SharedBody {
  /** @returns the coding in which it goes to a client that accepts this one; undefined: as it is */
  codingFor(accepted: Coding | undefined): Coding | undefined
  in(coding: Coding | undefined): Uint8Array | Promise<Uint8Array>
}

/** A larger body is made for each client that asks: in brotli that would be a world of two million parcels. */
export const KEPT_BYTES = 32 * 1024 * 1024
/** Room for the names of the endpoints in each coding; a cache whose names come from requests is given less. */
const KEPT_BODIES = 32

interface Entry {
  readonly tag: string
  readonly body: SmallBody | GrowingBody
}

/**
 * The bodies that many clients ask for, compressed once for all of them: one for each name (and coding, where it is
 * large), until another tag is asked for. All of them together take at most `maxBytes`, those least recently used go
 * first; a body that is being made is counted when it is done.
 *
 * Nothing is compressed on the main thread (zlib works in threads of its own). Large bodies are made one after
 * another, so that the work takes one core and the memory of one encoder, whatever is asked for at once.
 */
export class CompressedBodies {
  private readonly entries: LRUCache<string, Entry>
  private lastLarge = Promise.resolve()

  constructor(maxBytes = KEPT_BYTES, maxBodies = KEPT_BODIES) {
    this.entries = new LRUCache({ maxSize: maxBytes, max: maxBodies })
  }

  /** The bytes of all bodies that are kept, in each of their codings. */
  get bytes(): number {
    return this.entries.calculatedSize
  }

  /**
   * A body that is made whole, kept as it is and in each coding that was asked for.
   *
   * @param make called where no body of this name and tag is kept
   */
  small(name: string, tag: string, make: () => Buffer): SmallBody {
    const key = `small ${name}`
    const known = this.find(key, tag)
    if (known instanceof SmallBody) return known
    const body = new SmallBody(make(), () => this.keep(key, { tag, body }, body.bytes))
    this.set(key, { tag, body }, body.bytes)
    return body
  }

  /**
   * A body that is made piece by piece: kept, being made, or begun now.
   *
   * @param pieces called at once where the body is not there; what comes back is read when the body's turn to be made
   *   has come
   */
  large(name: string, tag: string, coding: Coding, pieces: () => Iterable<Uint8Array>): GrowingBody {
    const key = `${coding} ${name}`
    const known = this.find(key, tag)
    if (known instanceof GrowingBody) return known
    const plain = pieces()
    const body = new GrowingBody()
    const entry = { tag, body }
    this.set(key, entry, 1)
    this.lastLarge = this.lastLarge
      .then(() => compress(plain, coding, body))
      .then((bytes) => this.keep(key, entry, bytes))
      .catch((error: Error) => {
        body.fail(error)
        if (this.entries.peek(key)?.body === body) this.entries.delete(key)
      })
    return body
  }

  private find(key: string, tag: string): Entry['body'] | undefined {
    const entry = this.entries.get(key)
    return entry?.tag === tag ? entry.body : undefined
  }

  /** Counts a body anew, unless another took its place meanwhile. One that is larger than all of the cache goes. */
  private keep(key: string, entry: Entry, bytes: number): void {
    if (this.entries.peek(key)?.body === entry.body) this.set(key, entry, bytes)
  }

  private set(key: string, entry: Entry, bytes: number): void {
    // A new object each time: the cache does not count the same one anew.
    this.entries.set(key, { ...entry }, { size: Math.max(bytes, 1) })
  }
}

const gzip = promisify(zlib.gzip)
const brotli = promisify(zlib.brotliCompress)

const COMPRESS_WHOLE: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Buffer>>> = {
  br: (bytes) => {
    const { params } = ENCODERS.small.br
    return brotli(bytes, { params: { ...params, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
  },
  gzip: (bytes) => gzip(bytes, ENCODERS.small.gzip),
}

/** A body that is there as a whole. Each coding of it is made once, when the first client asks for it. */
export class SmallBody implements SharedBody {
  private readonly plain: Buffer
  private readonly coded = new Map<Coding, Promise<Buffer>>()
  private readonly onGrown: () => void
  private codedBytes = 0

  /** @param onGrown called when one more coding has been made */
  constructor(plain: Buffer, onGrown: () => void = () => {}) {
    this.plain = plain
    this.onGrown = onGrown
  }

  /** Of the body in all codings that were made. */
  get bytes(): number {
    return this.plain.length + this.codedBytes
  }

  codingFor(accepted: Coding | undefined): Coding | undefined {
    return this.plain.length < COMPRESS_FROM_BYTES ? undefined : accepted
  }

  /** @throws what stopped the encoder: that is not kept, the next client has it tried again */
  in(coding: Coding | undefined): Buffer | Promise<Buffer> {
    if (coding === undefined) return this.plain
    const made = this.coded.get(coding) ?? this.make(coding)
    this.coded.set(coding, made)
    return made
  }

  private make(coding: Coding): Promise<Buffer> {
    const making = COMPRESS_WHOLE[coding](this.plain)
    making.then(
      ({ length }) => {
        this.codedBytes += length
        this.onGrown()
      },
      () => this.coded.delete(coding),
    )
    return making
  }
}

/** A compressed body that may still grow: its readers get what there is, and the rest as it comes. */
export class GrowingBody {
  /** All of it, once it is made. */
  whole: Buffer | undefined
  private pieces: Buffer[] = []
  private failure: Error | undefined
  private waiting: (() => void)[] = []

  /** @throws what stopped the work, after all that was made before */
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
    this.pieces = [] // clients that are reading hold the list itself
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
async function compress(pieces: Iterable<Uint8Array>, coding: Coding, body: GrowingBody): Promise<number> {
  const encoder =
    coding === 'br' ? zlib.createBrotliCompress(ENCODERS.large.br) : zlib.createGzip(ENCODERS.large.gzip)
  await pipeline(
    Readable.from(inBlocks(pieces, encoder, LARGE_BLOCK_BYTES[coding]), { objectMode: false }),
    encoder,
    async (coded: AsyncIterable<Buffer>) => {
      for await (const piece of coded) body.add(piece)
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

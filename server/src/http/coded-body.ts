import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { acceptedCoding, type Coding } from './codings.ts'

/** Less than this is not worth a coding. */
export const COMPRESS_FROM_BYTES = 1024
/** Higher ones take several times as long, for a few per cent. */
export const BROTLI_QUALITY = 4
/** A megabyte, for which an encoder takes 4 MB. Left to itself it takes 15 MB for each large answer, to gain 5 %. */
export const BROTLI_WINDOW_BITS = 20
export const GZIP_LEVEL = 6

const gzip = promisify(zlib.gzip)
const brotli = promisify(zlib.brotliCompress)

const ENCODERS: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Buffer>>> = {
  br: (bytes) =>
    brotli(bytes, {
      params: {
        [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [zlib.constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
        [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => gzip(bytes, { level: GZIP_LEVEL }),
}

/**
 * A body that many readers ask for. Each coding of it is made once, beside the event loop, when the first of them
 * asks; those who ask meanwhile wait for the same work.
 */
export class CodedBody {
  private readonly plain: Buffer
  private readonly coded = new Map<Coding, Promise<Buffer>>()

  constructor(plain: Buffer) {
    this.plain = plain
  }

  /** The coding in which a reader gets it; undefined for none. */
  codingFor(acceptEncoding: string | string[] | undefined): Coding | undefined {
    return this.plain.length < COMPRESS_FROM_BYTES ? undefined : acceptedCoding(String(acceptEncoding ?? ''))
  }

  in(coding: Coding | undefined): Promise<Buffer> {
    if (coding === undefined) return Promise.resolve(this.plain)
    const made = this.coded.get(coding) ?? ENCODERS[coding](this.plain)
    this.coded.set(coding, made)
    return made
  }
}

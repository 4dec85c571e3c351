import { type BrotliOptions, constants, type ZlibOptions } from 'node:zlib'
import type { ContentEncoding } from './content-encoding.ts'

const MIB = 1024 * 1024
const OUTPUT_BYTES = 64 * 1024

/** Bodies below this size go out uncompressed. */
export const COMPRESS_FROM_BYTES = 1024
/** Larger bodies are compressed off the main thread. For smaller ones, the transfer to a thread would cost more. */
export const COMPRESS_OFF_MAIN_THREAD_FROM_BYTES = 32 * 1024
/** Types of text. Images are compressed already. */
export const COMPRESSED_TYPES = /^text\/(?!event-stream)|[+/](?:json|x-ndjson|text|xml)(?:;|$)/

/** Encoder settings for each content encoding. */
interface Encoders extends Readonly<Record<ContentEncoding, BrotliOptions | ZlibOptions>> {
  readonly br: BrotliOptions
  readonly gzip: ZlibOptions
}

/** All compression settings of this server, by the kind of body. */
export const ENCODERS = {
  /** Answers for one client, and shared bodies of up to about 100 kB. */
  small: {
    br: {
      params: {
        // A higher quality takes several times as long, and makes bodies a few per cent smaller.
        [constants.BROTLI_PARAM_QUALITY]: 4,
        // A window of 1 MiB needs 4 MB of memory. The default needs 15 MB for each large answer, and saves 5 %.
        [constants.BROTLI_PARAM_LGWIN]: 20,
      },
    },
    gzip: { level: 6 },
  },
  /**
   * Large bodies that are compressed once for all clients, with an encoder of 8 MB. A higher quality or a larger window
   * needs up to 60 MB and saves at most a tenth: of 34.8 MB of tiles this makes 1.29 MB in 0.7 s, quality 9 with 16 MB
   * makes 1.26 MB in 4.5 s.
   */
  large: {
    br: {
      chunkSize: OUTPUT_BYTES,
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 21,
        // Any hint above 1 MiB has the same effect: the encoder searches more.
        [constants.BROTLI_PARAM_SIZE_HINT]: 16 * MIB,
      },
    },
    gzip: { chunkSize: OUTPUT_BYTES, level: 9, memLevel: 9 },
  },
  /**
   * Large bodies that are compressed for one client while it reads. In time and size this quality of brotli is better
   * than gzip at any level: 42 MB of `/map` take a fifth of the time of quality 4, and come out a third larger.
   */
  streamed: {
    br: {
      chunkSize: OUTPUT_BYTES,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_LGWIN]: 18,
      },
    },
    gzip: { chunkSize: OUTPUT_BYTES, level: 1 },
  },
  /** The two HTML pages, compressed once at the start: the defaults, for brotli its highest quality. */
  page: { br: {}, gzip: {} },
} as const satisfies Readonly<Record<string, Encoders>>

/**
 * The encoder of a large body is flushed after this many bytes of plain text. Brotli holds its output in memory until a
 * block ends, and would need half as much memory again; gzip writes continuously.
 */
export const LARGE_BLOCK_BYTES: Readonly<Record<ContentEncoding, number>> = {
  br: MIB,
  gzip: Number.POSITIVE_INFINITY,
}

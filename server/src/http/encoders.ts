import { type BrotliOptions, constants, type ZlibOptions } from 'node:zlib'
import type { Coding } from './codings.ts'

const MIB = 1024 * 1024
const OUTPUT_BYTES = 64 * 1024

/** Bodies below this size go out uncompressed. */
export const COMPRESS_FROM_BYTES = 1024

/** The settings of an encoder for each coding. */
interface Encoders extends Readonly<Record<Coding, BrotliOptions | ZlibOptions>> {
  readonly br: BrotliOptions
  readonly gzip: ZlibOptions
}

/** Every setting with which this server compresses, by what it compresses. */
export const ENCODERS = {
  /** One answer for one client, and bodies of up to some 100 kB that many clients share. */
  small: {
    br: {
      params: {
        // Higher ones take several times as long, for a few per cent.
        [constants.BROTLI_PARAM_QUALITY]: 4,
        // A megabyte, for which an encoder takes 4 MB. The default takes 15 MB for each large answer, to gain 5 %.
        [constants.BROTLI_PARAM_LGWIN]: 20,
      },
    },
    gzip: { level: 6 },
  },
  /**
   * Large bodies that are compressed once for all clients: as small as 8 MB of memory for the encoder allow. A higher
   * quality or a larger window makes them a tenth smaller at most, for up to 60 MB: docs/tiles.md has the table.
   */
  large: {
    br: {
      chunkSize: OUTPUT_BYTES,
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 21,
        // Says "large": above a megabyte the encoder looks harder, and by how much is all the same.
        [constants.BROTLI_PARAM_SIZE_HINT]: 16 * MIB,
      },
    },
    gzip: { chunkSize: OUTPUT_BYTES, level: 9, memLevel: 9 },
  },
  /** The two pages, once at the start: the defaults, which for brotli are its best. */
  page: { br: {}, gzip: {} },
} as const satisfies Readonly<Record<string, Encoders>>

/**
 * After so many bytes of plain text the encoder of a large body is told to write out what it holds. Brotli keeps what
 * it found in memory until a block ends, half as much again without this; gzip writes as it goes.
 */
export const LARGE_BLOCK_BYTES: Readonly<Record<Coding, number>> = { br: MIB, gzip: Number.POSITIVE_INFINITY }

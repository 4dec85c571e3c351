/**
 * The binary layout of the feed, as in docs/feed.md. All numbers are little-endian.
 *
 *   header            HEADER_BYTES, the fields of OFFSETS
 *   state, since      ASCII, then zeros up to a multiple of 4
 *   cell numbers      u32 each; only in a part with changes
 *   owner of each     u16 or u32 each: 0 no owner, n the n-th address below
 *   estate of each    u16 or u32 each: 0 no estate, n the n-th id below
 *   cell of each      a byte: type, joins, on sale
 *   owners            ADDRESS_BYTES each
 *   estates           their ids in ASCII, with a line feed between them
 */
export const MAGIC = 'LAND'
export const FEED_VERSION = 1
export const PARTS = { world: 0, changes: 1 } as const

export const OFFSETS = {
  version: 4,
  part: 5,
  /** Bytes of the number of an owner or estate: 2 or 4. */
  width: 6,
  stateLength: 7,
  sinceLength: 8,
  revision: 12,
  timeMs: 16,
  minX: 24,
  minY: 28,
  maxX: 32,
  maxY: 36,
  cellCount: 40,
  ownerCount: 44,
  estateCount: 48,
  estateBytes: 52,
} as const
export const HEADER_BYTES = 56

export const ADDRESS_BYTES = 20
/** The lowest bits of a cell are its kind and joins (docs/feed.md); this one says that it is for sale. */
export const ON_SALE = 0b0100_0000

/** A length rounded up to a multiple of 4, so that the numbers that follow are aligned. */
export function padded(bytes: number): number {
  return (bytes + 3) & ~3
}

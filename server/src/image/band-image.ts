/**
 * An image of up to 16 colours, made of bands of equal rows. A row is a sequence of strips, all equally wide. A strip
 * has four parts of one colour each (some may be empty), which begin and end at the same pixels in every strip of the
 * image.
 *
 * A strip is 16 bits: the colour of its first part in the lowest four, that of its last part in the highest.
 *
 * @example
 * // Three boxes next to each other, blue, red, blue: each ten pixels wide, with a black line on its left and its upper side
 * const boxes: BandImage = {
 *   widthPx: 30, heightPx: 10, palette: Uint8Array.of(0, 0, 0, 255, 0, 0, 0, 0, 255),
 *   firstPx: 0, stripPx: 10, partEndsPx: [1, 10, 10, 10], stripsPerRow: 3,
 *   bandCount: 2, rows: Uint16Array.of(1, 9), similar: Int32Array.of(-1, -1),
 *   strips: Uint16Array.of(0x000, 0x000, 0x000, 0x020, 0x010, 0x020),
 * }
 */
export interface BandImage {
  readonly widthPx: number
  readonly heightPx: number
  /** Red, green and blue of each colour, 1 to 16 colours. */
  readonly palette: Uint8Array
  /** Where the first strip of a row begins: 0, or less where the image's edge cuts it off. */
  readonly firstPx: number
  readonly stripPx: number
  /** Where each part of a strip ends, in pixels from the strip's beginning; the last is `stripPx`. */
  readonly partEndsPx: readonly [number, number, number, number]
  /** The number of strips that reach the right edge. */
  readonly stripsPerRow: number
  readonly bandCount: number
  /** The strips of each band's rows: those of band i from `i * stripsPerRow` on, bands from the top. */
  readonly strips: Uint16Array
  /** The number of rows of each band; their sum is the height. */
  readonly rows: Uint16Array
  /**
   * For each band the index of an earlier, similar band, or -1. A hint: a more similar band makes the file smaller, in
   * less time.
   */
  readonly similar: Int32Array
}

/** Memory for more bands is not kept: an image of the most pixels with parcels of ten has fewer. */
export const MOST_BANDS = 4096

/** A byte holds two pixels. */
export function bytesPerRow(widthPx: number): number {
  return (widthPx + 1) >> 1
}

/**
 * PNG filter types, the first byte of each row: bytes as they are ("None"), or added to those of the row above ("Up").
 */
export const FILTER_NONE = 0
export const FILTER_UP = 2

/** What the first bytes of a picture say. */
export interface PictureHeader {
  readonly kind: 'png' | 'jpeg'
  readonly widthPx: number
  readonly heightPx: number
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_SIDES_AT = 16
const JPEG_START = 0xffd8
const JPEG_END = Buffer.from([0xff, 0xd9])
/** Markers between c0 and cf that do not begin a frame: tables, and an extension. */
const NO_FRAME = [0xc4, 0xc8, 0xcc]
/**
 * Segments that may be before the first frame: tables, the restart interval, and comments, besides those of applications (e0
 * to ef). Other markers have no length, or no place there: a decoder could read on at another byte than this reader does.
 */
const BEFORE_FRAME = [0xc4, 0xdb, 0xdd, 0xfe]

/**
 * Reads kind and size of a picture, so that one that is too large need not be decoded. Undefined for other files, and
 * where the header is damaged.
 */
export function readPictureHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return pngHeader(bytes)
  if (bytes.length > 4 && bytes.readUInt16BE(0) === JPEG_START) return jpegHeader(bytes)
  return undefined
}

function pngHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < PNG_SIDES_AT + 8 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return {
    kind: 'png',
    widthPx: bytes.readUInt32BE(PNG_SIDES_AT),
    heightPx: bytes.readUInt32BE(PNG_SIDES_AT + 4),
  }
}

/** The size is that of the first frame, which the decoder uses: it refuses a second one. */
function jpegHeader(bytes: Buffer): PictureHeader | undefined {
  const at = jpegFrameAt(bytes)
  return at === undefined
    ? undefined
    : { kind: 'jpeg', heightPx: bytes.readUInt16BE(at + 5), widthPx: bytes.readUInt16BE(at + 7) }
}

/** Goes from segment to segment up to the first frame. The pictures in segments of applications are passed over. */
function jpegFrameAt(bytes: Buffer): number | undefined {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1]!
    if (marker === 0xff) {
      at += 1 // fill byte
      continue
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.includes(marker)) return at
    if (!BEFORE_FRAME.includes(marker) && (marker < 0xe0 || marker > 0xef)) return undefined
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/**
 * Whether a JPEG has its end marker, which cannot occur in its pixels: decoders fill what is missing of a cut file with grey. A cut
 * file counts as whole where the marker stands in a comment between frame and pixels.
 */
export function isWholeJpeg(bytes: Buffer): boolean {
  return bytes.includes(JPEG_END, jpegFrameAt(bytes) ?? bytes.length)
}

/**
 * Checks that the decoded picture has the size in its header, because the limits were applied to that size. Width and height
 * of a JPEG may be exchanged: a camera can mark it as turned.
 *
 * @throws {RangeError} where the decoder has found another size
 */
export function assertSize(
  header: PictureHeader,
  { widthPx, heightPx }: Pick<PictureHeader, 'widthPx' | 'heightPx'>,
): void {
  const isSame = widthPx === header.widthPx && heightPx === header.heightPx
  const isTurned = header.kind === 'jpeg' && widthPx === header.heightPx && heightPx === header.widthPx
  if (!isSame && !isTurned) throw new RangeError('the picture has another size than its header says')
}

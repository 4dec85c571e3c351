import { firstGifFrame } from './gif-frame.ts'
import { firstWebpFrame } from './webp-frame.ts'

/** What decides how much work a picture is. */
export interface PictureHeader {
  readonly kind: 'png' | 'jpeg' | 'webp' | 'gif'
  readonly widthPx: number
  readonly heightPx: number
  /** In the file: of a JPEG the bits of three colours. */
  readonly bitsPerPixel: number
  /** How often a decoder goes over all pixels: each scan of a progressive JPEG refines them. */
  readonly scans: number
  /** Whether the file is an animation: its first frame is the picture. */
  readonly isAnimated?: boolean
  /** Whether its colours are those of print, which are not decoded. */
  readonly isCmyk?: boolean
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_SIDES_AT = 16
const PNG_DEPTH_AT = 24
/** Samples of a pixel by the type of its colours: grey, red green blue, number in the palette, and the first two with opacity. */
export const PNG_SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const JPEG_START = 0xffd8
const JPEG_BITS = 24
const CMYK_COLOURS = 4
const RGBA_BITS = 32
const GIF_BITS = 8
/** Markers that begin a frame: those of usual JPEGs, baseline, extended and progressive. */
const FRAMES = [0xc0, 0xc1, 0xc2]
const SCAN = 0xda
const END = 0xd9
/**
 * Segments that may be before the first frame: tables, the restart interval, and comments, besides those of applications (e0
 * to ef). Other markers have no length, or no place there: a decoder could read on at another byte than this reader does.
 */
const BEFORE_FRAME = [0xc4, 0xdb, 0xdd, 0xfe]

/**
 * Reads kind and size of a picture, so that one that is too much work need not be decoded. Undefined for other files, and
 * where the header is damaged.
 */
export function readPictureHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return pngHeader(bytes)
  if (bytes.length > 4 && bytes.readUInt16BE(0) === JPEG_START) return jpegHeader(bytes)
  const gif = firstGifFrame(bytes)
  if (gif) {
    const { widthPx, heightPx, isAnimated } = gif
    return { kind: 'gif', widthPx, heightPx, isAnimated, bitsPerPixel: GIF_BITS, scans: 1 }
  }
  const webp = firstWebpFrame(bytes)
  if (webp) {
    const { widthPx, heightPx, isAnimated } = webp
    return { kind: 'webp', widthPx, heightPx, isAnimated, bitsPerPixel: RGBA_BITS, scans: 1 }
  }
  return undefined
}

function pngHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < PNG_DEPTH_AT + 2 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const samples = PNG_SAMPLES[bytes[PNG_DEPTH_AT + 1]!]
  return samples === undefined
    ? undefined
    : {
        kind: 'png',
        widthPx: bytes.readUInt32BE(PNG_SIDES_AT),
        heightPx: bytes.readUInt32BE(PNG_SIDES_AT + 4),
        bitsPerPixel: samples * bytes[PNG_DEPTH_AT]!,
        scans: 1,
      }
}

/** The size is that of the first frame, which the decoder uses: it refuses a second one. */
function jpegHeader(bytes: Buffer): PictureHeader | undefined {
  const at = jpegFrameAt(bytes)
  if (at === undefined) return undefined
  const [heightPx, widthPx] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
  const isCmyk = bytes[at + 9] === CMYK_COLOURS
  const { count: scans } = scansFrom(bytes, at)
  return { kind: 'jpeg', heightPx, widthPx, bitsPerPixel: JPEG_BITS, scans, isCmyk }
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
    if (FRAMES.includes(marker)) return at
    if (!BEFORE_FRAME.includes(marker) && (marker < 0xe0 || marker > 0xef)) return undefined
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/**
 * Goes from marker to marker as a decoder does, from the frame up to the end marker. A length leads over each segment, so that
 * the bytes of a marker in it do not count; in the pixels behind a scan no marker occurs but those that restart them.
 */
function scansFrom(bytes: Buffer, frameAt: number): { readonly count: number; readonly hasEnd: boolean } {
  let count = 0
  for (let at = frameAt; at + 2 <= bytes.length; ) {
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff || !isMarker(marker)) {
      at += 1
      continue
    }
    if (marker === END) return { count, hasEnd: true }
    if (marker === SCAN) count++
    at += at + 4 <= bytes.length ? 2 + bytes.readUInt16BE(at + 2) : 2
  }
  return { count, hasEnd: false }
}

/** Whether a byte behind ff is a marker that ends pixels: it is none in 0 (a pixel), ff (it fills up), and where pixels restart. */
function isMarker(byte: number): boolean {
  return byte !== 0 && byte !== 0xff && byte !== 0x01 && (byte < 0xd0 || byte > 0xd7)
}

/**
 * Whether a JPEG has its end marker: decoders fill what is missing of a cut file with grey. Its header must have been read.
 */
export function isWholeJpeg(bytes: Buffer): boolean {
  return scansFrom(bytes, jpegFrameAt(bytes) ?? bytes.length).hasEnd
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

/** Whether a file is a picture of several frames, of which the first is shown. */
export function isAnimation(bytes: Buffer): boolean {
  return (firstGifFrame(bytes) ?? firstWebpFrame(bytes))?.isAnimated === true
}
